// The hint that follows the reason of a refusal.

#include <set>

#include "analysis/rows/rules.h"

namespace hopscope::analysis {

namespace {

using Kind = Refused::Kind;

struct Hint {
    Kind kind;
    const char* text;
};

constexpr Hint hints[] = {
    {Kind::Unruled, "write it with other operators, request support for it, or add it as CONTRIBUTING.md describes"},
    {Kind::BakedSize,
     "export it so that sizes come from the inputs: torch.jit.script, or x.size(0) instead of a number"},
    {Kind::Roles,
     "if an input has these rows or row numbers, declare it: --role NAME=node:T, key:T>U, index:S>T or edge:R"},
    {Kind::Constant, "export the model without a cache of the graph (cached=False), and pass the edges in"},
    {Kind::RowWeight, "declare a weight that has a row for each row of a table: --role NAME=node:T"},
    {Kind::Selection, "keep all rows and multiply by the mask instead of selecting: h * mask.unsqueeze(1)"},
    {Kind::Features, "compute these row numbers before the model, and pass them in: --role NAME=key:T>U"},
    {Kind::Orders,
     "give both the same order or selection, as in weight[order] with edge_index[:, order]; merge equal edges "
     "(coalesce) before the model"},
    {Kind::Counted, "pass the number of rows, as in softmax(src, index, num_nodes=x.size(0)) or "
                    "scatter(src, index, dim_size=x.size(0))"},
    {Kind::Counting, "give the number of rows: torch.bincount(index, minlength=x.size(0)), torch.arange(x.size(0))"},
    {Kind::Position, "keep all rows in their order in the model, and pick rows from its output"},
    {Kind::Parts, "slice rows as h[:k] and h[k:], and assign to a slice only values computed from the same slice"},
    {Kind::Repeated, "repeat a table by torch.cat([h, h]), and each of its rows by h.unsqueeze(1).expand(-1, 2, -1)"},
    {Kind::Added, "add such rows to the inputs of the model"},
    {Kind::Into,
     "look up, or aggregate into, all rows and select afterwards: torch.zeros_like(h).index_add(0, index, m)[mask]"},
    {Kind::OneByOne, "pick rows first, h[index], and then along the other dimension with gather or select"},
    {Kind::Places, "write whole rows, h[index] = m, or rows of one column after another, h[:, 0][index] = m"},
    {Kind::Masked, "choose instead of selecting: torch.where(mask, h, 0)"},
    {Kind::Written, "write the rows that the same mask selects: h[mask] = f(h)[mask]"},
    {Kind::AllPairs, "attention between all nodes needs them all at once; attention along edges, and linear attention, "
                     "q @ (k.t() @ v), can be split"},
    {Kind::Adjacency, "pass the edges instead: torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])"},
    {Kind::Dense,
     "give its edges instead, as the parts of a sparse matrix in PyTorch: NAME.coo_indices, NAME.coo_values and "
     "NAME.coo_size of a.to_sparse().coalesce()"},
    {Kind::Sparse, "build it from the edges: torch.sparse_coo_tensor(edge_index, weight, (x.size(0), x.size(0))), with "
                   "one weight for each edge"},
    {Kind::FromRight, "swap the factors: h.t() @ a is (b @ h).t(), where b is built from edge_index.flip(0)"},
    {Kind::Fused, "write product and addition as two steps: (a @ h) + b"},
    {Kind::SparseResult, "return its parts: a.values(), and a.indices() or a.col_indices()"},
    {Kind::SparseReduction,
     "for a mean, use the sum and divide it by the number of entries of each row, or pass the edges: "
     "zeros.index_reduce(0, row, w * h[col], \"mean\")"},
    {Kind::Factors, "swap the factors: a @ h.t() is (h @ a.t()).t()"},
    {Kind::Columns,
     "keep the weight as w, with a row for each row of h, declare it (--role NAME=node:T), and write w.t() @ h"},
    {Kind::Slopes, "declare the weight w (--role NAME=node:T), and write torch.where(h > 0, h, w * h)"},
    {Kind::Offsets, "if an input holds the position at which the edges of each destination begin, declare it: "
                    "--role NAME=offsets:S>T, or starts:S>T without the last number"},
    {Kind::AllRows, "apply this step to the output of the model: it needs all rows at once"},
    {Kind::Readout, "combine the rows of each graph by sum, mean, max or min, or combine them outside the model"},
    {Kind::Statistics,
     "write it with sums, means or extremes over rows, as in (h - h.mean(0)) / h.var(0).sqrt() or h.abs().sum(0)"},
    {Kind::Number,
     "compute with the tensor instead, torch.where(h > 0, ..), or take the number as an input of the model"},
    {Kind::Width, "give the number of columns: one_hot(kind, num_classes=8)"},
    {Kind::Merged,
     "keep the rows in a dimension of their own, as in h.view(h.size(0), -1, 4); take partners of rows, such as "
     "the reverse of each edge, from an input with their numbers: h[reverse]"},
    {Kind::Derived,
     "give tables the size of an input, as in x.size(0); make edges (coalesce, to_undirected) before the model; "
     "aggregate by mean, max, median or softmax instead of LSTM"},
    {Kind::Argument,
     "leave the argument at its default, and express its effect by a separate operator, such as 2 * m for alpha=2"},
    {Kind::Dimension, "name the dimension: torch.cross(a, b, dim=-1)"},
};

}  // namespace

const char* hintOf(Refused::Kind kind)
{
    for (const Hint& hint : hints)
        if (hint.kind == kind) return hint.text;
    return "take this step out of the model, to the inputs or the outputs: it cannot be computed in batches of nodes";
}

namespace {

// True if the value depends on some input of the model.
bool followsFromInputs(const ir::Program& program, ValueId id, std::set<ValueId>& seen)
{
    if (!seen.insert(id).second) return false;
    const ir::Value& value = program.value(id);
    if (value.origin != ir::Origin::Op) return value.origin == ir::Origin::Input;
    bool any = false;
    ir::forEachOperand(program.op(value.producer),
                       [&](Slot, ValueId v) { any = any || followsFromInputs(program, v, seen); });
    return any;
}

bool selectedOrSorted(const RuleContext& c, SpaceId table)
{
    return table.valid() && (c.space(table).kind == SpaceKind::Filter || c.space(table).kind == SpaceKind::Perm);
}

}  // namespace

Refused otherTarget(const RuleContext& c, const Role& role, SpaceId table)
{
    const std::string what = "the index points into " + c.spaceName(role.target) + ", not ";
    if (!selectedOrSorted(c, table)) return {what + c.spaceName(table), Refused::Kind::Roles};
    return {what + "into rows that were selected or sorted, " + c.spaceName(table), Refused::Kind::Into};
}

Refused unknownIndex(const RuleContext& c, ValueId index, SpaceId table)
{
    if (selectedOrSorted(c, table))
        return {"indexes by the numbers of rows that were selected or sorted, " + c.spaceName(table),
                Refused::Kind::Into};
    std::set<ValueId> seen;
    if (followsFromInputs(c.builder.analysis.program, index, seen))
        return {"the index into the rows of " + c.spaceName(table) + " has an unknown origin", Refused::Kind::Roles};
    return {"the row numbers of " + c.spaceName(table) +
                " are constants of the file, such as the edges of the graph that the model was exported with",
            Refused::Kind::Constant};
}

}  // namespace hopscope::analysis
