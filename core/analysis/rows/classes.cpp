#include "analysis/rows/classes.h"

#include <algorithm>

namespace hopscope::analysis {

using ir::RowClass;
using ir::RowKind;

namespace {

// The key that ties the class to the batch: `id` for B, the owner for O, none for F.
KeyId ownerKey(const Analysis& a, const RowClass& rows)
{
    if (rows.kind == RowKind::Batch) return a.tables.idKey();
    return rows.kind == RowKind::Owned ? rows.key : KeyId{};
}

bool isNode(const Analysis& a, SpaceId s) { return s.valid() && a.tables.space(s).kind == SpaceKind::Node; }

bool gatherSource(const Analysis& a, const Role& role, const RowClass& rows, OperandRows& operand)
{
    if (isNode(a, role.space) && role.key == a.tables.idKey()) {
        operand.rows = rows;
        return true;
    }
    const KeyId own = ownerKey(a, rows);
    if (own.valid() && role.key == own) {
        operand.rows = isNode(a, role.target) ? RowClass{RowKind::Batch, role.target, {}} : RowClass{};
        return isNode(a, role.target);
    }
    if (!own.valid()) return false;
    if (!isNode(a, role.target)) {
        operand.rows = owned(a, role.target, own);
        return true;
    }
    operand.rows = {RowKind::Frontier, role.target, {}};
    operand.gatherSpace = role.space;
    operand.gatherOwner = own;
    operand.gatherKey = role.key;
    return true;
}

bool messageRows(const Analysis& a, const Role& role, const RowClass& rows, OperandRows& operand)
{
    if (rows.kind == RowKind::Batch && rows.table == role.target) {
        operand.rows = owned(a, role.space, role.key);
        return true;
    }
    if (rows.kind == RowKind::Owned && rows.table == role.target && a.tables.key(role.key).kind == KeyKind::Pos) {
        operand.rows = owned(a, role.space, rows.key);
        return true;
    }
    return false;
}

bool sparseSource(const Analysis& a, const OpInfo& info, const RowClass& rows, ValueId matrix, OperandRows& operand)
{
    if (rows.kind != RowKind::Batch) return false;
    const Role& column = a.info(matrix).sparseColumn;
    operand.rows = {RowKind::Frontier, column.target, {}};
    operand.gatherSpace = column.space;
    operand.gatherOwner = info.role.key;
    operand.gatherKey = column.key;
    return true;
}

ValueId matrixOf(const Analysis& a, const ir::Op& op)
{
    ValueId matrix;
    ir::forEachOperand(op, [&](Slot, ValueId v) {
        if (a.info(v).sparse) matrix = v;
    });
    return matrix;
}

bool place(const Analysis& a, const ir::Op& op, const RowClass& rows, OperandRows& operand)
{
    const OpInfo& info = a.info(op.id);
    switch (operand.use) {
    case Use::Message:
    case Use::SparseMatrix: return messageRows(a, info.role, rows, operand);
    case Use::Index:
        if (info.kind == OpKind::Aggregate) return messageRows(a, info.role, rows, operand);
        operand.rows = rows;
        return true;
    case Use::Source: return gatherSource(a, info.role, rows, operand);
    case Use::SparseSource: return sparseSource(a, info, rows, matrixOf(a, op), operand);
    case Use::Parent:
        if (rows.kind != RowKind::Owned) return false;
        operand.rows = owned(a, a.tables.space(info.result).parent, rows.key);
        return true;
    case Use::Part: {
        if (rows.kind != RowKind::Owned || a.tables.key(rows.key).kind != KeyKind::Parts) return false;
        const std::size_t i = static_cast<std::size_t>(a.info(op.id).use(operand.slot).part);
        operand.rows = owned(a, a.tables.space(rows.table).parts[i], a.tables.key(rows.key).parts[i]);
        return true;
    }
    default: operand.rows = rows; return true;
    }
}

}  // namespace

std::optional<std::vector<OperandRows>> operandRows(const Analysis& a, OpId id, const RowClass& rows)
{
    const ir::Op& op = a.program.op(id);
    if (a.info(id).kind == OpKind::Aggregate && rows.kind == RowKind::Frontier) return std::nullopt;
    std::vector<OperandRows> found;
    bool possible = true;
    ir::forEachOperand(op, [&](Slot slot, ValueId v) {
        OperandRows operand;
        operand.slot = slot;
        operand.value = v;
        operand.use = a.info(id).use(slot).use;
        if (operand.use == Use::Shape || !possible) return;
        const bool rowless = a.program.value(v).kind != ir::ValueKind::Tensor || !a.hasRows(v);
        if (rowless && operand.use != Use::Parent) operand.rows = RowClass{};
        else possible = place(a, op, rows, operand);
        found.push_back(operand);
    });
    if (!possible) return std::nullopt;
    return found;
}

RowClass owned(const Analysis& a, SpaceId space, KeyId key)
{
    if (isNode(a, space) && key == a.tables.idKey()) return {RowKind::Batch, space, {}};
    return {RowKind::Owned, space, key};
}

namespace {

using KeySet = std::set<KeyId>;

KeySet usedKeys(const Analysis& a, SpaceId s)
{
    KeySet found;
    for (const auto& [where, target] : a.tables.usedKeys) {
        const KeyKind kind = a.tables.key(where.second).kind;
        if (where.first == s && kind != KeyKind::Pos && kind != KeyKind::Of) found.insert(where.second);
    }
    return found;
}

// A Cat table that no joint key indexes: pair up the keys of its parts, one choice per key of the first.
KeySet catKeys(const Analysis& a, const Space& cat)
{
    KeySet found;
    for (std::size_t i = 0; i < a.tables.keys.size(); ++i) {
        const Key& k = a.tables.keys[i];
        if (k.kind != KeyKind::Parts || k.parts.size() != cat.parts.size()) continue;
        bool fits = true;
        for (std::size_t p = 0; p < k.parts.size() && fits; ++p)
            fits = a.tables.target(cat.parts[p], k.parts[p]).valid();
        if (fits) found.insert(KeyId(i));
    }
    return found;
}

KeySet keysOf(const Analysis& a, SpaceId s)
{
    const Space& space = a.tables.space(s);
    KeySet used = usedKeys(a, s);
    switch (space.kind) {
    case SpaceKind::Node: used.insert(a.tables.idKey()); return used;
    case SpaceKind::Edge:
        if (used.empty()) used = {a.tables.endKey(0), a.tables.endKey(1)};
        return used;
    case SpaceKind::Filter:
    case SpaceKind::Perm: used.merge(keysOf(a, space.parent)); return used;
    case SpaceKind::Cat: return used.empty() ? catKeys(a, space) : used;
    default: return used;
    }
}

}  // namespace

std::vector<RowClass> partitions(const Analysis& a, SpaceId space)
{
    if (!space.valid()) return {};
    if (isNode(a, space)) return {{.kind = RowKind::Batch, .table = space, .key = {}}};
    std::vector<RowClass> found;
    const KeySet keys = keysOf(a, space);
    for (KeyId key : keys)
        if (isNode(a, a.tables.target(space, key)))
            found.push_back({.kind = RowKind::Owned, .table = space, .key = key});
    std::reverse(found.begin(), found.end());  // end 1 before end 0: the destination is preferred
    return found;
}

SpaceId loopOf(const Analysis& a, const RowClass& rows)
{
    if (rows.kind == RowKind::Batch) return rows.table;
    if (rows.kind != RowKind::Owned) return {};
    const SpaceId target = a.tables.target(rows.table, rows.key);
    return isNode(a, target) ? target : SpaceId{};
}

SpaceId tableOf(const RowClass& rows) { return rows.kind == RowKind::All ? SpaceId{} : rows.table; }

}  // namespace hopscope::analysis
