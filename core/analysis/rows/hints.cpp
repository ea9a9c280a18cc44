// What a refusal says beside its reason.

#include <set>

#include "analysis/rows/rules.h"

namespace hopscope::analysis {

const char* hintOf(Refused::Kind kind)
{
    using Kind = Refused::Kind;
    switch (kind) {
    case Kind::BakedSize:
        return "export it so that sizes come from the inputs: torch.jit.script, or x.size(0) instead of a number";
    case Kind::Roles:
        return "if an input has these rows or row numbers, declare it: --role NAME=node:T, key:T>U, index:S>T or "
               "edge:R";
    case Kind::Constant: return "export the model without a cache of the graph (cached=False), and pass the edges in";
    case Kind::Selection: return "keep all rows and multiply by the mask instead of selecting: h * mask.unsqueeze(1)";
    case Kind::Counted:
        return "pass the number of rows on, as in softmax(src, index, num_nodes=x.size(0)) or "
               "scatter(src, index, dim_size=x.size(0))";
    case Kind::Sorted:
        return "leave rows where they are instead of sorting them by kind: torch.where((kind == k).unsqueeze(1), "
               "f_k(h), "
               "h) for each kind k";
    case Kind::Position: return "keep all rows in their order in the model, and pick rows from its output";
    case Kind::AllPairs:
        return "attention between all nodes needs them all at once; attention along edges, and linear attention, "
               "q @ (k.t() @ v), can be split";
    case Kind::Adjacency:
        return "pass the edges instead: torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])";
    case Kind::AllRows: return "apply this step to the output of the model: it needs all rows at once";
    case Kind::Number:
        return "compute with the tensor instead, torch.where(h > 0, ..), or take the number as an input of the model";
    case Kind::Derived:
        return "make edges (coalesce, to_undirected) before the model; aggregate by mean, max, median or softmax "
               "instead of LSTM";
    case Kind::Merged:
        return "keep the rows in a dimension of their own, as in h.view(h.size(0), -1, 4); take partners of rows, such "
               "as "
               "the reverse of each edge, from an input with their numbers: h[reverse]";
    case Kind::Operator: break;
    }
    return "take this step out of the model, to the inputs or the outputs: it cannot be computed in batches of nodes";
}

namespace {

// Whether some input of the model is behind the value.
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

}  // namespace

Refused unknownIndex(const RuleContext& c, ValueId index, SpaceId table)
{
    std::set<ValueId> seen;
    if (followsFromInputs(c.builder.analysis.program, index, seen))
        return {"the index into the rows of " + c.spaceName(table) + " has an unknown origin", Refused::Kind::Roles};
    return {"the row numbers of " + c.spaceName(table) +
                " that it goes by are in the file, such as the edges of the graph "
                "that the model was exported with",
            Refused::Kind::Constant};
}

Refused rangeOfRows(const RuleContext& c, SpaceId rows)
{
    const bool sorted = c.space(rows).kind == SpaceKind::Perm;
    return {"picks a range of rows of " + c.spaceName(rows), sorted ? Refused::Kind::Sorted : Refused::Kind::Position};
}

}  // namespace hopscope::analysis
