#pragma once

// The documents with findings of the debugger: the first operator at which two computations differ, the operators that
// produce NaN or infinities, the results of operators at breakpoints, and the rows and messages of watched nodes.

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/result.h"
#include "ir/program.h"
#include "plan/stage_id.h"
#include "json/json.h"
#include "json/reader.h"

namespace hopscope::schema {

// An operator, or none, which documents write as an empty string.
struct OpOrNone : ir::OpId {
    OpOrNone(ir::OpId op = {}) : ir::OpId(op) {}
};

// An operator and its result, or an input or weight, with its readable name and its location in the model.
struct OperatorRecord {
    OpOrNone op;
    ir::ValueId value;
    std::string name, kind, module, source{};
    int depth = 0;
    bool operator==(const OperatorRecord&) const = default;
};

template <std::same_as<OperatorRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("place", field("op", &T::op, "`op12`; empty: an input or a weight"),
                           field("value", &T::value, "its result: `v5`"),
                           field("name", &T::name, "readable: `relu after convs.0`"),
                           field("kind", &T::kind, "`aten::relu`"), field("module", &T::module, "its path: `convs.0`"),
                           field("source", &T::source, "file and line: `gcn.py:17`"),
                           field("depth", &T::depth, "rounds of message passing before it", base::Quantity::Count));
}

// A row of a result, named by the row of an input that it belongs to, and the number in it that shows the fault best.
struct RowRecord {
    std::string table;
    std::int64_t row = 0;
    std::vector<std::int64_t> ends{};
    std::int64_t element = 0;
    double first = 0, second = 0;
};

template <std::same_as<RowRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "row",
        field("table", &T::table,
              "of the input. Rows of tables that a model derives are named by their origin: a self-loop by its "
              "node, a "
              "selected edge by its number in the data"),
        field("row", &T::row, "its number"), field("ends", &T::ends, "of an edge: from, to"),
        field("element", &T::element, "position in the row of the number that shows the fault best",
              base::Quantity::Count),
        field("first", &T::first, "that number; null: not finite", base::Null::IsNaN),
        field("second", &T::second, "in the second computation, if there are two; null: not finite",
              base::Null::IsNaN));
}

struct DifferenceRecord {
    OperatorRecord place;
    OpOrNone other{};
    std::string what{};
    std::vector<std::string> arguments{};
    std::int64_t rows = 0, of = 0;
    double maxAbsolute = 0, maxRelative = 0;
    std::vector<RowRecord> shown{};
    std::optional<plan::StageId> stage{};
};

template <std::same_as<DifferenceRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity, base::Null;
    return base::described(
        "difference", base::embedded(&T::place),
        field("other", &T::other, "the operator of the second computation, if that is a different model"),
        field("what", &T::what, "`values`, or the difference of dtype or shape"),
        field("arguments", &T::arguments, "literals that differ: `exponent: -0.5, -1`"),
        field("rows", &T::rows, "that differ", Quantity::Count),
        field("of", &T::of, "rows of the result", Quantity::Count),
        field("max_abs", &T::maxAbsolute, "largest absolute difference; null: not finite", Quantity::Ratio,
              Null::IsNaN),
        field("max_rel", &T::maxRelative, "largest relative difference; null: not finite", Quantity::Ratio,
              Null::IsNaN),
        field("shown", &T::shown, "the first 20 of these rows"), field("stage", &T::stage, "of the staged run"));
}

// The size of the differences after an operator.
struct ErrorPoint {
    OpOrNone op;
    ir::ValueId value;
    int depth = 0;
    double maxAbsolute = 0, maxRelative = 0;
};

template <std::same_as<ErrorPoint> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity, base::Null;
    return base::described("point", field("op", &T::op, ""), field("value", &T::value, "its result"),
                           field("depth", &T::depth, "rounds of message passing before it", Quantity::Count),
                           field("max_abs", &T::maxAbsolute, "null: not finite", Quantity::Ratio, Null::IsNaN),
                           field("max_rel", &T::maxRelative, "null: not finite", Quantity::Ratio, Null::IsNaN));
}

struct DivergenceRecord {
    std::string first, second;
    std::int64_t compared = 0;
    std::optional<DifferenceRecord> divergence{}, nodes{};
    std::vector<std::string> parameters{};
    std::vector<OperatorRecord> onlyFirst{}, onlySecond{};
    std::vector<ErrorPoint> growth{};
    double seconds = 0;
};

template <std::same_as<DivergenceRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "divergence", field("first", &T::first, "a model file, or `staged`"),
        field("second", &T::second, "the other model file, or `unsplit`"),
        field("compared", &T::compared, "number of values compared", Quantity::Count),
        field("divergence", &T::divergence, "the first operator whose results differ; null: none"),
        field("nodes", &T::nodes,
              "the same for the first operator whose result has a row per node on both sides: `divergence` may be on "
              "edges, or "
              "differ in shape"),
        field("parameters", &T::parameters, "the weights that differ: `lins.0.weight: 1 of 64 elements, by 0.5`"),
        field("only_first", &T::onlyFirst, "operators without a counterpart"),
        field("only_second", &T::onlySecond, "likewise"),
        field("growth", &T::growth,
              "the differences after each operator in turn, which show how errors grow with depth"),
        field("seconds", &T::seconds, "without loading", Quantity::Seconds));
}

