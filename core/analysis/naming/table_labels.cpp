#include "analysis/naming/table_labels.h"

#include <algorithm>

namespace hopscope::analysis {

namespace {

// Nodes behind edges are self-loops.
std::string concatenation(const Tables& tables, const Space& space)
{
    const auto isNode = [&](SpaceId part) { return tables.space(part).kind == SpaceKind::Node; };
    const bool loops = std::ranges::any_of(space.parts, isNode) && !std::ranges::all_of(space.parts, isNode);
    std::string text;
    for (const SpaceId part : space.parts)
        text += (text.empty() ? "" : " + ") + (loops && isNode(part) ? "self-loops" : tableLabel(tables, part));
    return text;
}

}  // namespace

std::string tableLabel(const Tables& tables, SpaceId id)
{
    if (!id.valid()) return "none";
    const Space& space = tables.space(id);
    switch (space.kind) {
    case SpaceKind::Filter: return "part of " + tableLabel(tables, space.parent);
    case SpaceKind::Perm: return tableLabel(tables, space.parent);
    case SpaceKind::Cat: return concatenation(tables, space);
    default: return tables.spaceName(id);
    }
}

std::string rowsLabel(const Tables& tables, const ir::RowClass& rows)
{
    const std::string table = "rows of " + tableLabel(tables, rows.table);
    switch (rows.kind) {
    case ir::RowKind::Batch: return table + " in the batch";
    case ir::RowKind::Owned: return table + " into the batch";
    case ir::RowKind::Frontier: return table + " in the frontier";
    case ir::RowKind::All: break;
    }
    return "all rows";
}

}  // namespace hopscope::analysis
