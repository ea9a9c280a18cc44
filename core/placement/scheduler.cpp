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

struct LoopSets {
    std::set<std::tuple<SpaceId, SpaceId, ir::KeyId, ir::KeyId>> frontier;
    std::set<std::pair<OpId, RowClass>> steps;
    std::set<std::pair<ValueId, RowClass>> reads, writes;
    std::set<std::pair<OpId, RowClass>> reductions;
};

struct Demand {
    SpaceId loop;
    ValueId value;
    RowClass rows;
    bool compute = false;  // at its home: write it, do not read it
};

// The data that all stages are made from.
struct Sources {
    const Analysis& analysis;
    const DepTable& table;
    const ReadRule& rule;
};

// The id of a stage in the plan: the scheduler and its table count from 0.
plan::StageId numberOf(int stage) { return plan::StageId::at(static_cast<std::size_t>(stage)); }

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

// Walks down to the operator that cannot run where it is needed.
base::Error stuckAt(const Sources& sources, ValueId v, RowClass rows)
{
    const Analysis& a = sources.analysis;
    for (bool deeper = true; deeper;) {
        deeper = false;
        const OpId op = a.program.value(v).producer;
        for (const OperandRows& o : analysis::operandRows(a, op, rows).value_or(std::vector<OperandRows>{})) {
            if (sources.table.dep(o.value, o.rows) < DepTable::never) continue;
            v = o.value;
            rows = o.rows;
            deeper = true;
            break;
        }
    }
    const ir::Op& op = a.program.op(a.program.value(v).producer);
    const SpaceId space = a.rowSpace(v);
    if (space.valid() && analysis::partitions(a, space).empty())
        return base::makeError(
            base::ErrorCode::Unsupported,
            ir::describeOp(op) + ": its result '" + analysis::nameOfValue(a, v) +
                "' has the rows of several tables, one below the other, and therefore belongs to none of them",
            "return the parts one by one, as in `return a, b` instead of torch.cat([a, b])", ir::describeOp(op));
    return base::makeError(base::ErrorCode::Unsupported,
                           ir::describeOp(op) + ": its result '" + analysis::nameOfValue(a, v) + "' is needed on " +
                               inWords(a.tables, rows) + ", where it can neither be computed nor read from a store",
                           a.hasRows(v) ? "store '" + analysis::nameOfValue(a, v) + "'"
                                        : "the model cannot be evaluated in batches of nodes",
                           ir::describeOp(op));
}

// Schedules the work of one stage.
class StageScheduler {
public:
    StageScheduler(const Sources& sources, int stage, StageDemand demand)
        : m_a(sources.analysis),
          m_sources(sources),
          m_stage(stage)
    {
        m_work.demand = std::move(demand);
    }

    base::Result<StageWork> run()
    {
        for (const auto& [value, rows] : m_work.demand.writes) {
            const SpaceId loop = analysis::loopOf(m_a, rows);
            m_loops[loop].writes.insert({value, rows});
            m_demands.push_back({.loop = loop, .value = value, .rows = rows, .compute = true});
        }
        for (const auto& [op, rows] : m_work.demand.reductions) reduce(op, rows);
        while (!m_demands.empty() && !m_error) {
            const Demand d = m_demands.back();
            m_demands.pop_back();
            serve(d);
        }
        if (m_error) return tl::unexpected(*m_error);
        return result();
    }

private:
    void reduce(OpId op, const RowClass& rows)
    {
        const SpaceId loop = analysis::loopOf(m_a, rows);
        m_loops[loop].reductions.insert({op, rows});
        ir::forEachOperand(m_a.program.op(op), [&](ir::Slot s, ValueId u) {
            if (m_a.info(op).use(s).use == Use::Reduced && m_a.hasRows(u))
                m_demands.push_back({.loop = loop, .value = u, .rows = rows, .compute = false});
        });
    }

    void serve(const Demand& d)
    {
        if (m_a.program.value(d.value).kind != ir::ValueKind::Tensor) return;
        const bool available = m_a.available(d.value);
        if (d.rows.kind == RowKind::All) {
            if (!available) m_work.wholes.push_back(d.value);
            return;
        }
        LoopSets& loop = m_loops[d.loop];
        if (available) {
            if (!m_a.info(d.value).structureOnly) loop.reads.insert({d.value, d.rows});
            return;
        }
        m_work.asked.push_back(d.value);
        const int computable = m_sources.table.comp(d.value, d.rows);
        if (!d.compute && m_sources.rule({.value = d.value,
                                          .rows = d.rows,
                                          .computable = computable,
                                          .stage = m_stage,
                                          .destination = d.loop})) {
            loop.reads.insert({d.value, d.rows});
            return m_work.reads.push_back(d.value);
        }
        if (computable > m_stage) m_error = stuckAt(m_sources, d.value, d.rows);
        else step(d, loop);
    }

