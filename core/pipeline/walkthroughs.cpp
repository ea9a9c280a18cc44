#include "pipeline/walkthroughs.h"

#include "base/rules.h"
#include "pipeline/machine.h"
#include "schema/stages.h"
#include "json/optional.h"

namespace hopscope::pipeline {

namespace {

// Priced with the rows that the first plan's batches have.
base::Status addColouring(const Planning& planning, const plan::Plan& plan, Walkthroughs& all)
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

json::Value stepValue(const placement::WalkStep& step)
{
    json::Value item;
    item["kind"] = base::nameOf(step.kind);
    item["moved"] = json::Value::array();
    for (const auto& [op, stages] : step.moved) {
        json::Value moved;
        moved["op"] = ir::opName(op);
        moved["stages"] = schema::stageList(stages);
        item["moved"].push(std::move(moved));
    }
    item["stored"] = step.stored ? json::Value(ir::valueName(*step.stored)) : json::Value();
    return item;
}

json::Value colouringValue(const placement::Colouring& colouring)
{
    json::Value item;
    item["cost"] = colouring.cost;
    item["stored"] = json::Value::array();
    for (const plan::ValueId value : colouring.stored) item["stored"].push(ir::valueName(value));
    item["missing"] = json::orNull(colouring.missing);
    return item;
}

}  // namespace

base::Result<Walkthroughs> walkthroughs(const Planning& planning)
{
    PlanRequest request = planning.request;
    request.pins.clear();
    request.stages.reset();
    Walkthroughs all{.ways = {}, .unit = base::unitOf(request.objective)};
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

json::Value walkthroughsValue(const Walkthroughs& all)
{
    json::Value result;
    result["format"] = "hopscope-steps";
    result["version"] = "1.0";
    result["unit"] = base::nameOf(all.unit);
    result["ways"] = json::Value::array();
    for (const Walkthroughs::Way& way : all.ways) {
        json::Value item;
        item["strategy"] = base::nameOf(way.strategy);
        item["steps"] = json::Value::array();
        for (const placement::WalkStep& step : way.steps) item["steps"].push(stepValue(step));
        result["ways"].push(std::move(item));
    }
    result["colouring"] = all.colouring ? colouringValue(*all.colouring) : json::Value();
    return result;
}

}  // namespace hopscope::pipeline
