#include "receptive/demand.h"

#include <algorithm>
#include <ranges>

namespace hopscope::receptive {

using analysis::Analysis;
using analysis::OpKind;
using analysis::Use;
using ir::KeyId;
using ir::Slot;
using ir::SpaceId;
using ir::ValueId;

ValueId sparseMatrix(const Analysis& analysis, const ir::Op& op)
{
    ValueId matrix;
    ir::forEachOperand(op, [&](Slot slot, ValueId v) {
        if (analysis.info(op.id).use(slot).use == Use::SparseMatrix) matrix = v;
    });
    return matrix;
}

Backtrack::Backtrack(const Analysis& analysis, RowMoves& moves) : m_analysis(analysis), m_moves(moves)
{
    for (const ir::Op& op : analysis.program.ops)
        if (carries(op)) m_carried.insert(op.outputs.begin(), op.outputs.end());
    dropUsedAtOnce();
}

// A gather along the destinations does not add to the depth.
bool Backtrack::carries(const ir::Op& op) const
{
    const analysis::OpInfo& info = m_analysis.info(op.id);
    if (info.structureOnly || info.kind == OpKind::Aggregate || info.kind == OpKind::Reduce) return false;
    bool found = false;
    ir::forEachOperand(op, [&](Slot slot, ValueId operand) {
        const bool gathered = info.kind == OpKind::Gather && info.use(slot).use == Use::Source;
        if (features(operand) && depthOf(operand) == info.depth) found |= gathered || m_carried.contains(operand);
    });
    return found;
}

void Backtrack::dropUsedAtOnce()
{
    std::map<ValueId, int> used;  // the first round that does
    for (const ir::Op& op : std::views::reverse(m_analysis.program.ops)) {
        const analysis::OpInfo& info = m_analysis.info(op.id);
        if (info.structureOnly) continue;
        int round = info.depth;
        for (const ValueId v : op.outputs) {
            if (!m_carried.contains(v)) continue;
            if (used.contains(v)) round = used.at(v);
            if (round == info.depth) m_carried.erase(v);
        }
        ir::forEachOperand(op, [&](Slot, ValueId v) {
            const auto [known, fresh] = used.try_emplace(v, round);
            if (!fresh) known->second = std::min(known->second, round);
        });
    }
}

bool Backtrack::carried(const ir::Op& op) const
{
    return std::ranges::any_of(op.outputs, [&](ValueId v) { return m_carried.contains(v); });
}

// Rows of graphs count here, too: a node may depend on its graph.
SpaceId Backtrack::tableOf(ValueId value) const
{
    const SpaceId rows = m_analysis.rowSpace(value);
    if (rows.valid()) return rows;
    for (const SpaceId dim : m_analysis.info(value).dims)
        if (dim.valid()) return dim;
    return {};
}

int Backtrack::depthOf(ValueId value) const
{
    const ir::OpId producer = m_analysis.program.value(value).producer;
    return producer.valid() ? m_analysis.info(producer).depth : 0;
}

// True for values that are computed or read for rows: not weights, numbers, or values that follow from structure alone.
bool Backtrack::features(ValueId value) const
{
    const ir::Value& v = m_analysis.program.value(value);
    if (v.kind != ir::ValueKind::Tensor || m_analysis.info(value).structureOnly) return false;
    return v.origin == ir::Origin::Op || tableOf(value).valid();
}

bool Backtrack::passes(ValueId operand, const ir::Op& reader) const
{
    if (m_analysis.program.value(operand).origin != ir::Origin::Op) return true;
    if (m_carried.contains(operand)) return false;
    return depthOf(operand) < m_analysis.info(reader.id).depth || carried(reader);
}

void Backtrack::add(ValueId value, const RowsPtr& rows)
{
    RowsPtr& wanted = m_wanted[value];
    wanted = m_moves.unite(wanted, rows);
}

RowsPtr Backtrack::wantedOf(const ir::Op& op)
{
    RowsPtr wanted;
    for (const ValueId v : op.outputs) {
        const auto it = m_wanted.find(v);
        if (it != m_wanted.end()) wanted = m_moves.unite(wanted, it->second);
    }
    return wanted;
}

// The entries of the matrix, or the messages, that make `wanted`.
RowsPtr Backtrack::entries(const ir::Op& op, const RowsPtr& wanted)
{
    const analysis::Role& role = m_analysis.info(op.id).role;
    return m_moves.owned(role.space, role.key, wanted);
}

RowsPtr Backtrack::rowsFor(const ir::Op& op, Slot slot, ValueId operand, const RowsPtr& wanted)
{
    const analysis::OpInfo& info = m_analysis.info(op.id);
    const SpaceId table = tableOf(operand);
    switch (info.use(slot).use) {
    case Use::Source: return m_moves.targets(info.role.space, info.role.key, wanted);
    case Use::Message:
    case Use::SparseMatrix: return entries(op, wanted);
    case Use::SparseSource: {
        const analysis::Role& column = m_analysis.info(sparseMatrix(m_analysis, op)).sparseColumn;
        return m_moves.targets(column.space, column.key, entries(op, wanted));
    }
    case Use::Part: return m_moves.part(wanted, static_cast<std::size_t>(info.use(slot).part));
    case Use::Parent: return m_moves.parents(wanted);
    case Use::Reduced:
    case Use::Whole: return table.valid() ? m_moves.all(table) : wanted;
    default: break;
    }
    if (table == wanted->table) return wanted;
    if (table.valid()) return m_moves.all(table);
    return wanted;  // a number, or a value without rows: all rows that it follows from are needed
}

void Backtrack::noteMessages(const ir::Op& op, const RowsPtr& wanted, Demand& demand)
{
    const analysis::OpInfo& info = m_analysis.info(op.id);
    const bool combines = info.kind == OpKind::Aggregate || sparseMatrix(m_analysis, op).valid();
    if (!combines || !info.role.space.valid()) return;
    RowsPtr& messages = demand.edges[info.depth][{info.role.space, info.role.key}];
    messages = m_moves.unite(messages, entries(op, wanted));
}

void Backtrack::step(const ir::Op& op, Demand& demand)
{
    const RowsPtr wanted = wantedOf(op);
    if (!wanted || m_analysis.info(op.id).structureOnly) return;
    noteMessages(op, wanted, demand);
    ir::forEachOperand(op, [&](Slot slot, ValueId operand) {
        const Use use = m_analysis.info(op.id).use(slot).use;
        if (use == Use::Shape || use == Use::Index || !features(operand)) return;
        const RowsPtr rows = rowsFor(op, slot, operand, wanted);
        add(operand, rows);
        if (!passes(operand, op) || !tableOf(operand).valid()) return;
        RowsPtr& passed = demand.rows[{depthOf(operand), tableOf(operand)}];
        passed = m_moves.unite(passed, rows);
    });
}

Demand Backtrack::from(SpaceId table, std::int64_t row)
{
    m_wanted.clear();
    m_moves.forget();
    Demand demand;
    const RowsPtr start = m_moves.one(table, row);
    for (const ir::NamedValue& output : m_analysis.program.outputs) {
        if (tableOf(output.value) != table) continue;
        add(output.value, start);
        demand.rows[{depthOf(output.value), table}] = start;
    }
    for (auto op = m_analysis.program.ops.rbegin(); op != m_analysis.program.ops.rend(); ++op) step(*op, demand);
    return demand;
}

// The values of a depth that outputs are or that later depths take.
std::set<ValueId> Backtrack::leaving(int depth, SpaceId table) const
{
    std::set<ValueId> found;
    const auto note = [&](ValueId v) {
        if (depthOf(v) == depth && tableOf(v) == table) found.insert(v);
    };
    for (const ir::NamedValue& output : m_analysis.program.outputs) note(output.value);
    for (const ir::Op& op : m_analysis.program.ops) {
        const analysis::OpInfo& info = m_analysis.info(op.id);
        if (info.depth <= depth || info.structureOnly) continue;
        ir::forEachOperand(op, [&](Slot, ValueId operand) {
            if (features(operand)) note(operand);
        });
    }
    return found;
}

Demand Backtrack::round(int depth, SpaceId table, std::int64_t row)
{
    m_wanted.clear();
    m_moves.forget();
    Demand demand;
    const RowsPtr start = m_moves.one(table, row);
    for (const ValueId v : leaving(depth, table)) add(v, start);
    for (auto op = m_analysis.program.ops.rbegin(); op != m_analysis.program.ops.rend(); ++op)
        if (m_analysis.info(op->id).depth == depth || carried(*op)) step(*op, demand);
    return demand;
}

namespace {

std::int64_t bytesOfRow(const Analysis& analysis, ValueId id)
{
    const ir::Value& value = analysis.program.value(id);
    auto bytes = static_cast<std::int64_t>(base::itemSize(value.dtype));
    for (std::size_t d = 0; d < value.shape.size(); ++d)
        if (!analysis.info(id).dims[d].valid()) bytes *= value.shape[d];
    return bytes;
}

}  // namespace

std::map<Needed, std::int64_t> Backtrack::rowBytes() const
{
    std::set<ValueId> counted;
    for (const ir::NamedValue& output : m_analysis.program.outputs) counted.insert(output.value);
    for (const ir::Op& op : m_analysis.program.ops) {
        if (m_analysis.info(op.id).structureOnly) continue;
        ir::forEachOperand(op, [&](Slot slot, ValueId v) {
            const Use use = m_analysis.info(op.id).use(slot).use;
            const bool leaf = m_analysis.program.value(v).origin != ir::Origin::Op;
            const bool hop = (use == Use::Source || use == Use::SparseSource) && depthOf(v) > 0 && passes(v, op);
            if (features(v) && (hop || (leaf && use != Use::Index && use != Use::Shape))) counted.insert(v);
        });
    }
    std::map<Needed, std::int64_t> bytes;
    for (const ValueId v : counted)
        if (tableOf(v).valid()) bytes[{depthOf(v), tableOf(v)}] += bytesOfRow(m_analysis, v);
    return bytes;
}

std::map<int, std::map<std::pair<SpaceId, KeyId>, KeyId>> Backtrack::sources() const
{
    std::map<int, std::map<std::pair<SpaceId, KeyId>, KeyId>> found;
    for (const ir::Op& op : m_analysis.program.ops) {
        const analysis::OpInfo& info = m_analysis.info(op.id);
        const ValueId matrix = sparseMatrix(m_analysis, op);
        if (matrix.valid())
            found[info.depth][{info.role.space, info.role.key}] = m_analysis.info(matrix).sparseColumn.key;
        if (info.kind != OpKind::Aggregate || info.structureOnly || !info.role.space.valid()) continue;
        KeyId& source = found[info.depth][{info.role.space, info.role.key}];
        for (const ir::Op& gather : m_analysis.program.ops) {
            const analysis::OpInfo& g = m_analysis.info(gather.id);
            const bool feeds = g.kind == OpKind::Gather && !g.structureOnly && g.depth == info.depth &&
                               g.role.space == info.role.space && g.role.key != info.role.key;
            if (feeds && !source.valid()) source = g.role.key;
        }
    }
    return found;
}

}  // namespace hopscope::receptive