    void step(const Demand& d, LoopSets& loop)
    {
        const OpId op = m_a.program.value(d.value).producer;
        const bool own = d.rows == RowClass{RowKind::Batch, d.loop, {}};
        if (own && m_work.demand.known.contains({d.loop, op})) return;
        if (!loop.steps.insert({op, d.rows}).second) return;
        const std::vector<OperandRows> operands =
            analysis::operandRows(m_a, op, d.rows).value_or(std::vector<OperandRows>{});
        for (const OperandRows& o : operands) {
            if (o.gatherSpace.valid()) loop.frontier.insert({o.rows.table, o.gatherSpace, o.gatherOwner, o.gatherKey});
            m_demands.push_back({.loop = d.loop, .value = o.value, .rows = o.rows, .compute = false});
        }
    }

    static void sortOnce(std::vector<ValueId>& values)
    {
        std::ranges::sort(values);
        values.erase(std::unique(values.begin(), values.end()), values.end());
    }

    StageWork result()
    {
        for (const auto& [destination, sets] : m_loops) {
            m_work.loops.push_back(loopOf(destination, sets));
            for (const auto& [op, rows] : sets.steps)
                if (rows == RowClass{RowKind::Frontier, destination, {}}) m_work.onFrontier.insert({destination, op});
        }
        for (auto* const list : {&m_work.reads, &m_work.wholes, &m_work.asked}) sortOnce(*list);
        return std::move(m_work);
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
    const Sources& m_sources;
    int m_stage;
    StageWork m_work;
    std::map<SpaceId, LoopSets> m_loops;
    std::vector<Demand> m_demands;
    std::optional<base::Error> m_error;
};

// Schedules the stages one by one, from the last to the first: a stage needs stores of earlier ones only.
class Scheduler {
public:
    // `known`, by stage: see StageDemand. `works`: the stages of the same attempt in the earlier schedule.
    Scheduler(const Sources& sources, const std::map<int, OnFrontier>& known, const EarlierSchedule* earlier,
              const StageWorks* works)
        : m_a(sources.analysis),
          m_table(sources.table),
          m_sources(sources),
          m_known(known),
          m_earlier(earlier),
          m_earlierWorks(works)
    {}

    base::Result<StageWorks> run()
    {
        for (const ir::NamedValue& o : m_a.program.outputs) want(o.value);
        while (!m_open.empty() && !m_error) {
            const int stage = *m_open.rbegin();
            m_open.erase(stage);
            serve(stage);
        }
        if (m_error) return tl::unexpected(*m_error);
        return std::move(m_works);
    }

    [[nodiscard]] Schedule result(const StageWorks& works) const
    {
        Schedule out;
        out.stored = m_stored;
        std::map<int, plan::Stage> stages;
        for (const auto& [stage, work] : works) stages[stage].loops = work->loops;
        for (const auto& [stage, ops] : m_rowless) stages[stage].rowless.assign(ops.begin(), ops.end());
        for (auto& [stage, made] : stages) {
            made.index = numberOf(stage);
            out.stages.push_back(std::move(made));
        }
        for (const ValueId v : m_stored) {
            plan::Checkpoint c;
            c.value = v;
            c.stage = numberOf(m_table.home(v).stage);
            for (const ir::NamedValue& o : m_a.program.outputs) c.output = c.output || o.value == v;
            out.checkpoints.push_back(c);
        }
        return out;
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
        if (home.stage >= DepTable::never) return stuck(v, firstClass(v));
        demandOf(home.stage).writes.insert({v, home.rows});
    }

