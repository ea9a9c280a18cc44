#include "placement/account.h"

#include <algorithm>
#include <set>

#include "analysis/rows/classes.h"

namespace hopscope::placement {

namespace {

using analysis::Analysis;
using ir::RowClass;
using ir::RowKind;
using ir::ValueId;

// Adds the costs of one loop.
class Bookkeeper {
public:
    Bookkeeper(const Analysis& a, const CostModel& costs, const plan::Loop& loop, plan::StageId stage, Account& account)
        : m_a(a),
          m_costs(costs),
          m_loop(loop),
          m_stage(stage),
          m_account(account)
    {
        for (const plan::Access& read : loop.reads) m_reads.insert({read.value, read.rows});
    }

    void enter()
    {
        m_account.stages += m_costs.stage(m_loop.destination);
        for (const plan::Access& w : m_loop.writes)
            m_account.values[w.value].write += m_costs.write(w.value, w.rows, m_loop.destination);
        for (const auto* steps : {&m_loop.steps, &m_loop.reductions})
            for (const plan::Step& step : *steps) compute(step);
        for (const auto& [value, rows] : m_reads)
            if (!covered(m_reads, value, rows))
                m_account.values[value].read += m_costs.read(value, rows, m_loop.destination);
        structure();
    }

private:
    using Reads = std::set<std::pair<ValueId, RowClass>>;

    // Own rows come first on a frontier of their type.
    [[nodiscard]] bool covered(const Reads& reads, ValueId value, const RowClass& rows) const
    {
        return rows.kind == RowKind::Batch && rows.table == m_loop.destination &&
               reads.contains({value, {RowKind::Frontier, rows.table, {}}});
    }

    void compute(const plan::Step& step)
    {
        ValueAccount& value = m_account.values[m_a.program.op(step.op).outputs.at(0)];
        value.compute += m_costs.compute(step.op, step.rows, m_loop.destination);
        if (value.stages.empty() || value.stages.back() != m_stage) value.stages.push_back(m_stage);
        readStructure(step);
    }

    [[nodiscard]] bool isStructure(ValueId v) const
    {
        const analysis::ValueInfo& info = m_a.info(v);
        return info.structureOnly && !info.uniform && !info.sparse && m_a.hasRows(v);
    }

    void readStructure(const plan::Step& step)
    {
        bool any = false;
        ir::forEachOperand(m_a.program.op(step.op), [&](ir::Slot, ValueId v) { any = any || isStructure(v); });
        if (!any) return;
        const auto operands = analysis::operandRows(m_a, step.op, step.rows);
        if (!operands) return;
        for (const analysis::OperandRows& o : *operands) {
            if (o.rows.kind == RowKind::All || m_a.program.value(o.value).kind != ir::ValueKind::Tensor) continue;
            if (isStructure(o.value)) m_structure.insert({o.value, o.rows});
        }
    }

    void structure()
    {
        for (const auto& [value, rows] : m_structure)
            if (!covered(m_structure, value, rows))
                m_account.structure += m_costs.read(value, rows, m_loop.destination);
        for (const plan::FrontierSource& s : m_loop.frontier)
            if (!m_costs.residency().inPlace() || numbered(s.type))
                m_account.structure += m_costs.relation(s.space, s.owner, s.type, m_loop.destination);
    }

    // Whether the host numbers the frontier although adjacencies stay on the device.
    [[nodiscard]] bool numbered(ir::SpaceId type) const
    {
        const RowClass frontier{RowKind::Frontier, type, {}};
        const auto computes = [&](const plan::Step& s) { return s.rows == frontier && !m_a.info(s.op).view; };
        return std::ranges::any_of(m_loop.steps, computes) || std::ranges::any_of(m_reads, [&](const auto& read) {
                   return read.second == frontier && !m_costs.residency().holds(read.first);
               });
    }

    const Analysis& m_a;
    const CostModel& m_costs;
    const plan::Loop& m_loop;
    plan::StageId m_stage;
    Account& m_account;
    Reads m_reads, m_structure;
};

void enter(const Analysis& a, const CostModel& costs, const plan::Stage& stage, Account& account)
{
    for (const plan::Loop& loop : stage.loops) Bookkeeper(a, costs, loop, stage.index, account).enter();
}

}  // namespace

double Account::total() const
{
    double sum = structure + stages;
    for (const auto& [value, account] : values) sum += account.total();
    return sum;
}

Account accountOf(const Analysis& analysis, const CostModel& costs, const plan::Plan& plan)
{
    Account account;
    for (const plan::Stage& stage : plan.stages) enter(analysis, costs, stage, account);
    return account;
}

std::vector<double> stageCosts(const Analysis& analysis, const CostModel& costs, const plan::Plan& plan)
{
    std::vector<double> sums;
    for (const plan::Stage& stage : plan.stages) {
        Account account;
        enter(analysis, costs, stage, account);
        sums.push_back(account.total());
    }
    return sums;
}

}  // namespace hopscope::placement
