#include "placement/walkthrough.h"

#include <algorithm>
#include <map>

#include "optimiser/min_cut_relaxation.h"
#include "placement/model_instance.h"
#include "placement/rules.h"

namespace hopscope::placement {

namespace {

using analysis::Analysis;
using plan::OpId;
using plan::StageId;
using plan::WalkStep;
using Stages = std::map<OpId, std::vector<StageId>>;

// Values that depend on inputs alone can be computed in the first stage.
StageId stageOf(int label) { return StageId(std::max(1, label)); }

Stages stagesOf(const RuleTrace::Labels& labels)
{
    Stages stages;
    for (const auto& [op, label] : labels) stages[op] = {stageOf(label)};
    return stages;
}

void add(Stages& stages, OpId op, StageId stage)
{
    std::vector<StageId>& of = stages[op];
    if (of.empty() || of.back() != stage) of.push_back(stage);
}

Stages stagesOf(const plan::Plan& plan)
{
    Stages stages;
    for (const plan::Stage& stage : plan.stages) {
        for (const plan::Loop& loop : stage.loops)
            for (const auto* steps : {&loop.steps, &loop.reductions})
                for (const plan::Step& step : *steps) add(stages, step.op, stage.index);
        for (const OpId op : stage.rowless) add(stages, op, stage.index);
    }
    return stages;
}

// The operators that the plan runs in other stages than `shown`.
Stages differences(const Stages& shown, const Stages& planned)
{
    Stages moved;
    for (const auto& [op, stages] : planned)
        if (const auto now = shown.find(op); now == shown.end() || now->second != stages) moved[op] = stages;
    for (const auto& [op, stages] : shown)
        if (!planned.contains(op)) moved[op] = {};
    return moved;
}

std::vector<plan::MovedOp> listOf(const Stages& moved)
{
    std::vector<plan::MovedOp> list;
    for (const auto& [op, stages] : moved) list.push_back({op, stages});
    return list;
}

void addStores(const plan::Plan& plan, std::vector<WalkStep>& steps)
{
    std::vector<plan::Checkpoint> stores = plan.checkpoints;
    std::ranges::stable_sort(stores, {}, &plan::Checkpoint::stage);
    for (const plan::Checkpoint& store : stores)
        if (!store.output) steps.push_back({.kind = base::WalkKind::Store, .moved = {}, .stored = store.value});
}

}  // namespace

std::vector<WalkStep> walkthrough(const Analysis& analysis, const plan::Plan& plan)
{
    const RuleTrace rule = traceOf(analysis, plan.strategy);
    Stages shown = stagesOf(rule.labels);
    std::vector<WalkStep> steps{{.kind = base::WalkKind::Label, .moved = listOf(shown)}};
    for (const RuleTrace::Labels& pull : rule.pulls) {
        Stages moved = stagesOf(pull);
        std::erase_if(moved, [&](const auto& now) { return shown.at(now.first) == now.second; });
        if (moved.empty()) continue;  // from the inputs to the first stage, where they are shown already
        for (const auto& [op, stages] : moved) shown[op] = stages;
        steps.push_back({.kind = base::WalkKind::Pull, .moved = listOf(moved)});
    }
    if (const Stages moved = differences(shown, stagesOf(plan)); !moved.empty())
        steps.push_back({.kind = base::WalkKind::Settle, .moved = listOf(moved)});
    addStores(plan, steps);
    return steps;
}

base::Result<plan::Colouring> colouring(const Analysis& analysis, const CostModel& costs)
{
    const base::Result<ModelInstance> model = makeInstance(analysis, costs);
    if (!model) return base::forward(model);
    const optimiser::MinCutRelaxation cut = optimiser::minCutRelaxation(model->instance);
    std::set<plan::ValueId> stored;
    for (const optimiser::NodeId node : cut.storedNodes) stored.insert(model->origins[node.at()].value);
    plan::Colouring black{.cost = cut.cost, .stored = {stored.begin(), stored.end()}};
    if (const auto plan = evaluate(analysis, stored); !plan) black.missing = plan.error().message;
    return black;
}

}  // namespace hopscope::placement