    // Values without rows, computed at the end of a stage: reductions and values that depend on them.
    void wantWhole(ValueId v)
    {
        if (m_a.available(v) || m_a.program.value(v).kind != ir::ValueKind::Tensor) return;
        const OpId op = m_a.program.value(v).producer;
        if (!m_whole.insert(op).second) return;
        const int done = m_table.comp(v, RowClass{});
        if (done >= DepTable::never) return stuck(v, RowClass{});
        const bool reduction = m_a.info(op).kind == OpKind::Reduce;
        if (reduction) reduce(op);
        else m_rowless[std::max(done - 1, 0)].insert(op);
        ir::forEachOperand(m_a.program.op(op), [&](ir::Slot s, ValueId u) {
            const Use use = m_a.info(op).use(s).use;
            const bool gathered = reduction && use == Use::Reduced && m_a.hasRows(u);
            if (use != Use::Shape && !gathered) wantWhole(u);
        });
    }

    void reduce(OpId op)
    {
        const DepTable::Home home = m_table.reductionHome(op);
        demandOf(home.stage).reductions.insert({op, home.rows});
    }

    StageDemand& demandOf(int stage)
    {
        m_open.insert(stage);
        const auto [it, fresh] = m_demands.try_emplace(stage);
        if (!fresh) return it->second;
        if (const auto known = m_known.find(stage); known != m_known.end()) it->second.known = known->second;
        return it->second;
    }

    void serve(int stage)
    {
        auto work = earlierWork(stage);
        if (!work) {
            base::Result<StageWork> made = StageScheduler(m_sources, stage, m_demands[stage]).run();
            if (!made) {
                if (!m_error) m_error = made.error();
                return;
            }
            work = std::make_shared<const StageWork>(std::move(*made));
        }
        m_works[stage] = work;
        for (const ValueId v : work->reads) store(v);
        for (const ValueId v : work->wholes) wantWhole(v);
    }

    [[nodiscard]] std::shared_ptr<const StageWork> earlierWork(int stage) const
    {
        if (m_earlier == nullptr || m_earlier->stages.contains(stage)) return nullptr;
        const auto found = m_earlierWorks->find(stage);
        if (found == m_earlierWorks->end()) return nullptr;
        const StageWork& work = *found->second;
        const auto same = [this](ValueId v) { return !m_table.differs(v); };
        return work.demand == m_demands.at(stage) && std::ranges::all_of(work.asked, same) ? found->second : nullptr;
    }

    // Rows of several tables, one below the other, belong to none.
    [[nodiscard]] RowClass firstClass(ValueId v) const
    {
        const std::vector<RowClass> classes = analysis::partitions(m_a, m_a.rowSpace(v));
        return classes.empty() ? RowClass{} : classes.front();
    }

    void stuck(ValueId v, const RowClass& rows)
    {
        if (!m_error) m_error = stuckAt(m_sources, v, rows);
    }

    const Analysis& m_a;
    const DepTable& m_table;
    const Sources& m_sources;
    const std::map<int, OnFrontier>& m_known;
    const EarlierSchedule* m_earlier;
    const StageWorks* m_earlierWorks;
    std::map<int, StageDemand> m_demands;
    std::set<int> m_open;  // stages whose demand has grown
    StageWorks m_works;
    std::map<int, std::set<OpId>> m_rowless;
    std::set<ValueId> m_stored;
    std::set<OpId> m_whole;
    std::optional<base::Error> m_error;
};

std::map<int, OnFrontier> onFrontier(const StageWorks& works)
{
    std::map<int, OnFrontier> found;
    for (const auto& [stage, work] : works)
        if (!work->onFrontier.empty()) found.emplace(stage, work->onFrontier);
    return found;
}

}  // namespace

base::Result<Schedule> schedule(const Analysis& analysis, const DepTable& table, const ReadRule& rule,
                                const EarlierSchedule* earlier)
{
    const Sources sources{analysis, table, rule};
    std::map<int, OnFrontier> known;
    std::array<StageWorks, 3> works;
    for (std::size_t attempt = 0;; ++attempt) {
        Scheduler scheduler(sources, known, earlier, earlier ? &earlier->schedule.works.at(attempt) : nullptr);
        base::Result<StageWorks> made = scheduler.run();
        if (!made) return base::forward(made);
        works.at(attempt) = std::move(*made);
        std::map<int, OnFrontier> left = onFrontier(works.at(attempt));
        // Some may have been on the frontier for the sake of steps that are gone. Fewer assumptions leave more steps, so
        // those that are left hold.
        const bool settled = attempt == 0 ? left.empty() : left == known;
        if (settled || attempt + 1 == works.size()) {
            Schedule out = scheduler.result(works.at(attempt));
            out.works = std::move(works);
            return out;
        }
        known = std::move(left);
    }
}

}  // namespace hopscope::placement
