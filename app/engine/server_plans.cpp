#include <algorithm>

#include "planner.h"
#include "prediction.h"
#include "schema/documents.h"
#include "schema/names.h"
#include "server_documents.h"

namespace hopscope::engine {

namespace {

constexpr std::size_t mostPins = 10'000;
constexpr std::size_t mostRepairs = 32;

plan::Pin pinOf(const json::Reader& item, const schema::Names& names)
{
    const std::vector<json::Reader> parts = item.items();
    if (item.ok() && parts.size() != 2) item.refuse("must be [kind, value]");
    if (!item.ok()) return {};
    const auto kind = parts[0].as<std::string>();
    const bool store = kind == plan::pinName(plan::PinKind::Checkpoint);
    if (!store && kind != plan::pinName(plan::PinKind::NoCheckpoint)) parts[0].refuse("is no kind of pin");
    const auto value = names.findValue(parts[1].as<std::string>());
    if (!value) parts[1].refuse("names no value of this model");
    return {store ? plan::PinKind::Checkpoint : plan::PinKind::NoCheckpoint, value.value_or(ir::ValueId())};
}

std::vector<plan::Pin> pinsOf(const json::Reader& params, const analysis::Analysis& analysis)
{
    std::vector<plan::Pin> pins;
    if (!params.has("pins")) return pins;
    const schema::Names names(analysis);
    const std::vector<json::Reader> items = params.items("pins");
    if (items.size() > mostPins) params.child("pins").refuse("holds too many pins");
    for (const json::Reader& item : items)
        if (item.ok()) pins.push_back(pinOf(item, names));
    return pins;
}

placement::Objective objectiveOf(const json::Reader& params)
{
    const std::string name = textOr(params, "objective", placement::objectiveName(placement::Objective::Time));
    const base::Result<placement::Objective> objective = placement::parseObjective(name);
    if (!objective) params.child("objective").refuse("must be time or bytes");
    return objective.value_or(placement::Objective::Time);
}

// Fills in what follows from the plan, and answers with all of it.
Outcome answer(Document& document, plan::Plan& plan, const std::vector<std::string>& notes,
               const executor::PredictOptions& options, const Call& call)
{
    const Prepared& prepared = document.prepared;
    json::Value result;
    result["predicted"] = json::Value();
    result["notes"] = json::Value(notes);
    if (prepared.hasData()) {
        call.progress({"looking at the graph", 0, 0});
        const base::Result<executor::Prediction> prediction = document.predictor.predict(plan, options, call.stop);
        if (!prediction) return failed(prediction.error());
        const auto seconds = stageSeconds(prepared, document.predictor, plan, options, call.stop);
        if (!seconds) return failed(seconds.error());
        fillPlan(plan, *prediction);
        result["predicted"] = predictionValue(plan, *prediction, *seconds);
    }
    const base::Result<json::Value> text = json::parse(schema::writePlan(plan, prepared.analysis), "plan");
    if (!text) return failed(text.error());
    result["plan"] = *text;
    return result;
}

}  // namespace

namespace {

// What plan/make and plan/repairs are asked with; nothing, with an answer in `refusal`, where it does not hold.
std::optional<PlanRequest> requestOf(const Document& document, const json::Reader& params, Outcome& refusal)
{
    PlanRequest request;
    request.strategy = params.get<std::string>("strategy");
    request.objective = objectiveOf(params);
    request.pins = pinsOf(params, document.prepared.analysis);
    request.limits = {positive(params, "batch"), positive(params, "memory")};
    request.device = textOr(params, "device", "auto");
    if (!params.ok()) {
        refusal = invalid(params);
        return std::nullopt;
    }
    if (document.prepared.analysis.refusal) {
        refusal = failed(*document.prepared.analysis.refusal);
        return std::nullopt;
    }
    const base::Result<std::string> resolved = executor::resolveDevice(request.device);
    if (!resolved) {
        refusal = failed(resolved.error());
        return std::nullopt;
    }
    request.device = *resolved;
    return request;
}

base::Result<PlanAnswer> planned(Document& document, const PlanRequest& request, const Call& call)
{
    const auto progress = [&call](const base::Progress& p) { call.progress(p); };
    return planFor(document.prepared, document.predictor, request, progress, call.stop);
}

json::Value repairValue(const plan::Pin& pin, const plan::Plan& plan)
{
    json::Value drop = json::Value::array();
    drop.push(plan::pinName(pin.kind));
    drop.push(ir::valueName(pin.value));
    json::Value item;
    item["drop"] = std::move(drop);
    item["cost"] = plan.cost ? json::Value(*plan.cost) : json::Value();
    item["unit"] = plan.unit;
    return item;
}

}  // namespace

Outcome makePlan(Document& document, const json::Reader& params, const Call& call)
{
    Outcome refusal;
    const std::optional<PlanRequest> request = requestOf(document, params, refusal);
    if (!request) return refusal;
    base::Result<PlanAnswer> made = planned(document, *request, call);
    if (!made) return failed(made.error());
    return answer(document, made->plan, made->notes, request->limits, call);
}

Outcome planRepairs(Document& document, const json::Reader& params, const Call& call)
{
    Outcome refusal;
    const std::optional<PlanRequest> request = requestOf(document, params, refusal);
    if (!request) return refusal;
    json::Value result;
    result["repairs"] = json::Value::array();
    const std::size_t most = std::min(request->pins.size(), mostRepairs);
    for (std::size_t i = 0; i < most; ++i) {
        PlanRequest without = *request;
        without.pins.erase(without.pins.begin() + static_cast<std::ptrdiff_t>(i));
        const base::Result<PlanAnswer> made = planned(document, without, call);
        if (!made && made.error().code == base::ErrorCode::Cancelled) return failed(made.error());
        if (made) result["repairs"].push(repairValue(request->pins[i], made->plan));
    }
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
    // A plan that was made on another machine is looked at for a device of this one.
    if (!executor::resolveDevice(plan->device)) plan->device = executor::resolveDevice("auto").value_or("cpu");
    return answer(document, *plan, {}, {plan->batch, std::nullopt}, call);
}

}  // namespace hopscope::engine
