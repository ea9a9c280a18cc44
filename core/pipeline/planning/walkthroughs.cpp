#include "pipeline/planning/walkthroughs.h"

#include "base/rules.h"
#include "pipeline/machine/machine.h"
#include "placement/walkthrough.h"

namespace hopscope::pipeline {

namespace {

// Adds the colouring, priced for the rows of the first plan's batches.
base::Status addColouring(const Planning& planning, const plan::Plan& plan, plan::Walkthroughs& all)
{
    if (!planning.prepared.hasData()) return {};
    const PlanRequest& request = planning.request;
    base::Result<plan::RowCounts> rows = planning.predictor.countRows(plan, request.limits, planning.stop);
    if (!rows) return base::forward(rows);
    const placement::CostModel costs(planning.prepared.analysis, request.objective, machineFor(request.device),
                                     std::move(*rows));
    if (auto black = placement::colouring(planning.prepared.analysis, costs)) all.colouring = std::move(*black);
    return {};
}

}  // namespace

base::Result<plan::Walkthroughs> walkthroughs(const Planning& planning)
{
    PlanRequest request = planning.request;
    request.pins.clear();
    request.stages.reset();
    plan::Walkthroughs all{.unit = base::unitOf(request.objective)};
    std::vector<base::Strategy> strategies(base::rules.begin(), base::rules.end());
    strategies.push_back(base::Strategy::Optimal);
    for (const base::Strategy strategy : strategies) {
        request.strategy = strategy;
        const auto made = planFor(planning.prepared, planning.predictor, request, planning.progress, planning.stop);
        if (!made && made.error().code == base::ErrorCode::Unsupported) continue;
        if (!made) return base::forward(made);
        all.ways.push_back({strategy, placement::walkthrough(planning.prepared.analysis, made->plan)});
        if (all.ways.size() > 1) continue;
        if (const base::Status added = addColouring(planning, made->plan, all); !added) return base::forward(added);
    }
    return all;
}

}  // namespace hopscope::pipeline