struct NonFiniteRecord {
    OperatorRecord place;
    std::int64_t nan = 0, infinite = 0;
    std::optional<plan::StageId> stage{};
    std::int64_t batch = 0;
    bool reachesOutput = false;
    std::vector<RowRecord> shown{};
};

template <std::same_as<NonFiniteRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "maker", base::embedded(&T::place), field("nan", &T::nan, "numbers", Quantity::Count),
        field("infinite", &T::infinite, "numbers", Quantity::Count),
        field("stage", &T::stage, "null: computed once, before the first stage"),
        field("batch", &T::batch, "of the stage, from 1; 0: none", Quantity::Count),
        field("reaches_output", &T::reachesOutput, "whether NaN or infinities get from it to an output"),
        field("shown", &T::shown, "the first rows"));
}

struct NonFiniteReport {
    std::vector<NonFiniteRecord> makers;
    std::vector<std::string> inputs{}, outputs{};
    double seconds = 0;
};

template <std::same_as<NonFiniteReport> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "nan",
        field("makers", &T::makers,
              "operators whose results have NaN or infinities although no operand has, in the order of the program"),
        field("inputs", &T::inputs, "inputs and weights that are not finite themselves"),
        field("outputs", &T::outputs, "outputs that are not finite"),
        field("seconds", &T::seconds, "without loading", base::Quantity::Seconds));
}

// A result in one batch for which the condition of a breakpoint holds.
struct HitRecord {
    OperatorRecord place;
    plan::StageId stage{1};
    std::int64_t batch = 1, firstDestination = 0, destinations = 0;
    std::vector<std::int64_t> shape;
    std::string dtype, rows;
    std::optional<double> least{}, most{}, mean{};
    std::int64_t zeros = 0, nan = 0, infinite = 0;
};

template <std::same_as<HitRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "hit", base::embedded(&T::place), field("stage", &T::stage, ""),
        field("batch", &T::batch, "of the stage, from 1"),
        field("first_destination", &T::firstDestination, "of the batch", Quantity::Count),
        field("destinations", &T::destinations, "of the batch", Quantity::Count), field("shape", &T::shape, ""),
        field("dtype", &T::dtype, "`float32`"), field("rows", &T::rows, "as a phrase: `rows of node in the batch`"),
        field("min", &T::least, "of the finite numbers"), field("max", &T::most, "of the finite numbers"),
        field("mean", &T::mean, "of the finite numbers"), field("zeros", &T::zeros, "numbers", Quantity::Count),
        field("nan", &T::nan, "numbers", Quantity::Count), field("infinite", &T::infinite, "numbers", Quantity::Count));
}

inline constexpr std::int64_t mostWatchedNumbers = 64;

struct WatchRecord {
    OperatorRecord place;
    std::string file{};
    std::vector<std::int64_t> nodes{};
    std::vector<std::vector<double>> numbers{};
};

template <std::same_as<WatchRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "watched", base::embedded(&T::place),
        field("file", &T::file, "`.npy`, one row for each node; empty where no folder is given"),
        field("nodes", &T::nodes, "whose rows were recorded"),
        field("numbers", &T::numbers, "the first 64 numbers of each node's row; null: not finite", base::Null::IsNaN));
}

// The contribution of one edge to an aggregation.
struct ContributionRecord {
    RowRecord row;
    double share = 0;
};

template <std::same_as<ContributionRecord> T>
constexpr auto fieldsOf(const T*)
{
    return base::described(
        "contribution", base::embedded(&T::row),
        base::field("share", &T::share,
                    "of the sum of the Euclidean norms of all messages into the node; `first` is the norm "
                    "of this one",
                    base::Quantity::Ratio));
}

struct AggregationRecord {
    OperatorRecord place;
    std::int64_t node = 0, messages = 0;
    std::vector<ContributionRecord> contributions{};
};

template <std::same_as<AggregationRecord> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("aggregation", base::embedded(&T::place), field("node", &T::node, "its row number"),
                           field("messages", &T::messages, "into the node", base::Quantity::Count),
                           field("contributions", &T::contributions, "the 20 largest"));
}

struct WatchReport {
    std::vector<HitRecord> hits;
    std::int64_t seen = 0;
    std::vector<WatchRecord> watched{};
    std::vector<AggregationRecord> aggregations{};
    double seconds = 0;
};

template <std::same_as<WatchReport> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "watch", field("hits", &T::hits, "results of batches at which the condition of a breakpoint held"),
        field("seen", &T::seen, "number of hits; only the first `--hits` are described", Quantity::Count),
        field("watched", &T::watched, "the recorded values"),
        field("aggregations", &T::aggregations, "for each aggregation and node (`--messages`, `--nodes`)"),
        field("seconds", &T::seconds, "without loading", Quantity::Seconds));
}

// Read findings, for clients. Fail with Input and a JSON pointer, also if the findings are of a different kind.
base::Result<DivergenceRecord> divergenceFrom(const json::Value& document, const std::string& name);
base::Result<NonFiniteReport> nonFiniteFrom(const json::Value& document, const std::string& name);
base::Result<WatchReport> watchFrom(const json::Value& document, const std::string& name);

json::Value findingsValue(const DivergenceRecord& found);
json::Value findingsValue(const NonFiniteReport& found);
json::Value findingsValue(const WatchReport& found);

template <class Report>
std::string writeFindings(const Report& found)
{
    return json::write(findingsValue(found), true);
}

}  // namespace hopscope::schema
