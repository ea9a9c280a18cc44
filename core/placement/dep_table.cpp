#include "placement/dep_table.h"

#include <algorithm>

namespace hopscope::placement {

using analysis::Analysis;
using analysis::OperandRows;
using analysis::OpKind;
using analysis::Use;
using ir::RowClass;
using ir::RowKind;
using ir::ValueId;

namespace {

// The classes on which a value can be there, partitions first.
class Classes {
public:
    explicit Classes(const Analysis& analysis) : m_analysis(analysis) {}

    std::vector<RowClass> of(const ir::Op& op, ValueId v)
    {
        const bool reduction = m_analysis.info(op.id).kind == OpKind::Reduce;
        std::vector<RowClass> all = of(reduction ? ir::SpaceId() : m_analysis.rowSpace(v));
        if (m_analysis.info(v).sparse) addEntries(all, v);
        return all;
    }

private:
    const std::vector<RowClass>& of(ir::SpaceId space)
    {
        const auto [it, fresh] = m_known.try_emplace(space);
        if (!fresh) return it->second;
        it->second = analysis::partitions(m_analysis, space);
        if (!space.valid()) it->second = {RowClass{}};
        else if (m_analysis.tables.space(space).kind == analysis::SpaceKind::Node)
            it->second.push_back({RowKind::Frontier, space, {}});
        return it->second;
    }

    // A product needs the entries of its rows, also where edges point to them, which makes them a table of nodes.
    void addEntries(std::vector<RowClass>& all, ValueId matrix) const
    {
        const analysis::ValueInfo& info = m_analysis.info(matrix);
        for (const analysis::Role* role : {&info.sparseRow, &info.sparseColumn}) {
            const RowClass entries = analysis::owned(m_analysis, role->space, role->key);
            if (std::ranges::find(all, entries) == all.end()) all.push_back(entries);
        }
    }

