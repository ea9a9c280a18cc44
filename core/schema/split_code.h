#pragma once

// The part of schema.json that a program needs to run exported code: the methods with their arguments, and the rules
// for derived tables. Tables, keys and row classes have the names of schema/names.h.

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/names.h"
#include "ir/program.h"
#include "plan/stage_id.h"

namespace hopscope::schema {

enum class CodeRowsKind : std::uint8_t { Batch, Owned, Frontier };

constexpr auto namesOf(CodeRowsKind)
{
    return std::to_array<base::Named<CodeRowsKind>>(
        {{CodeRowsKind::Batch, "batch"}, {CodeRowsKind::Owned, "owned"}, {CodeRowsKind::Frontier, "frontier"}});
}

// The rows of a table that a batch holds.
struct CodeRows {
    CodeRowsKind kind = CodeRowsKind::Batch;
    std::string table, key;
    bool operator==(const CodeRows&) const = default;
};

template <std::same_as<CodeRows> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "rows",
        field(
            "kind", &T::kind,
            "`batch`: the destinations; `owned`: the rows of `table` whose `key` lies in the batch, ordered by it and "
            "then by row number; `frontier`: the rows that the batch gathers from"),
        field("table", &T::table, "the table"), field("key", &T::key, "of `owned` rows; otherwise empty"));
}

// The kinds of arguments, which docs/guides/exporting.md explains.
enum class ArgumentKind : std::uint8_t { Rows, Whole, Positions, Count, Size, Parents, Order };

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
    ir::ValueId value = {};
    int dim = 0;
    std::string table = {}, key = {};
    std::vector<CodeRows> rows = {};
    bool operator==(const CodeArgument&) const = default;
};

template <std::same_as<CodeArgument> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "argument", field("name", &T::name, "the parameter of the method"),
        field("kind", &T::kind, "see [exporting](../guides/exporting.md#the-part-code-of-schemajson)"),
        field("value", &T::value, "of `rows` and `whole`; otherwise null", base::Null::IsDefault),
        field("dim", &T::dim, "for `rows`: the dimension of the rows", base::Quantity::Count),
        field("table", &T::table, "of `positions` and `size`; otherwise empty"),
        field("key", &T::key, "of `positions`; otherwise empty"),
        field("rows", &T::rows, "the rows that `kind` is about; `size` and `whole` need none"));
}

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

// How the contributions of batches are merged into the result of a reduction over all rows (docs/guides/exporting.md).
struct CodeMerge {
    MergeKind kind = MergeKind::Sum;
    int tensors = 1;
    std::int64_t perRow = 1;
    double correction = 1;
    bool includeSelf = true;
    std::vector<std::int64_t> shape;
    bool operator==(const CodeMerge&) const = default;
};

template <std::same_as<CodeMerge> T>
constexpr auto fieldsOf(const T*)
{
    using base::field, base::Quantity;
    return base::described(
        "merge", field("kind", &T::kind, "see [exporting](../guides/exporting.md#the-part-code-of-schemajson)"),
        field("tensors", &T::tensors, "the number of tensors that the method returns for it", Quantity::Count),
        field("per_row", &T::perRow, "the number of reduced elements of a row", Quantity::Count),
        field("correction", &T::correction, "of `var` and `std`"),
        field("include_self", &T::includeSelf, "for scatters: whether the initial table contributes"),
        field("shape", &T::shape, "of the result; empty for scatters", Quantity::Count));
}

struct CodeResult {
    ir::ValueId value;
    CodeRows rows;
    int dim = 0;
    std::optional<CodeMerge> merge;
    bool operator==(const CodeResult&) const = default;
};

template <std::same_as<CodeResult> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("result", field("value", &T::value, "the value"),
                           field("rows", &T::rows, "its rows, or those that it reduces"),
                           field("dim", &T::dim, "the dimension of the rows", base::Quantity::Count),
                           field("merge", &T::merge, "of a reduction over all rows; null: the rows are stored"));
}

struct CodeFrontier {
    std::string target, table, key;
    CodeRows owner;
    bool operator==(const CodeFrontier&) const = default;
};

