#pragma once

// The document plan.json (docs/reference/format-plan.md): a plan in which tables, keys and row classes have names.

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/choices.h"
#include "base/describe.h"
#include "base/tensor.h"
#include "plan/plan.h"
#include "schema/model_names.h"
#include "schema/names.h"
#include "json/reader.h"

namespace hopscope::plan {

template <std::same_as<Checkpoint> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "stored", field("value", &T::value, "the value that is stored"),
        field("stage", &T::stage, "the stage that stores it"),
        field("output", &T::output, "whether it is an output of the model"),
        field("bytes_written", &T::bytesWritten,
              "exact if the sizes of the tables are known, otherwise null; each row is written once", Quantity::Bytes),
        field("bytes_read", &T::bytesRead,
              "by later stages, for the same batches as the `bytes` of the plan; null if they are", Quantity::Bytes));
}

template <std::same_as<CachedTable> T>
constexpr auto fieldsOf(const T*)
{
    return base::described(
        "cached", base::field("value", &T::value, "the value whose table is divided"),
        base::field("share", &T::share, "the part of its rows that stays on the GPU, 0 to 1", base::Quantity::Ratio));
}

// Describes the members that a document contains unchanged. Stages and stored values are written with names instead.
template <std::same_as<Plan> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Presence, base::Quantity;
    return base::described(
        "choices", field("strategy", &T::strategy, "the rule or optimisation that made the plan"),
        field("objective", &T::objective, "the quantity that an optimisation minimises"),
        field("cost", &T::cost,
              "the cost of the plan by the cost model of [how cuts are chosen](../explain/placement.md); null without "
              "data"),
        field("lower_bound", &T::lowerBound,
              "a proven lower bound of the cost; null without data and for plans made by a rule"),
        field("gap", &T::gap, "`(cost - lower_bound) / cost`; null if the bound is"),
        field("device", &T::device, "`cpu`, `cuda:0`, or several GPUs: `cuda:0,cuda:1`"),
        field("batch", &T::batch, "destination nodes per batch; null: chosen during the run", base::Within{1}),
        field("pins", &T::pins,
              "decisions of the user, in order, such as `[\"checkpoint\", \"v17\"]` or `[\"hop_stage\", \"v21\", 2]`; "
              "see "
              "[below](#pins)"),
        field("prologue", &T::prologue, "operators computed once for the whole graph, before the first stage"),
        field(
            "bytes", &T::bytes,
            "the bytes that stages move, for batches of `batch` destinations or, if `batch` is null, for batches as "
            "large as a run makes them ([protocol](protocol.md#plans) lists the exceptions); null if the graph has not "
            "been analysed"),
        field("peak_memory", &T::peakMemory,
              "bytes on the device for the same batches, as the allocator counts them (see "
              "[how cuts are chosen](../explain/placement.md))",
              Quantity::Bytes),
        field("resident", &T::resident,
              "values whose tables stay on the GPU from their first use to their last: inputs are copied once, and a "
              "stored value that is not an output never leaves the device",
              Presence::Later),
        field("resident_structure", &T::residentStructure,
              "whether the adjacencies that their readers traverse stay on the GPU as well", Presence::Later),
        field("cached", &T::cached,
              "inputs and stored values whose most-gathered rows stay on the GPU; kernels read the other rows from "
              "pinned memory of the host",
              Presence::Later),
        field("hashes", &T::hashes,
              "`model` (of the file), `data` (of the inputs), `roles` (their interpretation, as text); a plan with "
              "different hashes is refused"));
}

}  // namespace hopscope::plan

namespace hopscope::schema {

struct PlannedStep {
    ir::OpId op;
    RowsName rows;
    bool operator==(const PlannedStep&) const = default;
};

template <std::same_as<PlannedStep> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("step", base::field("op", &T::op, "the operator"),
                           base::field("class", &T::rows, "the rows on which it is computed"));
}

struct PlannedOp {
    PlannedStep step;
    TableName loop;
};

template <std::same_as<PlannedOp> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("op", base::embedded(&T::step),
                           base::field("loop", &T::loop, "the destination type of the loop that computes it"));
}

struct PlannedAccess {
    ir::ValueId value;
    RowsName rows;
    bool operator==(const PlannedAccess&) const = default;
};

