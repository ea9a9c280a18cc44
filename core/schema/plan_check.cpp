#include "schema/plan_check.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/naming/table_labels.h"
#include "analysis/naming/value_names.h"
#include "analysis/rows/classes.h"

namespace hopscope::schema {

namespace {

using analysis::Use;
using ir::OpId;
using ir::RowClass;
using ir::RowKind;
using ir::ValueId;
using json::Reader;

bool holds(const auto& list, const auto& item) { return std::ranges::find(list, item) != list.end(); }

class PlanCheck {
public:
    PlanCheck(const Reader& root, const plan::Plan& plan, const analysis::Analysis& analysis)
        : m_root(root),
          m_plan(plan),
          m_analysis(analysis),
          m_program(analysis.program)
    {}

    void run()
    {
        checkpoints();
        const std::vector<Reader> stages = m_root.items("stages");
        for (std::size_t i = 0; i < m_plan.stages.size() && m_root.ok(); ++i) stage(stages[i], m_plan.stages[i]);
        results();
    }

private:
    [[nodiscard]] std::string name(ValueId value) const
    {
        return "\"" + analysis::nameOfValue(m_analysis, value) + "\"";
    }
    [[nodiscard]] std::string nameOn(ValueId value, const RowClass& rows) const
    {
        return name(value) + " on " + analysis::rowsLabel(m_analysis.tables, rows);
    }
    [[nodiscard]] bool isResult(ValueId value) const
    {
        return std::ranges::any_of(m_program.outputs, [&](const ir::NamedValue& o) { return o.value == value; });
    }
    // Nothing has to compute it: there beforehand, or no tensor.
    [[nodiscard]] bool given(ValueId value) const
    {
        return m_analysis.available(value) || m_program.value(value).kind != ir::ValueKind::Tensor;
    }

    void checkpoints()
    {
        const std::vector<Reader> items = m_root.items("checkpoints");
        for (std::size_t i = 0; i < m_plan.checkpoints.size() && m_root.ok(); ++i) {
            const plan::Checkpoint& c = m_plan.checkpoints[i];
            if (!m_homes.try_emplace(c.value, c.stage).second) items[i].child("value").refuse("is stored twice");
            if (c.output != isResult(c.value))
                items[i].child("output").refuse(c.output ? "must be false: it is not a result of the model"
                                                         : "must be true: it is a result of the model");
        }
    }

    // ---- stages

    void stage(const Reader& item, const plan::Stage& stage)
    {
        const std::vector<Reader> loops = item.items("loops");
        for (std::size_t l = 0; l < stage.loops.size() && m_root.ok(); ++l)
            loop(item.child("ops"), loops[l], stage.loops[l], stage.index);
        for (const plan::Loop& loop : stage.loops) {
            for (const plan::Access& write : loop.writes) m_stored.insert(write.value);
            for (const plan::Step& reduction : loop.reductions) m_reduced.insert(reduction.op);
        }
    }

    void loop(const Reader& ops, const Reader& item, const plan::Loop& loop, plan::StageId stage)
    {
        m_done.clear();
        m_loop = &loop;
        reads(item.child("reads"));
        for (const plan::Step& step : loop.steps) this->step(ops, item, step);
        for (const plan::Access& write : loop.writes) this->write(ops, item.child("writes"), write, stage);
        for (const plan::Step& reduction : loop.reductions) reduce(ops, item.child("reductions"), reduction);
    }

    void reads(const Reader& list) const
    {
        for (const plan::Access& read : m_loop->reads)
            if (!given(read.value) && !m_stored.contains(read.value))
                list.refuse("has " + name(read.value) + ", which no earlier stage writes");
    }

    [[nodiscard]] bool ofThisLoop(const RowClass& rows) const
    {
        if (rows.kind == RowKind::Batch) return rows.table == m_loop->destination;
        return rows.kind != RowKind::Owned || analysis::loopOf(m_analysis, rows) == m_loop->destination;
    }

    void step(const Reader& ops, const Reader& loop, const plan::Step& step)
    {
        const ir::Op& op = m_program.op(step.op);
        const auto operands = analysis::operandRows(m_analysis, step.op, step.rows);
        if (!operands || !ofThisLoop(step.rows))
            return ops.refuse("has " + ir::describeOp(op) + " on " + analysis::rowsLabel(m_analysis.tables, step.rows) +
                              ", where it cannot be computed");
        for (const analysis::OperandRows& o : *operands) {
            needed(ops, o.value, o.rows, ir::describeOp(op));
            const plan::FrontierSource source{o.rows.table, o.gatherSpace, o.gatherOwner, o.gatherKey};
            if (o.gatherSpace.valid() && !holds(m_loop->frontier, source))
                loop.child("frontier").refuse("lacks the rows that " + ir::describeOp(op) + " gathers");
        }
        for (const ValueId output : op.outputs) m_done.insert({output, step.rows});
    }