    const Analysis& m_analysis;
    std::map<ir::SpaceId, std::vector<RowClass>> m_known;
};

}  // namespace

DepTable::DepTable(const Analysis& analysis, const MayStore& mayStore, std::set<ValueId> mustRead, NotBefore notBefore)
    : m_analysis(analysis),
      m_mustRead(std::move(mustRead)),
      m_notBefore(std::move(notBefore)),
      m_mayStore(analysis.program.values.size(), 0),
      m_places(analysis.program.values.size()),
      m_home(analysis.program.values.size())
{
    Classes classes(analysis);
    for (const ir::Op& op : analysis.program.ops) {
        if (!isFilled(op)) continue;
        for (const ValueId v : op.outputs) {
            const std::vector<RowClass> all = classes.of(op, v);
            m_places[v.at()] = {m_cells.size(), all.size()};
            for (const RowClass& rows : all) m_cells.push_back({rows, never});
            m_mayStore[v.at()] = mayStore(v) ? 1 : 0;
        }
        fill(op);
    }
}

DepTable::DepTable(const DepTable& before, const std::set<ValueId>& stored, NotBefore notBefore) : DepTable(before)
{
    m_differs.assign(m_home.size(), 0);
    m_notBefore = std::move(notBefore);
    noteStores(stored);
    noteDelays(before.m_notBefore);
    refill();
}

void DepTable::noteStores(const std::set<ValueId>& stored)
{
    std::vector<std::uint8_t> now(m_mayStore.size(), 0);
    for (const ValueId v : stored) now[v.at()] = m_places[v.at()].count > 0 ? 1 : 0;
    for (std::size_t v = 0; v < now.size(); ++v) m_differs[v] = now[v] != m_mayStore[v] ? 1 : 0;
    m_mayStore = std::move(now);
}

void DepTable::noteDelays(const NotBefore& before)
{
    const auto note = [this](const NotBefore& one, const NotBefore& other) {
        for (const auto& [value, stage] : one)
            if (const auto it = other.find(value); it == other.end() || it->second != stage) m_differs[value.at()] = 1;
    };
    note(before, m_notBefore);
    note(m_notBefore, before);
}

// Operators come after their operands.
void DepTable::refill()
{
    for (const ir::Op& op : m_analysis.program.ops) {
        if (!isFilled(op) || !isConcerned(op)) continue;
        const std::vector<Known> before = known(op);
        fill(op);
        const std::vector<Known> now = known(op);
        for (std::size_t i = 0; i < now.size(); ++i)
            if (now[i] != before[i]) m_differs[op.outputs[i].at()] = 1;
    }
}

std::vector<DepTable::Known> DepTable::known(const ir::Op& op) const
{
    std::vector<Known> all;
    for (const ValueId v : op.outputs) all.push_back({home(v), {cells(v).begin(), cells(v).end()}});
    return all;
}

bool DepTable::isConcerned(const ir::Op& op) const
{
    bool concerned = std::ranges::any_of(op.outputs, [this](ValueId v) { return differs(v); });
    ir::forEachOperand(op, [&](ir::Slot, ValueId v) { concerned = concerned || differs(v); });
    return concerned;
}

bool DepTable::isFilled(const ir::Op& op) const
{
    const analysis::OpInfo& info = m_analysis.info(op.id);
    return !info.structureOnly && info.kind != OpKind::Scalar;
}

std::span<DepTable::Cell> DepTable::cells(ValueId v)
{
    return std::span(m_cells).subspan(m_places[v.at()].first, m_places[v.at()].count);
}

std::span<const DepTable::Cell> DepTable::cells(ValueId v) const
{
    return std::span(m_cells).subspan(m_places[v.at()].first, m_places[v.at()].count);
}

int DepTable::comp(ValueId v, const RowClass& rows) const
{
    if (m_analysis.available(v)) return 0;
    const auto known = cells(v);
    const auto it = std::ranges::find(known, rows, &Cell::rows);
    return it == known.end() ? never : it->stage;
}

int DepTable::dep(ValueId v, const RowClass& rows) const
{
    if (m_analysis.available(v)) return 0;
    const int computed = comp(v, rows);
    if (rows.kind == RowKind::All || m_mayStore[v.at()] == 0) return computed;
    const int readable = std::min(1 + m_home[v.at()].stage, never);
    return m_mustRead.contains(v) ? readable : std::min(computed, readable);
}

DepTable::Home DepTable::reductionHome(ir::OpId op) const
{
    const auto it = m_reductions.find(op);
    return it == m_reductions.end() ? Home{} : it->second;
}

int DepTable::compute(ir::OpId op, const RowClass& rows) const
{
    const auto operands = analysis::operandRows(m_analysis, op, rows);
    if (!operands) return never;
    int stage = 0;
    for (const OperandRows& o : *operands) {
        if (m_analysis.program.value(o.value).kind != ir::ValueKind::Tensor) continue;
        stage = std::max(stage, dep(o.value, o.rows));
    }
    return std::min(stage, never);
}

int DepTable::delayed(ValueId v, int stage) const
{
    const auto it = m_notBefore.find(v);
    return it == m_notBefore.end() ? stage : std::max(stage, it->second);
}

void DepTable::fill(const ir::Op& op)
{
    if (m_analysis.info(op.id).kind == OpKind::Reduce) return fillReduction(op);
    for (const ValueId v : op.outputs) fillValue(op.id, v);
}

void DepTable::fillValue(ir::OpId op, ValueId v)
{
    Home home;
    for (Cell& cell : cells(v)) {
        cell.stage = compute(op, cell.rows);
        if (cell.rows.kind != RowKind::Frontier && cell.stage < home.stage) home = {cell.stage, cell.rows};
    }
    if (m_analysis.hasRows(v)) home.stage = delayed(v, home.stage);
    m_home[v.at()] = home;
}

// A reduction reads a partition class; its result is available to all loops from the next stage on.
void DepTable::fillReduction(const ir::Op& op)
{
    std::vector<ValueId> reduced;
    int whole = 0;
    ir::SpaceId space;
    ir::forEachOperand(op, [&](ir::Slot slot, ValueId v) {
        const Use use = m_analysis.info(op.id).use(slot).use;
        if (m_analysis.program.value(v).kind != ir::ValueKind::Tensor || use == Use::Shape) return;
        if (use != Use::Reduced) {
            whole = std::max(whole, dep(v, RowClass{}));
            return;
        }
        reduced.push_back(v);
        if (m_analysis.hasRows(v)) space = m_analysis.rowSpace(v);
    });
    Home best;
    for (const RowClass& c : analysis::partitions(m_analysis, space)) {
        int stage = 0;
        for (ValueId v : reduced) stage = std::max(stage, dep(v, m_analysis.hasRows(v) ? c : RowClass{}));
        if (stage < best.stage) best = {stage, c};
    }
    for (ValueId v : op.outputs) best.stage = delayed(v, best.stage);
    m_reductions[op.id] = best;
    const int done = std::min(std::max(best.stage + 1, whole), never);
    for (ValueId v : op.outputs) {
        for (Cell& cell : cells(v)) cell.stage = done;
        m_home[v.at()] = {done, RowClass{}};
    }
}

}  // namespace hopscope::placement
