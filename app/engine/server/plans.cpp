#include "pipeline/devices.h"
#include "pipeline/explanation.h"
#include "pipeline/memory_fit.h"
#include "pipeline/prediction.h"
#include "pipeline/repairs.h"
#include "pipeline/walkthroughs.h"
#include "schema/documents.h"
#include "schema/names.h"
#include "schema/pins.h"
#include "server/documents.h"
#include "json/names.h"
#include "json/optional.h"

namespace hopscope::engine {

namespace {

constexpr std::size_t mostPins = 10'000;
constexpr int mostStages = 1000;

std::vector<plan::Pin> pinsOf(const json::Reader& params, const analysis::Analysis& analysis)
{
    if (!params.has("pins")) return {};
    const json::Reader list = params.child("pins");
    if (list.items().size() > mostPins) list.refuse("holds too many pins");
    return schema::readPins(list, schema::Names(analysis));
}

}  // namespace

base::Objective objectiveOf(const json::Reader& params)
{
    if (!params.has("objective")) return base::Objective::Time;
    return json::named<base::Objective>(params, "objective");
}

std::optional<int> stagesOf(const json::Reader& params)
{
    const auto stages = params.maybe<int>("stages");
    if (stages && (*stages < 1 || *stages > mostStages)) params.child("stages").refuse("must be 1 to 1000");
    return stages;
}

std::optional<double> deadlineOf(const json::Reader& params)
{
    const auto seconds = params.maybe<double>("deadline");
    if (seconds && !(*seconds > 0)) params.child("deadline").refuse("must be more than 0");
    return seconds;
}

namespace {

// Fills in what follows from the plan, and answers with all of it.
Outcome answer(Document& document, plan::Plan& plan, const std::vector<std::string>& notes,
               const forecast::PredictOptions& options, const Call& call)
{
    const pipeline::Prepared& prepared = document.prepared;
    json::Value result;
    result["predicted"] = json::Value();
    result["notes"] = json::Value(notes);
    if (prepared.hasData()) {
        call.progress({"counting rows per batch", 0, 0});
        forecast::PredictOptions here = options;
        here.staysBeside = true;
        const auto forecast = pipeline::forecastOf(prepared, document.predictor, plan, here, call.stop);
        if (!forecast) return failed(forecast.error());
        if (const base::Status fits =
                pipeline::checkMemory(plan, forecast->prediction, document.predictor, options, call.stop);
            !fits)
            return failed(fits.error());
        pipeline::fillPlan(plan, forecast->prediction);
        result["predicted"] = pipeline::predictionValue(plan, *forecast);
    }
    result["plan"] = schema::planValue(plan, prepared.analysis);
    return result;
}

}  // namespace

namespace {

using Asked = tl::expected<pipeline::PlanRequest, protocol::RpcError>;

// What plan/make and plan/repairs are asked with.
Asked requestOf(const Document& document, const json::Reader& params)
{
    pipeline::PlanRequest request;
    const auto strategy = base::parseName<base::Strategy>(params.get<std::string>("strategy"), "strategy");
    request.objective = objectiveOf(params);
    request.pins = pinsOf(params, document.prepared.analysis);
    request.limits = limitsOf(params);
    request.device = textOr(params, "device", "auto");
    request.stages = stagesOf(params);
    request.deadline = deadlineOf(params);
    if (!params.ok()) return invalid(params);
    if (document.prepared.analysis.refusal) return failed(*document.prepared.analysis.refusal);
    if (!strategy) return failed(strategy.error());
    request.strategy = *strategy;
    const base::Result<std::string> resolved = executor::resolveDevice(request.device);
    if (!resolved) return failed(resolved.error());
    request.device = *resolved;
    return request;
}

base::Result<pipeline::PlanAnswer> planned(Document& document, const pipeline::PlanRequest& request, const Call& call)
{
    return pipeline::planFor(document.prepared, document.predictor, request, call.progress, call.stop);
}

pipeline::Planning planningOf(Document& document, const pipeline::PlanRequest& request, const Call& call)
{
    return {.prepared = document.prepared,
            .predictor = document.predictor,
            .request = request,
            .progress = call.progress,
            .stop = call.stop};
}

// All of a request but its pins and what limits the search.
std::string keyOf(const pipeline::PlanRequest& request)
{
    const auto number = [](const std::optional<std::int64_t>& n) { return " " + std::to_string(n.value_or(0)); };
    return std::string(base::nameOf(request.strategy)) + " " + base::nameOf(request.objective) + " " + request.device +
           number(request.limits.batch) + number(request.limits.memory);
}

bool isSame(const KeptPlan& kept, const pipeline::PlanRequest& request)
{
    return !kept.near && kept.request.pins == request.pins && kept.request.stages == request.stages;
}

void keep(Document& document, const pipeline::PlanRequest& request, bool near, const pipeline::PlanAnswer& answer)
{
    if (answer.basis != nullptr)
        document.kept.insert_or_assign(keyOf(request), KeptPlan{.request = request, .near = near, .answer = answer});
}

base::Result<pipeline::PlanAnswer> keptPlan(Document& document, const pipeline::PlanRequest& request, const Call& call)
{
    base::Result<pipeline::PlanAnswer> made = planned(document, request, call);
    if (made) keep(document, request, false, *made);
    return made;
}

// From the last optimum for the same circumstances, if there is one.
base::Result<pipeline::PlanAnswer> plannedNear(Document& document, const pipeline::PlanRequest& request,
                                               const Call& call)
{
    const auto before = document.kept.find(keyOf(request));
    if (before == document.kept.end()) return keptPlan(document, request, call);
    base::Result<pipeline::PlanAnswer> made =
        pipeline::planNear(document.prepared, document.predictor, request, *before->second.answer.basis, call.stop);
    if (made) keep(document, request, true, *made);
    return made;
}

json::Value repairValue(const pipeline::Repair& repair)
{
    json::Value item;
    if (repair.stages) item["stages"] = *repair.stages;
    else item["drop"] = schema::writePin(*repair.drop);
    item["cost"] = json::orNull(repair.plan.cost);
    item["unit"] = base::nameOf(base::unitOf(repair.plan.objective));
    return item;
}

}  // namespace

Outcome makePlan(Document& document, const json::Reader& params, const Call& call)
{
    const bool near = params.maybe<bool>("near").value_or(false);
    const Asked request = requestOf(document, params);
    if (!request) return tl::unexpected(request.error());
    base::Result<pipeline::PlanAnswer> made =
        near ? plannedNear(document, *request, call) : keptPlan(document, *request, call);
    if (!made) return failed(made.error());
    return answer(document, made->plan, made->notes, request->limits, call);
}

Outcome planExplanation(Document& document, const json::Reader& params, const Call& call)
{
    const Asked request = requestOf(document, params);
    if (!request) return tl::unexpected(request.error());
    const auto known = document.kept.find(keyOf(*request));
    const bool same = known != document.kept.end() && isSame(known->second, *request);
    const base::Result<pipeline::PlanAnswer> made =
        same ? base::Result<pipeline::PlanAnswer>(known->second.answer) : keptPlan(document, *request, call);
    if (!made) return failed(made.error());
    const auto explanation = pipeline::explainPlan(planningOf(document, *request, call), *made);
    if (!explanation) return failed(explanation.error());
    return pipeline::explanationValue(*explanation);
}

Outcome planSteps(Document& document, const json::Reader& params, const Call& call)
{
    const Asked request = requestOf(document, params);
    if (!request) return tl::unexpected(request.error());
    const auto all = pipeline::walkthroughs(planningOf(document, *request, call));
    if (!all) return failed(all.error());
    return pipeline::walkthroughsValue(*all);
}

Outcome planRepairs(Document& document, const json::Reader& params, const Call& call)
{
    const Asked request = requestOf(document, params);
    if (!request) return tl::unexpected(request.error());
    const auto repairs = pipeline::findRepairs(planningOf(document, *request, call));
    if (!repairs) return failed(repairs.error());
    json::Value result;
    result["repairs"] = json::Value::array();
    for (const pipeline::Repair& repair : *repairs) result["repairs"].push(repairValue(repair));
    return result;
}

Outcome loadPlan(Document& document, const json::Reader& params, const Call& call)
{
    const auto text = params.get<std::string>("text");
    if (!params.ok()) return invalid(params);
    if (document.prepared.analysis.refusal) return failed(*document.prepared.analysis.refusal);
    base::Result<plan::Plan> plan =
        schema::readPlan(text, document.prepared.analysis, "plan.json", document.prepared.hashes);
    if (!plan) return failed(plan.error());
    std::vector<std::string> notes;
    if (const base::Status placed = pipeline::placePlan(*plan, "auto", notes); !placed) return failed(placed.error());
    return answer(document, *plan, notes, {plan->batch, std::nullopt}, call);
}

}  // namespace hopscope::engine
