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

DepTable::DepTable(const Analysis& analysis, MayStore mayStore, std::set<ValueId> mustRead, NotBefore notBefore)
    : m_analysis(analysis),
      m_mayStore(std::move(mayStore)),
      m_mustRead(std::move(mustRead)),
      m_notBefore(std::move(notBefore)),
      m_comp(analysis.program.values.size()),
      m_home(analysis.program.values.size())
{
    for (const ir::Op& op : analysis.program.ops) {
        const analysis::OpInfo& info = analysis.info(op.id);
        if (info.structureOnly || info.kind == OpKind::Scalar) continue;
        if (info.kind == OpKind::Reduce) visitReduction(op);
        else visit(op);
    }
}

int DepTable::comp(ValueId v, const RowClass& rows) const
{
    if (m_analysis.available(v)) return 0;
    const auto& known = m_comp[v.at()];
    const auto it = known.find(rows);
    return it == known.end() ? never : it->second;
}

int DepTable::dep(ValueId v, const RowClass& rows) const
{
    if (m_analysis.available(v)) return 0;
    const int computed = comp(v, rows);
    if (rows.kind == RowKind::All || !m_mayStore(v)) return computed;
    const int readable = std::min(1 + m_home[v.at()].stage, never);
    return m_mustRead.contains(v) ? readable : std::min(computed, readable);
}

DepTable::Home DepTable::home(ValueId v) const { return m_home[v.at()]; }

DepTable::Home DepTable::reductionHome(ir::OpId op) const
{
    const auto it = m_reductions.find(op.index);
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

void DepTable::visit(const ir::Op& op)
{
    for (ValueId v : op.outputs) {
        const ir::SpaceId space = m_analysis.rowSpace(v);
        if (!space.valid()) {
            m_comp[v.at()][RowClass{}] = compute(op.id, RowClass{});
            m_home[v.at()] = {m_comp[v.at()][RowClass{}], RowClass{}};
            continue;
        }
        for (const RowClass& c : analysis::partitions(m_analysis, space)) {
            const int stage = compute(op.id, c);
            m_comp[v.at()][c] = stage;
            if (stage < m_home[v.at()].stage) m_home[v.at()] = {stage, c};
        }
        m_home[v.at()].stage = delayed(v, m_home[v.at()].stage);
        if (m_analysis.tables.space(space).kind != analysis::SpaceKind::Node) continue;
        const RowClass frontier{RowKind::Frontier, space, {}};
        m_comp[v.at()][frontier] = compute(op.id, frontier);
    }
}

// A reduction reads a partition class and is there for everybody from the next stage on.
void DepTable::visitReduction(const ir::Op& op)
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
    m_reductions[op.id.index] = best;
    const int done = std::min(std::max(best.stage + 1, whole), never);
    for (ValueId v : op.outputs) {
        m_comp[v.at()][RowClass{}] = done;
        m_home[v.at()] = {done, RowClass{}};
    }
}

}  // namespace hopscope::placement
