#include "placement/strategy.h"

#include "placement/scheduler.h"
#include "placement/source_rule.h"

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

// Every value is computed in the stage in which it is first complete, and read from then on; what follows from inputs
// alone is redone as late as possible; views, gathers and selections belong to their consumers.
ReadRule depthRule(const Analysis& a, const DepTable& table)
{
    return [&a, &table](ValueId v, int computable, int stage) {
        return computable > stage || (table.home(v).stage < stage && !isView(a, v) && depthOf(a, v) > 0);
    };
}

ReadRule preferred(const DepTable& table, const std::set<ValueId>& cut)
{
    return [&table, &cut](ValueId v, int computable, int stage) {
        return computable > stage || (cut.contains(v) && table.home(v).stage < stage);
    };
}

base::Result<std::set<ValueId>> storedBy(const Analysis& a, Strategy strategy)
{
    const DepTable table(a, [&a](ValueId v) { return a.hasRows(v); });
    const std::set<ValueId> cut = strategy == Strategy::SourceRule ? sourceRuleCut(a) : std::set<ValueId>{};
    const auto result =
        schedule(a, table, strategy == Strategy::SourceRule ? preferred(table, cut) : depthRule(a, table));
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

base::Result<Strategy> parseStrategy(const std::string& name)
{
    if (name == "depth") return Strategy::Depth;
    if (name == "source-rule") return Strategy::SourceRule;
    return base::fail(base::ErrorCode::Usage, "unknown strategy '" + name + "'", "use depth or source-rule");
}

const char* strategyName(Strategy strategy) { return strategy == Strategy::Depth ? "depth" : "source-rule"; }

base::Result<std::set<ValueId>> strategyStores(const Analysis& a, Strategy strategy)
{
    if (const auto ok = splittable(a); !ok) return base::forward(ok);
    return storedBy(a, strategy);
}

base::Result<plan::Plan> makePlan(const Analysis& a, Strategy strategy)
{
    const auto stored = strategyStores(a, strategy);
    if (!stored) return base::forward(stored);
    auto plan = evaluate(a, *stored);
    if (plan) plan->strategy = strategyName(strategy);
    return plan;
}

base::Result<plan::Plan> evaluate(const Analysis& a, const std::set<ValueId>& stored, const std::set<ValueId>& read)
{
    if (const auto ok = splittable(a); !ok) return base::forward(ok);
    std::set<ValueId> all = stored;
    for (const ir::NamedValue& o : a.program.outputs)
        if (a.hasRows(o.value)) all.insert(o.value);
    const DepTable table(
        a, [&all](ValueId v) { return all.contains(v); }, read);
    const auto isRead = [&](ValueId v, int, int stage) { return all.contains(v) && table.home(v).stage < stage; };
    auto scheduled = schedule(a, table, isRead);
    if (!scheduled) return base::forward(scheduled);
    plan::Plan plan;
    plan.strategy = "pins";
    fillPrologue(a, plan);
    plan.stages = std::move(scheduled->stages);
    plan.checkpoints = std::move(scheduled->checkpoints);
    return plan;
}

}  // namespace hopscope::placement
