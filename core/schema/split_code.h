#pragma once

// The part of schema.json that a program needs to run exported code: which methods there are, what each is called with, and
// how derived tables are made. Tables, keys and classes of rows go by their names in documents (schema/names.h).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/names.h"
#include "ir/program.h"
#include "plan/stage_id.h"
#include "json/reader.h"

namespace hopscope::schema {

enum class CodeRowsKind : std::uint8_t { Batch, Owned, Frontier };

constexpr auto namesOf(CodeRowsKind)
{
    return std::to_array<base::Named<CodeRowsKind>>(
        {{CodeRowsKind::Batch, "batch"}, {CodeRowsKind::Owned, "owned"}, {CodeRowsKind::Frontier, "frontier"}});
}

// The rows of a table that a batch holds: of its destinations, owned by them through `key`, or gathered from.
struct CodeRows {
    CodeRowsKind kind = CodeRowsKind::Batch;
    std::string table, key;  // key: Owned only
    bool operator==(const CodeRows&) const = default;
};

enum class ArgumentKind : std::uint8_t {
    Rows,       // rows of a value, in the order of rows[0]
    Whole,      // a whole value
    Positions,  // for each row of rows[0], the place within rows[1] of the row that `key` of `table` refers to
    Count,      // the number of rows of rows[0]
    Size,       // the number of rows of the whole `table`
    Parents,    // for each row of rows[0], a selection, the place of its original within rows[1]
    Order,      // for each row of rows[0], a concatenation, its place within rows[1], rows[2], .. one after the other
};

constexpr auto namesOf(ArgumentKind)
{
    return std::to_array<base::Named<ArgumentKind>>({{ArgumentKind::Rows, "rows"},
                                                     {ArgumentKind::Whole, "whole"},
                                                     {ArgumentKind::Positions, "positions"},
                                                     {ArgumentKind::Count, "count"},
                                                     {ArgumentKind::Size, "size"},
                                                     {ArgumentKind::Parents, "parents"},
                                                     {ArgumentKind::Order, "order"}});
}

struct CodeArgument {
    std::string name = {};
    ArgumentKind kind = ArgumentKind::Rows;
    ir::ValueId value = {};            // Rows, Whole
    int dim = 0;                       // Rows: the dimension that the rows lie along
    std::string table = {}, key = {};  // Positions; Size: table
    std::vector<CodeRows> rows = {};
    bool operator==(const CodeArgument&) const = default;
};

enum class MergeKind : std::uint8_t {
    Sum,
    Mean,
    Max,
    Min,
    Var,
    Std,
    Norm2,
    ScatterSum,
    ScatterMean,
    ScatterMax,
    ScatterMin
};

constexpr auto namesOf(MergeKind)
{
    return std::to_array<base::Named<MergeKind>>({{MergeKind::Sum, "sum"},
                                                  {MergeKind::Mean, "mean"},
                                                  {MergeKind::Max, "max"},
                                                  {MergeKind::Min, "min"},
                                                  {MergeKind::Var, "var"},
                                                  {MergeKind::Std, "std"},
                                                  {MergeKind::Norm2, "norm2"},
                                                  {MergeKind::ScatterSum, "scatter_sum"},
                                                  {MergeKind::ScatterMean, "scatter_mean"},
                                                  {MergeKind::ScatterMax, "scatter_max"},
                                                  {MergeKind::ScatterMin, "scatter_min"}});
}

inline bool isScatter(MergeKind kind) { return kind >= MergeKind::ScatterSum; }

// How the contributions of batches become the result of a reduction over all rows (docs/guides/exporting.md).
struct CodeMerge {
    MergeKind kind = MergeKind::Sum;
    int tensors = 1;                  // that a method returns for it
    std::int64_t perRow = 1;          // numbers reduced per row
    double correction = 1;            // Var, Std
    bool includeSelf = true;          // Scatter*
    std::vector<std::int64_t> shape;  // of the result; empty for Scatter*
    bool operator==(const CodeMerge&) const = default;
};

struct CodeResult {  // rows of a value, or a contribution to a reduction over them
    ir::ValueId value;
    CodeRows rows;
    int dim = 0;
    std::optional<CodeMerge> merge;
    bool operator==(const CodeResult&) const = default;
};

// The frontier of the table that `key` of `table` refers to holds what the rows `owner` refer to by that key.
struct CodeFrontier {
    std::string target, table, key;
    CodeRows owner;
    bool operator==(const CodeFrontier&) const = default;
};

struct CodeLoop {
    plan::StageId stage{1};
    std::string method, destination;
    std::vector<CodeFrontier> frontier;
    std::vector<CodeArgument> arguments;
    std::vector<CodeResult> results;  // in the order in which the method returns them
    bool operator==(const CodeLoop&) const = default;
};

enum class TableKind : std::uint8_t { Node, Edge, Graph, Filter, Cat, Perm };

constexpr auto namesOf(TableKind)
{
    return std::to_array<base::Named<TableKind>>({{TableKind::Node, "node"},
                                                  {TableKind::Edge, "edge"},
                                                  {TableKind::Graph, "graph"},
                                                  {TableKind::Filter, "filter"},
                                                  {TableKind::Cat, "cat"},
                                                  {TableKind::Perm, "perm"}});
}

struct CodeTable {
    std::string name;
    TableKind kind = TableKind::Node;
    std::vector<std::string> from;  // Filter, Cat, Perm: the tables that it is made of; Edge: those of both ends
    std::string made;               // in words: "the rows of edge_index that v12 selects"
    std::string size;               // the prologue's result with its number of rows
    std::string parents;            // Filter, and Perm where needed: the prologue's result with the rows selected
    bool operator==(const CodeTable&) const = default;
};

// Which row of `target` each row of `table` refers to: a result of the prologue, or, where that is empty, row i to row i.
struct CodeColumn {
    std::string table, key, target, tensor;
    bool operator==(const CodeColumn&) const = default;
};

struct CodeWeight {
    std::string attribute, name;  // of the module of the code; in weights.safetensors
    ir::ValueId value;
    bool operator==(const CodeWeight&) const = default;
};

struct CodeOutput {
    std::string name;
    ir::ValueId value;
    bool rows = true;  // false: a result of the method `results`, in the order of these outputs
    bool operator==(const CodeOutput&) const = default;
};

struct Code {
    std::vector<CodeTable> tables;
    std::vector<CodeColumn> columns;
    std::vector<CodeWeight> weights;
    std::vector<std::string> prologue;  // names of the inputs that the method `prologue` takes
    std::vector<CodeLoop> loops;
    std::vector<CodeArgument> results;  // of the method `results`
    std::vector<CodeOutput> outputs;
    bool operator==(const Code&) const = default;
};

json::Value codeValue(const Code& code);
// Refuses a method without a stage of the schema, and a table that is not listed.
Code readCode(const json::Reader& reader);

}  // namespace hopscope::schema
