#pragma once

// The answers to plan/explain and plan/repairs, and the prediction in the answers to plan/make and plan/load. Operators
// and values have the names of plan.json.

#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/choices.h"
#include "base/describe.h"
#include "base/result.h"
#include "plan/plan.h"
#include "schema/model_names.h"
#include "json/reader.h"

namespace hopscope::schema {

// ---- plan/explain: the decisions of an optimised plan, and the values on which the rules' plans differ from it

struct Decision {
    base::DecisionKind kind = base::DecisionKind::Stored;
    ir::ValueId value;
    std::vector<plan::StageId> stages{};
    double write = 0, read = 0, compute = 0;
    bool possible = true;
    std::optional<double> alternative{}, saves{};
    [[nodiscard]] double cost() const { return write + read + compute; }
};

template <std::same_as<Decision> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Presence;
    return base::described(
        "decision",
        field("kind", &T::kind,
              "`stored`: `stages` read the value; `recomputed`: `stages` compute it; `delayed`: a gather runs in "
              "`stages`, "
              "later than it could"),
        field("value", &T::value, "the value that was decided on"), field("stages", &T::stages, "see `kind`"),
        field("write", &T::write, "cost of writing the value"), field("read", &T::read, "cost of reading it"),
        field("compute", &T::compute, "cost of computing it"),
        field("possible", &T::possible, "false: no legal plan decides otherwise"),
        field(
            "alternative", &T::alternative,
            "cost of the best plan found with the opposite decision; null: there is none, or the deadline was reached",
            Presence::Later),
        field("saves", &T::saves, "the additional cost of the alternative", Presence::Later));
}

// A figure of the explained plan, and the same figure of the rule's plan.
template <class T>
struct Both {
    T own{}, other{};
    const T& operator[](std::size_t plan) const { return plan == 0 ? own : other; }
    bool operator==(const Both&) const = default;
};

template <class T>
constexpr auto fieldsOf(const Both<T>*)
{
    return base::described("", base::field("own", &Both<T>::own, ""), base::field("other", &Both<T>::other, ""));
}

struct ValueDifference {
    ir::ValueId value;
    Both<double> cost;
    Both<std::int64_t> written, read;
    Both<std::vector<plan::StageId>> stages;
};

template <std::same_as<ValueDifference> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "value_difference", field("value", &T::value, "on which the plans differ"),
        field("cost", &T::cost, "`{own, other}`: of the explained plan, and of the plan of the heuristic"),
        field("written", &T::written, "`{own, other}`: bytes over the run"),
        field("read", &T::read, "`{own, other}`: bytes over the run"),
        field("stages", &T::stages, "`{own, other}`: lists of the stages that compute the value"));
}

struct PlanComparison {
    base::Strategy strategy = base::Strategy::Depth;
    std::optional<double> cost, seconds;
    plan::Bytes bytes;
    std::vector<ValueDifference> values;
};

template <std::same_as<PlanComparison> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Presence;
    return base::described(
        "plan_comparison", field("strategy", &T::strategy, "the heuristic"),
        field("cost", &T::cost, "of its plan, with the pins that it supports", Presence::Later),
        field("seconds", &T::seconds, "predicted for its plan", Presence::Later),
        field("bytes", &T::bytes, "that its plan moves: `{d2h, h2d, structure}`"),
        field("values", &T::values, "differences, the greatest difference in cost first, at most 200"));
}

struct Explanation {
    base::Unit unit = base::Unit::Seconds;
    double cost = 0;
    std::vector<Decision> decisions{};
    std::vector<PlanComparison> against{};
    [[nodiscard]] const Decision* decisionOn(ir::ValueId value) const;  // null: none; linear
};

template <std::same_as<Explanation> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("explanation", field("unit", &T::unit, "of all costs"),
                           field("cost", &T::cost, "of the plan"),
                           field("decisions", &T::decisions, "empty for plans of a heuristic"),
                           field("against", &T::against, "comparisons with the heuristics that have a plan"));
}

json::Value explanationValue(const Explanation& explanation);
// Reads the answer. Fails with Input and a JSON pointer.
base::Result<Explanation> readExplanation(const json::Value& answer, const ModelNames& model);