template <std::same_as<PlannedAccess> T>
constexpr auto fieldsOf(const T*)
{
    return base::described("access", base::field("value", &T::value, "the value"),
                           base::field("class", &T::rows, "the rows that are read or written"));
}

struct PlannedFrontier {
    TableName type, space;
    KeyName owner, key;
    bool operator==(const PlannedFrontier&) const = default;
};

template <std::same_as<PlannedFrontier> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("frontier", field("type", &T::type, "the node type of the rows that are gathered"),
                           field("space", &T::space, "the table of edges"),
                           field("owner", &T::owner, "the key that assigns its rows to batches"),
                           field("key", &T::key, "the key that refers to the rows of `type`"));
}

struct PlannedLoop {
    TableName destination;
    std::vector<PlannedFrontier> frontier;
    std::vector<PlannedAccess> reads, writes;
    std::vector<PlannedStep> reductions;
};

template <std::same_as<PlannedLoop> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("loop",
                           field("destination", &T::destination, "the node type whose rows its batches compute"),
                           field("frontier", &T::frontier, "the sources of the rows that its batches gather"),
                           field("reads", &T::reads, "rows read from stores and inputs"),
                           field("writes", &T::writes, "rows written to stores"),
                           field("reductions", &T::reductions, "reductions over all rows that end with the loop"));
}

struct PlannedStage {
    plan::StageId index{1};
    std::vector<PlannedOp> ops;
    std::vector<ir::OpId> rowless;
    std::vector<PlannedLoop> loops;
};

template <std::same_as<PlannedStage> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "stage", field("index", &T::index, "its number"),
        field("ops", &T::ops,
              "in execution order, of all loops; an operator that occurs in several stages is recomputed"),
        field("loops", &T::loops, "one entry per destination type, independent of one another"),
        field("rowless", &T::rowless, "operators on values without rows, executed after the reductions of the stage"));
}

struct PlannedCheckpoint {
    plan::Checkpoint stored;
    base::DType dtype = base::DType::Float32;
    std::vector<Dim> shape;
    std::vector<std::optional<std::string>> rowSpaces;
};

template <std::same_as<PlannedCheckpoint> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "checkpoint", base::embedded(&T::stored), field("dtype", &T::dtype, "the type of its numbers"),
        field("shape", &T::shape, "for each dimension a number, or `\"\\|node\\|\"`: the rows of that table"),
        field("row_spaces", &T::rowSpaces, "for each dimension the table whose rows it has, or null"));
}

// Readable names of values by their ids.
struct CalledNames {
    std::map<std::string, std::string> byId;
};

struct PlanDocument {
    plan::Plan plan;  // without stages and stored values
    base::Unit unit = base::Unit::Bytes;
    std::optional<bool> reassociate{};
    std::vector<PlannedStage> stages;
    std::vector<PlannedCheckpoint> checkpoints;
    std::optional<CalledNames> names{};
};

template <std::same_as<PlanDocument> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Presence;
    return base::described(
        "plan", base::embedded(&T::plan),
        field("unit", &T::unit, "the unit of costs, which is the unit of the objective"),
        field("reassociate", &T::reassociate,
              "the plan is for a program in which products are computed before aggregations, gathers or concatenations "
              "(`--reassociate`), whose "
              "operators have different numbers: it can be used only with that option, and a plan without this member "
              "only without the option",
              Presence::WhenSet),
        field("stages", &T::stages,
              "numbered consecutively from 1; a stage without hops before the first round of message passing counts"),
        field("checkpoints", &T::checkpoints, "the stored values, including outputs of the model"),
        field("names", &T::names,
              "by id, the names of stored values and of the values that loops read and write, as `inspect` prints "
              "them: `{\"v17\": \"conv1 output\"}`",
              Presence::WhenSet));
}

// Converts a stored value. Its type, its shape and the tables of its dimensions are those in the analysis.
PlannedCheckpoint plannedCheckpoint(const plan::Checkpoint& stored, const analysis::Analysis& analysis);

json::Value planDocumentValue(const PlanDocument& document);
// Reads a plan for any model. The first error stays in the reader.
PlanDocument readPlanDocument(const json::Reader& root);

// Refuses a name that the model does not have.
void checkNames(const PlanDocument& document, const json::Reader& root, const ModelNames& model);

}  // namespace hopscope::schema
