#include "placement/scheduler.h"

#include <algorithm>

#include "analysis/naming/table_labels.h"
#include "analysis/naming/value_names.h"

namespace hopscope::placement {

namespace {

using analysis::Analysis;
using analysis::OperandRows;
using analysis::OpKind;
using analysis::Use;
using ir::OpId;
using ir::RowClass;
using ir::RowKind;
using ir::SpaceId;
using ir::ValueId;

struct LoopKey {
    int stage = 0;
    SpaceId destination;
    auto operator<=>(const LoopKey&) const = default;
};

struct LoopSets {
    std::set<std::tuple<SpaceId, SpaceId, ir::KeyId, ir::KeyId>> frontier;
    std::set<std::pair<OpId, RowClass>> steps;
    std::set<std::pair<ValueId, RowClass>> reads, writes;
    std::set<std::pair<OpId, RowClass>> reductions;
};

struct Demand {
    LoopKey loop;
    ValueId value;
    RowClass rows;
    bool compute = false;  // at its home: write it, do not read it
};

// Of a plan's stage: the scheduler and its table count from 0.
plan::StageId numberOf(int stage) { return plan::StageId::at(static_cast<std::size_t>(stage)); }

using OnFrontier = std::set<std::pair<LoopKey, OpId>>;  // operators computed on the frontier of a loop's own type

std::string inWords(const analysis::Tables& tables, const RowClass& rows)
{
    switch (rows.kind) {
    case RowKind::Batch: return "the destination rows of " + analysis::tableLabel(tables, rows.table);
    case RowKind::Owned:
        return "the rows of " + analysis::tableLabel(tables, rows.table) + " that belong to destination nodes";
    case RowKind::Frontier: return "the frontier rows of " + analysis::tableLabel(tables, rows.table);
    case RowKind::All: return "all rows at once";
    }
    return {};
}

class Scheduler {
public:
    // Operators in `known` need no step on the batch's rows: these come first in the frontier.
    Scheduler(const Analysis& a, const DepTable& table, const ReadRule& rule, const OnFrontier& known)
        : m_a(a),
          m_table(table),
          m_rule(rule),
          m_known(known)
    {}

    base::Result<Schedule> run()
    {
        for (const ir::NamedValue& o : m_a.program.outputs) want(o.value);
        while (!m_demands.empty() && !m_error) {
            const Demand d = m_demands.back();
            m_demands.pop_back();
            serve(d);
        }
        if (m_error) return tl::unexpected(*m_error);
        return result();
    }

    [[nodiscard]] OnFrontier onFrontier() const
    {
        OnFrontier found;
        for (const auto& [key, sets] : m_loops)
            for (const auto& [op, rows] : sets.steps)
                if (rows == RowClass{RowKind::Frontier, key.destination, {}}) found.insert({key, op});
        return found;
    }

private:
    void want(ValueId v)
    {
        if (m_a.available(v) || m_a.program.value(v).kind != ir::ValueKind::Tensor) return;
        if (m_a.hasRows(v)) store(v);
        else wantWhole(v);
    }

    void store(ValueId v)
    {
        if (!m_stored.insert(v).second) return;
        const DepTable::Home home = m_table.home(v);
        if (home.stage >= DepTable::never) return stuck(v, analysis::partitions(m_a, m_a.rowSpace(v)).front());
        const LoopKey loop{home.stage, analysis::loopOf(m_a, home.rows)};
        m_loops[loop].writes.insert({v, home.rows});
        m_demands.push_back({.loop = loop, .value = v, .rows = home.rows, .compute = true});
    }

    // Values without rows: reductions and what follows from them, at the end of a stage.
    void wantWhole(ValueId v)
    {
        if (m_a.available(v) || m_a.program.value(v).kind != ir::ValueKind::Tensor) return;
        const OpId op = m_a.program.value(v).producer;
        if (!m_whole.insert(op).second) return;
        const int done = m_table.comp(v, RowClass{});
        if (done >= DepTable::never) return stuck(v, RowClass{});
        if (m_a.info(op).kind == OpKind::Reduce) return reduce(op);
        m_rowless[std::max(done - 1, 0)].insert(op);
        ir::forEachOperand(m_a.program.op(op), [&](ir::Slot s, ValueId u) {
            if (m_a.info(op).use(s).use != Use::Shape) wantWhole(u);
        });
    }

    void reduce(OpId op)
    {
        const DepTable::Home home = m_table.reductionHome(op);
        const LoopKey loop{home.stage, analysis::loopOf(m_a, home.rows)};
        m_loops[loop].reductions.insert({op, home.rows});
        ir::forEachOperand(m_a.program.op(op), [&](ir::Slot s, ValueId u) {
            const Use use = m_a.info(op).use(s).use;
            if (use == Use::Shape) return;
            if (use == Use::Reduced && m_a.hasRows(u))
                m_demands.push_back({.loop = loop, .value = u, .rows = home.rows, .compute = false});
            else wantWhole(u);
        });
    }