    void needed(const Reader& ops, ValueId value, const RowClass& rows, const std::string& by) const
    {
        if (given(value)) return;
        if (rows.kind == RowKind::All) return wholeNeeded(ops, value, by);
        if (isDone(value, rows) || holds(m_loop->reads, plan::Access{value, rows})) return;
        ops.refuse("lacks " + nameOn(value, rows) + ": " + by +
                   " needs it, but no earlier step computes it, and the loop "
                   "does not read it");
    }

    void wholeNeeded(const Reader& field, ValueId value, const std::string& by) const
    {
        if (const std::optional<OpId> missing = unreduced(value))
            field.refuse("needs the result of " + ir::describeOp(m_program.op(*missing)) + " for " + by +
                         ", but no earlier stage reduces it");
    }

    // A value that a loop computes on the frontier of its own type exists for the batch's rows, which come first.
    [[nodiscard]] bool isDone(ValueId value, const RowClass& rows) const
    {
        if (m_done.contains({value, rows})) return true;
        const bool own = rows == RowClass{RowKind::Batch, m_loop->destination, {}};
        return own && m_done.contains({value, RowClass{RowKind::Frontier, m_loop->destination, {}}});
    }

    void write(const Reader& ops, const Reader& field, const plan::Access& write, plan::StageId stage)
    {
        const auto home = m_homes.find(write.value);
        if (home == m_homes.end() || home->second != stage)
            return field.refuse("has " + name(write.value) + ", which this stage does not store or writes twice");
        if (!covers(write.value, write.rows))
            return field.refuse("has " + nameOn(write.value, write.rows) +
                                ", which does not cover each of its rows exactly once");
        if (!isDone(write.value, write.rows))
            return ops.refuse("lacks " + nameOn(write.value, write.rows) + ", which the loop writes");
        m_homes.erase(home);
    }

    [[nodiscard]] bool covers(ValueId value, const RowClass& rows) const
    {
        return ofThisLoop(rows) && holds(analysis::partitions(m_analysis, m_analysis.rowSpace(value)), rows);
    }

    void reduce(const Reader& ops, const Reader& field, const plan::Step& reduction)
    {
        const ir::Op& op = m_program.op(reduction.op);
        const analysis::OpInfo& info = m_analysis.info(reduction.op);
        if (info.kind != analysis::OpKind::Reduce)
            return field.refuse("has " + ir::describeOp(op) + ", which is not a reduction");
        ir::forEachOperand(op, [&](ir::Slot slot, ValueId value) {
            if (info.use(slot).use != Use::Reduced || !m_analysis.hasRows(value)) return;
            if (!covers(value, reduction.rows))
                field.refuse("has " + ir::describeOp(op) + ", which does not reduce each of its rows exactly once");
            needed(ops, value, reduction.rows, ir::describeOp(op));
        });
    }

    // ---- values without rows

    // The reduction that the value follows from and that no earlier stage has finished.
    [[nodiscard]] std::optional<OpId> unreduced(ValueId value) const
    {
        if (given(value) || m_whole.contains(value)) return std::nullopt;
        const OpId producer = m_program.value(value).producer;
        const bool reduction = m_analysis.info(producer).kind == analysis::OpKind::Reduce;
        if (reduction && !m_reduced.contains(producer)) return producer;
        std::optional<OpId> missing;
        ir::forEachOperand(m_program.op(producer), [&](ir::Slot slot, ValueId operand) {
            const Use use = m_analysis.info(producer).use(slot).use;
            const bool gathered = reduction && use == Use::Reduced && m_analysis.hasRows(operand);
            if (!missing && use != Use::Shape && !gathered) missing = unreduced(operand);
        });
        if (!missing) m_whole.insert(value);
        return missing;
    }

    // ---- results

    void results() const
    {
        for (const auto& [value, stage] : m_homes)
            m_root.child("checkpoints")
                .refuse("has " + name(value) + " in stage " + std::to_string(stage.number) +
                        ", which does not write it");
        for (const ir::NamedValue& output : m_program.outputs) {
            if (given(output.value)) continue;
            if (!m_analysis.hasRows(output.value))
                wholeNeeded(m_root.child("stages"), output.value, "the result " + output.name);
            else if (!m_stored.contains(output.value))
                m_root.child("checkpoints").refuse("lacks " + name(output.value) + ", a result of the model");
        }
    }

    const Reader& m_root;
    const plan::Plan& m_plan;
    const analysis::Analysis& m_analysis;
    const ir::Program& m_program;
    std::map<ValueId, plan::StageId> m_homes;  // of stored values that nothing has written yet
    std::set<ValueId> m_stored;                // by earlier stages
    std::set<OpId> m_reduced;
    mutable std::set<ValueId> m_whole;  // values without rows that follow from these
    const plan::Loop* m_loop = nullptr;
    std::set<std::pair<ValueId, RowClass>> m_done;  // by steps of the loop
};

}  // namespace

void checkPlan(const json::Reader& root, const plan::Plan& plan, const analysis::Analysis& analysis)
{
    if (root.ok()) PlanCheck(root, plan, analysis).run();
}

}  // namespace hopscope::schema
