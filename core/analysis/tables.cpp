#include "analysis/analysis.h"

#include <algorithm>

namespace hopscope::analysis {

SpaceId Tables::target(SpaceId table, KeyId id) const
{
    if (!table.valid() || !id.valid()) return {};
    const Key& k = key(id);
    if (k.kind == KeyKind::Of) return target(target(table, k.first), k.second);
    if (k.kind == KeyKind::Foreign) {
        const auto it = usedKeys.find({table, id});
        if (it != usedKeys.end()) return it->second;
    }
    const Space& s = space(table);
    switch (s.kind) {
    case SpaceKind::Node: return k.kind == KeyKind::Id ? table : SpaceId{};
    case SpaceKind::Edge:
        if (k.kind == KeyKind::Pos) return table;
        return k.kind == KeyKind::End ? s.ends[k.end] : SpaceId{};
    case SpaceKind::Filter:
    case SpaceKind::Perm: return k.kind == KeyKind::Pos ? s.parent : target(s.parent, id);
    case SpaceKind::Cat:
        return k.kind == KeyKind::Parts && k.parts.size() == s.parts.size() ? target(s.parts[0], k.parts[0])
                                                                            : SpaceId{};
    default: return {};
    }
}

std::string Tables::spaceName(SpaceId id) const
{
    if (!id.valid()) return "none";
    const Space& s = space(id);
    switch (s.kind) {
    case SpaceKind::Filter: return spaceName(s.parent) + "[" + ir::valueName(s.selector) + "]";
    case SpaceKind::Perm: return spaceName(s.parent) + "[sorted " + ir::valueName(s.selector) + "]";
    case SpaceKind::Opaque: return "unknown rows (" + s.name + ")";
    case SpaceKind::Cat: {
        std::string text;
        for (SpaceId part : s.parts) text += (text.empty() ? "" : " + ") + spaceName(part);
        return "(" + text + ")";
    }
    default: return s.name;
    }
}

std::string Tables::keyName(KeyId id) const
{
    if (!id.valid()) return "none";
    const Key& k = key(id);
    switch (k.kind) {
    case KeyKind::Id: return "id";
    case KeyKind::Pos: return "row";
    case KeyKind::End: return k.end == 0 ? "end0" : "end1";
    case KeyKind::Foreign: return ir::valueName(k.column);
    case KeyKind::Of: return keyName(k.second) + "." + keyName(k.first);
    case KeyKind::Parts: {
        std::string text;
        for (KeyId part : k.parts) text += (text.empty() ? "" : "+") + keyName(part);
        return text;
    }
    }
    return "none";
}

std::string Tables::className(const ir::RowClass& c) const
{
    switch (c.kind) {
    case ir::RowKind::Batch: return "B(" + spaceName(c.table) + ")";
    case ir::RowKind::Frontier: return "F(" + spaceName(c.table) + ")";
    case ir::RowKind::Owned: return "O(" + spaceName(c.table) + "," + keyName(c.key) + ")";
    case ir::RowKind::All: return "ALL";
    }
    return "ALL";
}

SpaceId Analysis::rowSpace(ValueId id) const
{
    const ValueInfo& v = info(id);
    if (v.sparse) return v.sparseRow.space;
    for (SpaceId d : v.dims)
        if (tables.isRow(d)) return d;
    return {};
}

int Analysis::rowDim(ValueId id) const
{
    const ValueInfo& v = info(id);
    for (std::size_t i = 0; i < v.dims.size(); ++i)
        if (tables.isRow(v.dims[i])) return static_cast<int>(i);
    return -1;
}

bool Analysis::knownShape(ValueId id) const
{
    return std::ranges::none_of(info(id).dims,
                                [&](SpaceId d) { return d.valid() && tables.space(d).kind == SpaceKind::Opaque; });
}

std::optional<SortedRows> sortedRows(const Analysis& analysis, const ir::Op& op)
{
    if (op.name == "hopscope::pad_groups") return SortedRows{analysis.info(op.id).role, *op.args.at(1).value()};
    const bool compresses = op.name == "aten::_convert_indices_from_coo_to_csr";
    const auto made = compresses ? analysis.info(op.outputs.at(0)).compressed : std::nullopt;
    if (!made) return std::nullopt;
    return SortedRows{made->rows, made->column};
}

bool Analysis::available(ValueId id) const
{
    return info(id).structureOnly || program.value(id).origin != ir::Origin::Op;
}

}  // namespace hopscope::analysis