    void serve(const Demand& d)
    {
        if (m_a.program.value(d.value).kind != ir::ValueKind::Tensor) return;
        if (d.rows.kind == RowKind::All) return wantWhole(d.value);
        LoopSets& loop = m_loops[d.loop];
        if (m_a.available(d.value)) {
            if (!m_a.info(d.value).structureOnly) loop.reads.insert({d.value, d.rows});
            return;
        }
        const int computable = m_table.comp(d.value, d.rows);
        if (!d.compute && m_rule({.value = d.value,
                                  .rows = d.rows,
                                  .computable = computable,
                                  .stage = d.loop.stage,
                                  .destination = d.loop.destination})) {
            loop.reads.insert({d.value, d.rows});
            return store(d.value);
        }
        if (computable > d.loop.stage) return stuck(d.value, d.rows);
        step(d, loop);
    }

    void step(const Demand& d, LoopSets& loop)
    {
        const OpId op = m_a.program.value(d.value).producer;
        const bool own = d.rows == RowClass{RowKind::Batch, d.loop.destination, {}};
        if (own && m_known.contains({d.loop, op})) return;
        if (!loop.steps.insert({op, d.rows}).second) return;
        const std::vector<OperandRows> operands =
            analysis::operandRows(m_a, op, d.rows).value_or(std::vector<OperandRows>{});
        for (const OperandRows& o : operands) {
            if (o.gatherSpace.valid()) loop.frontier.insert({o.rows.table, o.gatherSpace, o.gatherOwner, o.gatherKey});
            m_demands.push_back({.loop = d.loop, .value = o.value, .rows = o.rows, .compute = false});
        }
    }

    // Walks down to the operator that cannot run where it is needed.
    void stuck(ValueId v, RowClass rows)
    {
        if (m_error) return;
        for (bool deeper = true; deeper;) {
            deeper = false;
            const OpId op = m_a.program.value(v).producer;
            for (const OperandRows& o : analysis::operandRows(m_a, op, rows).value_or(std::vector<OperandRows>{})) {
                if (m_table.dep(o.value, o.rows) < DepTable::never) continue;
                v = o.value;
                rows = o.rows;
                deeper = true;
                break;
            }
        }
        const ir::Op& op = m_a.program.op(m_a.program.value(v).producer);
        m_error =
            base::makeError(base::ErrorCode::Unsupported,
                            ir::describeOp(op) + ": its result '" + analysis::nameOfValue(m_a, v) + "' is needed on " +
                                inWords(m_a.tables, rows) + ", where it can neither be computed nor read from a store",
                            m_a.hasRows(v) ? "store '" + analysis::nameOfValue(m_a, v) + "'"
                                           : "the model cannot be evaluated in batches of nodes",
                            ir::describeOp(op));
    }

    Schedule result()
    {
        Schedule out;
        out.stored = m_stored;
        std::map<int, plan::Stage> stages;
        for (auto& [key, sets] : m_loops) {
            plan::Stage& stage = stages[key.stage];
            stage.index = numberOf(key.stage);
            stage.loops.push_back(loopOf(key.destination, sets));
        }
        for (const auto& [stage, ops] : m_rowless) {
            stages[stage].index = numberOf(stage);
            stages[stage].rowless.assign(ops.begin(), ops.end());
        }
        for (auto& [index, stage] : stages) out.stages.push_back(std::move(stage));
        for (ValueId v : m_stored) {
            plan::Checkpoint c;
            c.value = v;
            c.stage = numberOf(m_table.home(v).stage);
            for (const ir::NamedValue& o : m_a.program.outputs) c.output = c.output || o.value == v;
            out.checkpoints.push_back(c);
        }
        return out;
    }

    static plan::Loop loopOf(SpaceId destination, const LoopSets& sets)
    {
        plan::Loop loop;
        loop.destination = destination;
        for (const auto& [type, space, owner, key] : sets.frontier)
            loop.frontier.push_back({.type = type, .space = space, .owner = owner, .key = key});
        for (const auto& [op, rows] : sets.steps) loop.steps.push_back({op, rows});
        for (const auto& [v, rows] : sets.reads) loop.reads.push_back({v, rows});
        for (const auto& [v, rows] : sets.writes) loop.writes.push_back({v, rows});
        for (const auto& [op, rows] : sets.reductions) loop.reductions.push_back({op, rows});
        return loop;
    }

    const Analysis& m_a;
    const DepTable& m_table;
    const ReadRule& m_rule;
    const OnFrontier& m_known;
    std::map<LoopKey, LoopSets> m_loops;
    std::map<int, std::set<OpId>> m_rowless;
    std::set<ValueId> m_stored;
    std::set<OpId> m_whole;
    std::vector<Demand> m_demands;
    std::optional<base::Error> m_error;
};

}  // namespace

base::Result<Schedule> schedule(const Analysis& analysis, const DepTable& table, const ReadRule& rule)
{
    const OnFrontier none;
    Scheduler all(analysis, table, rule, none);
    base::Result<Schedule> result = all.run();
    const OnFrontier known = all.onFrontier();
    if (!result || known.empty()) return result;
    Scheduler fewer(analysis, table, rule, known);
    result = fewer.run();
    const OnFrontier left = fewer.onFrontier();
    if (!result || left == known) return result;
    // Some were on the frontier for the sake of steps that are gone. Fewer assumptions leave more steps, so these hold.
    return Scheduler(analysis, table, rule, left).run();
}

}  // namespace hopscope::placement