// ---- plan/make and plan/load: predictions for the plan before it runs

struct PredictedRead {
    ir::ValueId value;
    std::int64_t bytes = 0;
};

template <std::same_as<PredictedRead> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("predicted_read", base::field("value", &T::value, "a stored value"),
                           base::field("bytes", &T::bytes, "of its rows, over the run"));
}

struct PredictedOperator {
    ir::OpId op;
    double seconds = 0;
};

template <std::same_as<PredictedOperator> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("predicted_operator", base::field("op", &T::op, ""),
                           base::field("seconds", &T::seconds, "for computing and storing its results"));
}

struct PredictedStage {
    plan::StageId index{1};
    std::int64_t written = 0, read = 0, structure = 0, frontierRows = 0, destinations = 0, peakMemory = 0;
    std::optional<double> seconds{};
    std::vector<PredictedRead> reads{};
    std::vector<PredictedOperator> operators{};
    std::vector<ir::OpId> recomputed{};
};

template <std::same_as<PredictedStage> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Presence;
    return base::described(
        "predicted_stage", field("index", &T::index, "its number"),
        field("written", &T::written, "bytes of rows written to stores"),
        field("read", &T::read, "bytes of rows read from stores"),
        field("reads", &T::reads, "`read` by value", Presence::Later),
        field("structure", &T::structure, "bytes of indices moved"),
        field("frontier_rows", &T::frontierRows, "sum over the batches"),
        field("destinations", &T::destinations, "rows that it computes"), field("peak_memory", &T::peakMemory, "bytes"),
        field("seconds", &T::seconds, "predicted; on a GPU, by the cost model", Presence::Later),
        field("operators", &T::operators,
              "`seconds` by operator; the rest is reading stored rows and the graph's structure", Presence::Later),
        field("recomputed", &T::recomputed,
              "operators that an earlier stage also computes, on the same or other rows"));
}

struct Prediction {
    std::int64_t batch = 0, batches = 0, stores = 0, d2h = 0, h2d = 0, structure = 0, peakMemory = 0;
    std::optional<double> seconds{};
    std::vector<PredictedStage> stages{};
};

template <std::same_as<Prediction> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("prediction", field("batch", &T::batch, "the batch size assumed"),
                           field("batches", &T::batches, "their number in all stages"),
                           field("stages", &T::stages, "in order"),
                           field("stores", &T::stores, "total size of all stored values"),
                           field("d2h", &T::d2h, "bytes of rows written to stores"),
                           field("h2d", &T::h2d, "bytes of rows read from stores"),
                           field("structure", &T::structure, "bytes of indices moved"),
                           field("peak_memory", &T::peakMemory, "the largest of any stage"),
                           field("seconds", &T::seconds, "of all stages", base::Presence::Later));
}

json::Value predictionValue(const Prediction& prediction);
// Reads a prediction. The first error stays in the reader.
Prediction readPrediction(const json::Reader& answer, const ModelNames& model);

// ---- plan/repairs: changes of a request that make a plan possible

struct RepairRecord {
    std::optional<plan::Pin> drop{};
    std::optional<int> stages{};
    std::optional<double> cost{};
    base::Unit unit = base::Unit::Seconds;
    bool operator==(const RepairRecord&) const = default;
};

template <std::same_as<RepairRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Presence;
    return base::described(
        "repair", field("drop", &T::drop, "a pin: without it there is a plan", Presence::WhenSet),
        field("stages", &T::stages, "a number of stages with which there is a plan", Presence::WhenSet),
        field("cost", &T::cost, "of that plan", Presence::Later), field("unit", &T::unit, "of the cost"));
}

struct Repairs {
    std::vector<RepairRecord> repairs;
};

template <std::same_as<Repairs> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("repairs", base::field("repairs", &T::repairs, "each has `drop` or `stages`"));
}

json::Value repairsValue(const Repairs& repairs);
// Reads the answer. Fails with Input and a JSON pointer.
base::Result<Repairs> readRepairs(const json::Value& answer);

}  // namespace hopscope::schema