template <std::same_as<CodeFrontier> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "frontier",
        field("target", &T::target, "the table of the rows; if it is the destination, the batch's own rows come first"),
        field("table", &T::table, "the table that refers to them"), field("key", &T::key, "the reference"),
        field("owner", &T::owner, "the rows of `table` whose references are followed"));
}

struct CodeLoop {
    plan::StageId stage{1};
    std::string method, destination;
    std::vector<CodeFrontier> frontier;
    std::vector<CodeArgument> arguments;
    std::vector<CodeResult> results;
    bool operator==(const CodeLoop&) const = default;
};

template <std::same_as<CodeLoop> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("loop", field("stage", &T::stage, "the stage that it belongs to"),
                           field("method", &T::method, "the method that is called for each batch"),
                           field("destination", &T::destination, "the table whose rows are divided into batches"),
                           field("frontier", &T::frontier, "the rows that a batch gathers from"),
                           field("arguments", &T::arguments, "of the method, in its order"),
                           field("results", &T::results, "in the order in which the method returns them"));
}

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
    std::vector<std::string> from;
    std::string made, size, parents;
    bool operator==(const CodeTable&) const = default;
};

template <std::same_as<CodeTable> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "table", field("name", &T::name, "its name; no two tables have the same"),
        field("kind", &T::kind,
              "of nodes, edges or graphs, or derived from other tables: a selection of rows, a concatenation, a "
              "reordering"),
        field("from", &T::from, "the tables that it is derived from; for edges, those of both ends"),
        field("made", &T::made, "for display: `the rows of edge_index that v12 selects`"),
        field("size", &T::size, "the key of the prologue's dictionary that holds the number of its rows"),
        field("parents", &T::parents,
              "the key that holds, for each row of a selection or reordering, its row in the table before; otherwise "
              "empty"));
}

struct CodeColumn {
    std::string table, key, target, tensor;
    bool operator==(const CodeColumn&) const = default;
};

template <std::same_as<CodeColumn> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "column", field("table", &T::table, "the table that refers"),
        field("key", &T::key, "the name of the reference"),
        field("target", &T::target, "the table that is referred to"),
        field("tensor", &T::tensor,
              "the key of the prologue's dictionary that holds, for each row of `table`, a row of `target`; empty: row "
              "i refers to row i"));
}

struct CodeWeight {
    std::string attribute, name;
    ir::ValueId value;
    bool operator==(const CodeWeight&) const = default;
};

template <std::same_as<CodeWeight> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described("weight", field("attribute", &T::attribute, "of the module"),
                           field("name", &T::name, "in `weights.safetensors`"), field("value", &T::value, "the value"));
}

struct CodeOutput {
    std::string name;
    ir::ValueId value;
    bool rows = true;
    bool operator==(const CodeOutput&) const = default;
};

template <std::same_as<CodeOutput> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "output", field("name", &T::name, "the name"), field("value", &T::value, "the value"),
        field("rows", &T::rows,
              "whether a loop stores it, or it is an input; false: the method `results` returns it, in this order"));
}

struct Code {
    std::vector<CodeTable> tables;
    std::vector<CodeColumn> columns;
    std::vector<CodeWeight> weights;
    std::vector<std::string> prologue;
    std::vector<CodeLoop> loops;
    std::vector<CodeArgument> results;
    std::vector<CodeOutput> outputs;
    bool operator==(const Code&) const = default;
};

template <std::same_as<Code> T>
constexpr auto fieldsOf(const T*)
{
    using base::field;
    return base::described(
        "code", field("tables", &T::tables, "all tables whose rows are named below"),
        field("columns", &T::columns, "the references of tables to rows of others"),
        field("weights", &T::weights, "the weights and large constants"),
        field("prologue", &T::prologue, "the names of the inputs that the method `prologue` takes"),
        field("loops", &T::loops, "the calls of methods, in their order"),
        field("results", &T::results, "the arguments of the method `results`; empty without that method"),
        field("outputs", &T::outputs, "the outputs of the model"));
}

}  // namespace hopscope::schema
