#include "placement/strategy.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "placement/pins.h"
#include "placement/rules.h"
#include "placement/scheduler.h"

namespace hopscope::placement {

namespace {

using analysis::Analysis;
using ir::ValueId;

base::Status splittable(const Analysis& a)
{
    if (a.refusal) return tl::unexpected(*a.refusal);
    return {};
}

bool isView(const Analysis& a, ValueId v) { return a.info(a.program.value(v).producer).view; }
int depthOf(const Analysis& a, ValueId v) { return a.info(a.program.value(v).producer).depth; }

// Every value is computed in the stage in which it is first complete, and read from then on. Values that depend on
// inputs alone are recomputed as late as possible. Views, gathers and selections belong to their consumers. So do
// messages: on the edges of their sources they are complete a stage earlier than on those of the destinations that want
// them, but rows of nodes are fewer than edges.
ReadRule depthRule(const Analysis& a, const DepTable& table)
{
    return [&a, &table](const Wanted& w) {
        const DepTable::Home home = table.home(w.value);
        const bool message = w.rows.kind == ir::RowKind::Owned && home.rows != w.rows;
        const bool kept = isStorable(a, w.value) && !isView(a, w.value) && depthOf(a, w.value) > 0 && !message;
        return w.computable > w.stage || (kept && home.stage < w.stage);
    };
}

// The values that a trace stores are read wherever they are complete.
ReadRule traceRule(const DepTable& table, const RuleTrace& trace)
{
    return [&table, cut = trace.stored](const Wanted& w) {
        return w.computable > w.stage || (cut.contains(w.value) && table.home(w.value).stage < w.stage);
    };
}

ReadRule readRuleOf(const Analysis& a, const DepTable& table, Strategy rule)
{
    switch (rule) {
    case Strategy::SourceRule: return traceRule(table, traceSourceRule(a));
    case Strategy::Depth:
    case Strategy::Optimal:
    case Strategy::LocalSearch: break;
    }
    return depthRule(a, table);
}

RuleTrace depthsOf(const Analysis& a)
{
    RuleTrace trace;
    for (const ir::Op& op : a.program.ops)
        if (!a.info(op.id).structureOnly && a.info(op.id).kind != analysis::OpKind::Scalar)
            trace.labels[op.id] = a.info(op.id).depth;
    return trace;
}

base::Result<std::set<ValueId>> storedBy(const Analysis& a, Strategy strategy)
{
    const DepTable table(a, [&a](ValueId v) { return isStorable(a, v); });
    const auto result = schedule(a, table, readRuleOf(a, table, strategy));
    if (!result) return base::forward(result);
    return result->stored;
}

void fillPrologue(const Analysis& a, plan::Plan& plan)
{
    for (const ir::Op& op : a.program.ops)
        if (a.info(op.id).structureOnly && a.info(op.id).kind != analysis::OpKind::Scalar)
            plan.prologue.push_back(op.id);
}

}  // namespace

RuleTrace traceOf(const Analysis& a, Strategy strategy)
{
    switch (strategy) {
    case Strategy::SourceRule: return traceSourceRule(a);
    case Strategy::Depth:
    case Strategy::Optimal:
    case Strategy::LocalSearch: break;
    }
    return depthsOf(a);
}

base::Result<std::set<ValueId>> strategyStores(const Analysis& a, Strategy strategy)
{
    assert(base::isRule(strategy));
    if (const auto ok = splittable(a); !ok) return base::forward(ok);
    return storedBy(a, strategy);
}

base::Result<plan::Plan> makePlan(const Analysis& a, Strategy strategy)
{
    const auto stored = strategyStores(a, strategy);
    if (!stored) return base::forward(stored);
    auto plan = evaluate(a, *stored);
    if (plan) plan->strategy = strategy;
    return plan;
}

namespace {

// Results of the model with rows are stored whatever has been decided.
void addResults(const Analysis& a, std::set<ValueId>& stored)
{
    for (const ir::NamedValue& o : a.program.outputs)
        if (a.hasRows(o.value)) stored.insert(o.value);
}

plan::Plan planOf(const Analysis& a, const Schedule& scheduled)
{
    plan::Plan plan;
    fillPrologue(a, plan);
    plan.stages = scheduled.stages;
    plan.checkpoints = scheduled.checkpoints;
    return plan;
}

}  // namespace

base::Result<plan::Plan> evaluate(const Analysis& a, const std::set<ValueId>& stored, const std::set<ValueId>& read)
{
    if (const auto ok = splittable(a); !ok) return base::forward(ok);
    std::set<ValueId> all = stored;
    addResults(a, all);
    const DepTable table(
        a, [&all](ValueId v) { return all.contains(v); }, read);
    const auto isRead = [&](const Wanted& w) { return all.contains(w.value) && table.home(w.value).stage < w.stage; };
    const base::Result<Schedule> scheduled = schedule(a, table, isRead);
    if (!scheduled) return base::forward(scheduled);
    return planOf(a, *scheduled);
}

struct Realisation {
    std::set<ValueId> stored;  // that may be
    std::set<Decisions::Read> reads;
    DepTable table;
    Schedule schedule;
};

namespace {

std::set<ValueId> storedBy(const Analysis& a, const Decisions& decisions)
{
    std::set<ValueId> stored;
    for (const auto& [value, stage] : decisions.written) stored.insert(value);
    addResults(a, stored);
    return stored;
}

DepTable tableOf(const Analysis& a, const std::set<ValueId>& stored, const Decisions& decisions,
                 const Realisation* before)
{
    if (before != nullptr) return {before->table, stored, decisions.written};
    return {a, [&stored](ValueId v) { return stored.contains(v); }, {}, decisions.written};
}

std::set<int> stagesThatDiffer(const std::set<Decisions::Read>& one, const std::set<Decisions::Read>& other)
{
    std::vector<Decisions::Read> reads;
    std::ranges::set_symmetric_difference(one, other, std::back_inserter(reads));
    std::set<int> stages;
    for (const Decisions::Read& read : reads) stages.insert(read.stage);
    return stages;
}

}  // namespace

base::Result<Realised> realise(const Analysis& a, const Decisions& decisions, const Realisation* before)
{
    if (const auto ok = splittable(a); !ok) return base::forward(ok);
    std::set<ValueId> all = storedBy(a, decisions);
    const DepTable table = tableOf(a, all, decisions, before);
    const auto isRead = [&](const Wanted& w) {
        const bool there = all.contains(w.value) && table.home(w.value).stage < w.stage;
        const bool decided = decisions.reads.contains(
            {.value = w.value, .rows = w.rows, .stage = w.stage, .destination = w.destination});
        return there && (decided || w.computable > w.stage);
    };
    std::optional<EarlierSchedule> earlier;
    if (before != nullptr)
        earlier.emplace(EarlierSchedule{before->schedule, stagesThatDiffer(before->reads, decisions.reads)});
    base::Result<Schedule> scheduled = schedule(a, table, isRead, earlier ? &*earlier : nullptr);
    if (!scheduled) return base::forward(scheduled);
    plan::Plan plan = planOf(a, *scheduled);
    return Realised{std::move(plan), std::make_shared<const Realisation>(
                                         Realisation{std::move(all), decisions.reads, table, std::move(*scheduled)})};
}

}  // namespace hopscope::placement
