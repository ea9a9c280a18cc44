#include "analysis/rows/bind.h"

#include "analysis/rows/linear.h"

namespace hopscope::analysis {

namespace {

const InputRole* roleOf(const InputSchema& schema, const std::string& name)
{
    const auto it = schema.roles.find(name);
    return it == schema.roles.end() ? nullptr : &it->second;
}

SpaceId keyTarget(Builder& b, const InputSchema& schema, const InputRole& role)
{
    return isNodeTable(schema, role.second) ? b.node(role.second) : b.graph(role.second);
}

std::string relationName(const InputRole& role, const std::string& key)
{
    return role.relation.empty() ? key : role.relation;
}

// The shape of an index of this form.
bool hasEdges(const ir::Value& value, const InputRole& role)
{
    return value.shape.size() == (isOneEnd(role.form) ? 1U : 2U);
}

void declareIndex(Builder& b, const ir::Value& value, const InputRole& role)
{
    const SpaceId e = b.edge(relationName(role, value.name), b.node(role.first), b.node(role.second));
    if (!isCompressed(role.form) && hasEdges(value, role)) b.fixSize(e, value.shape[traitsOf(role.form).edgeDim]);
}

// Rows of the items of bags: no input with the sources of edges tells how many there are.
void declareItems(Builder& b, const ir::Value& value, const InputRole& role, const InputSchema& schema)
{
    if (!listsSources(schema, role.first)) b.fixSize(b.edge(role.first, {}, {}), value.shape[0]);
}

void bindIndex(Builder& b, ValueInfo& info, ValueId id, const ir::Value& value, const InputRole& role)
{
    if (!hasEdges(value, role)) return;
    const SpaceId e = b.edge(relationName(role, value.name), b.node(role.first), b.node(role.second));
    Tables& tables = b.analysis.tables;
    const FormTraits has = traitsOf(role.form);
    const bool all = has.first && has.last;
    info.structureOnly = true;
    if (isCompressed(role.form)) {
        info.compressed = {.rows = {.space = e, .key = tables.endKey(1), .target = tables.space(e).ends[1]},
                           .part = all         ? OffsetsPart::All
                                   : has.first ? OffsetsPart::Begin
                                               : OffsetsPart::End};
        if (!all) info.dims[0] = tables.space(e).ends[1];
        tables.spaces[e.at()].offsets = id;
        return;
    }
    info.dims[has.edgeDim] = e;
    for (int end : {0, 1}) {
        if (!hasEnd(role.form, end)) continue;
        const Role r{.space = e, .key = tables.endKey(end), .target = tables.space(e).ends[end]};
        info.elements.insert(r.target);
        if (value.shape.size() == 2) {
            info.pairRoles.push_back(r);
            tables.spaces[e.at()].index = id;
            continue;
        }
        info.role = r;
        tables.spaces[e.at()].columns[end] = id;
        b.useKey(r);
    }
}

// Two columns of keys of one table.
void bindEnds(Builder& b, ValueInfo& info, ValueId id, const InputRole& role)
{
    const SpaceId rows = b.node(role.relation);
    info.dims[traitsOf(role.form).edgeDim] = rows;
    info.structureOnly = true;
    for (int end : {0, 1}) {
        const Role r{.space = rows, .key = b.foreign(id, end), .target = b.node(end == 0 ? role.first : role.second)};
        info.elements.insert(r.target);
        info.pairRoles.push_back(r);
        b.useKey(r);
    }
}

void bindKey(Builder& b, ValueInfo& info, ValueId id, const InputSchema& schema, const InputRole& role)
{
    const SpaceId rows = b.node(role.first), target = keyTarget(b, schema, role);
    info.dims[0] = rows;
    if (info.dims.size() > 1) return void(info.structureOnly = true);
    const Role r{.space = rows, .key = b.foreign(id), .target = target};
    info.role = r;
    info.elements = {target};
    info.structureOnly = true;
    b.useKey(r);
}

// The table whose rows "adj.coo_size.0" counts, or "adj.csr_size.0", where the rows are the destinations; invalid for
// other inputs.
SpaceId sparseExtent(Builder& b, const std::string& name, const InputSchema& schema)
{
    for (const bool compressed : {false, true}) {
        const std::string part = compressed ? ".csr_size." : ".coo_size.";
        const auto at = name.rfind(part);
        if (at == std::string::npos || at + part.size() + 1 != name.size()) continue;
        const auto role = schema.roles.find(name.substr(0, at) + (compressed ? ".csr_col" : ".coo_indices"));
        if (role == schema.roles.end() || role->second.kind != RoleKind::Index) continue;
        const bool first = (name.back() == '0') != compressed;
        return b.node(first ? role->second.first : role->second.second);
    }
    return {};
}

SpaceId tableOf(Builder& b, const InputRows& rows)
{
    if (rows.kind == TableKind::Edge) return b.edge(rows.table, {}, {});
    return rows.kind == TableKind::Graph ? b.graph(rows.table) : b.node(rows.table);
}

// Integers are structure; so is one float per edge (edge weights). A float node column is a feature.
bool structure(const ir::Value& value, RoleKind kind)
{
    if (!base::isFloating(value.dtype)) return true;
    std::int64_t perRow = 1;
    for (std::size_t i = 1; i < value.shape.size(); ++i) perRow *= value.shape[i];
    return kind == RoleKind::Edge && perRow == 1;
}

}  // namespace

void declareTables(Builder& b, const ir::Program& program, const InputSchema& schema)
{
    for (const ir::Value& v : program.values) {
        const InputRole* role = v.origin == ir::Origin::Op ? nullptr : roleOf(schema, v.name);
        if (!role || v.kind != ir::ValueKind::Tensor || v.shape.empty()) continue;
        const InputRows rows = rowsOf(*role);
        if (rows.kind == TableKind::Node) b.fixSize(b.node(rows.table), v.shape.at(rows.dim));
        if (role->kind == RoleKind::Index) declareIndex(b, v, *role);
        if (role->kind == RoleKind::Edge) declareItems(b, v, *role, schema);
    }
}

ValueInfo bindInput(Builder& b, const ir::Value& value, ValueId id, const InputSchema& schema)
{
    ValueInfo info;
    info.dims.resize(value.shape.size());
    if (value.kind != ir::ValueKind::Tensor) {
        info.structureOnly = true;
        const SpaceId table = sparseExtent(b, value.name, schema);
        info.size = table.valid() ? sizeOf(table) : atom(id);
        return info;
    }
    info.structureOnly = value.origin == ir::Origin::Constant;
    const InputRole* role = value.name.empty() ? nullptr : roleOf(schema, value.name);
    if (!role || value.shape.empty()) return info;
    switch (role->kind) {
    case RoleKind::Index: bindIndex(b, info, id, value, *role); return info;
    case RoleKind::Ends: bindEnds(b, info, id, *role); return info;
    case RoleKind::Key: bindKey(b, info, id, schema, *role); return info;
    case RoleKind::Node:
    case RoleKind::Edge:
    case RoleKind::Graph:
    case RoleKind::Plain: break;
    }
    if (const InputRows rows = rowsOf(*role); rows.kind != TableKind::None) info.dims.at(rows.dim) = tableOf(b, rows);
    if (value.origin == ir::Origin::Input && structure(value, role->kind)) info.structureOnly = true;
    return info;
}

InputSchema withGatheredGraphs(InputSchema schema)
{
    for (auto& [name, role] : schema.roles) {
        const bool graphs = role.kind == RoleKind::Graph;
        if (graphs || (role.kind == RoleKind::Key && !isNodeTable(schema, role.second)))
            schema.gathered.insert(graphs ? role.first : role.second);
        if (graphs) role.kind = RoleKind::Node;
    }
    return schema;
}

InputSchema withNumberedEdges(InputSchema schema, const std::set<std::string>& relations)
{
    for (auto& [name, role] : schema.roles) {
        if (role.kind == RoleKind::Edge && relations.contains(role.first)) role.kind = RoleKind::Node;
        if (role.kind != RoleKind::Index || !relations.contains(relationName(role, name))) continue;
        role.relation = relationName(role, name);
        role.kind = isOneEnd(role.form) ? RoleKind::Key : RoleKind::Ends;
        if (role.kind == RoleKind::Ends) continue;
        role.second = hasEnd(role.form, 0) ? role.first : role.second;
        role.first = role.relation;
    }
    return schema;
}

}  // namespace hopscope::analysis
