#pragma once

// What the debugger finds, as documents: the first operator at which two computations part, what makes numbers that are not
// finite, and what operators computed where somebody wanted to look. docs/format-findings.md has every member.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "plan/stage_id.h"
#include "json/json.h"
#include "json/reader.h"

namespace hopscope::schema {

// An operator and its result, as people find them in the model.
struct OperatorRecord {
    ir::OpId op;  // none: an input or a weight
    ir::ValueId value;
    std::string name, kind, module, source{};  // "relu after convs.0", "aten::relu", "convs.0", "gcn.py:17"
    int depth = 0;
    bool operator==(const OperatorRecord&) const = default;
};

// As members of another record's object.
void setOperator(json::Value& item, const OperatorRecord& record);
OperatorRecord operatorFrom(const json::Reader& item);

// A row of the inputs, and one of its numbers that shows what is wrong.
struct RowRecord {
    std::string table;
    std::int64_t row = 0;
    std::vector<std::int64_t> ends{};  // of an edge: from, to
    std::int64_t element = 0;          // within the row
    double first = 0, second = 0;      // not finite ones are null in documents
};

struct DifferenceRecord {
    OperatorRecord place;
    ir::OpId other{};                      // the operator of the second computation, if that is another model
    std::string what{};                    // "values", or why they cannot be compared
    std::vector<std::string> arguments{};  // that differ: "exponent: -0.5, -1"
    std::int64_t rows = 0, of = 0;         // that differ
    double maxAbsolute = 0, maxRelative = 0;
    std::vector<RowRecord> shown{};  // the first of them
    std::optional<plan::StageId> stage{};
};

// How large differences are behind each operator: they grow with depth.
struct ErrorPoint {
    ir::OpId op;
    ir::ValueId value;
    int depth = 0;
    double maxAbsolute = 0, maxRelative = 0;
};

struct DivergenceRecord {
    std::string first, second;                     // what was compared
    std::int64_t compared = 0;                     // values
    std::optional<DifferenceRecord> divergence{};  // the first one
    std::optional<DifferenceRecord> nodes{};       // the first one with the same rows on both sides, on nodes
    std::vector<std::string> parameters{};         // that differ: "lins.0.weight: 1 of 64 elements, by 0.5"
    std::vector<OperatorRecord> onlyFirst{}, onlySecond{};
    std::vector<ErrorPoint> growth{};
    double seconds = 0;
};

struct NonFiniteRecord {
    OperatorRecord place;
    std::int64_t nan = 0, infinite = 0;    // numbers
    std::optional<plan::StageId> stage{};  // none: computed once, before the first stage
    std::int64_t batch = 0;                // of the stage, from 1; 0: none
    bool reachesOutput = false;
    std::vector<RowRecord> shown{};  // the first rows
};

struct NonFiniteReport {
    std::vector<NonFiniteRecord> makers;  // operators with such results from finite operands, in the program's order
    std::vector<std::string> inputs{};    // inputs and parameters that are not finite themselves
    std::vector<std::string> outputs{};   // that are not finite
    double seconds = 0;
};

// A result of one batch at which a condition held.
struct HitRecord {
    OperatorRecord place;
    plan::StageId stage{1};
    std::int64_t batch = 1, firstDestination = 0, destinations = 0;
    std::vector<std::int64_t> shape;
    std::string dtype, rows;                        // "float32", "rows of node in the batch"
    std::optional<double> least{}, most{}, mean{};  // of the finite numbers
    std::int64_t zeros = 0, nan = 0, infinite = 0;
};

inline constexpr std::int64_t mostWatchedNumbers = 64;

struct WatchRecord {
    OperatorRecord place;
    std::string file{};  // empty where none was asked for
    std::vector<std::int64_t> nodes{};
    std::vector<std::vector<double>> numbers{};  // of each node's row, the first mostWatchedNumbers
};

// What one edge adds to an aggregation.
struct ContributionRecord {
    RowRecord row;     // `first`: the Euclidean norm of its message
    double share = 0;  // of the sum of all norms into the node
};

struct AggregationRecord {
    OperatorRecord place;  // the aggregation
    std::int64_t node = 0;
    std::int64_t messages = 0;                        // into the node
    std::vector<ContributionRecord> contributions{};  // the largest first
};

struct WatchReport {
    std::vector<HitRecord> hits;
    std::int64_t seen = 0;  // hits, of which only the first are kept
    std::vector<WatchRecord> watched{};
    std::vector<AggregationRecord> aggregations{};
    double seconds = 0;
};

// Readers for clients. Each fails with Input and a JSON pointer, also on findings of another kind.
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
