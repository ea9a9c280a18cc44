#include "placement/pins.h"
#include "prediction.h"
#include "schema/documents.h"
#include "schema/names.h"
#include "server_documents.h"

namespace hopscope::engine {

namespace {

constexpr std::size_t mostPins = 10'000;

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

// Fills in what follows from the plan, and answers with both.
Outcome answer(Document& document, plan::Plan& plan, const executor::PredictOptions& options, const Call& call)
{
    const Prepared& prepared = document.prepared;
    json::Value result;
    result["predicted"] = json::Value();
    if (prepared.hasData()) {
        call.progress({"looking at the graph", 0, 0});
        const base::Result<executor::Prediction> prediction = document.predictor.predict(plan, options, call.stop);
        if (!prediction) return failed(prediction.error());
        fillPlan(plan, *prediction);
        result["predicted"] = predictionValue(plan, *prediction);
    }
    const base::Result<json::Value> text = json::parse(schema::writePlan(plan, prepared.analysis), "plan");
    if (!text) return failed(text.error());
    result["plan"] = *text;
    return result;
}

}  // namespace

Outcome makePlan(Document& document, const json::Reader& params, const Call& call)
{
    const auto strategy = params.get<std::string>("strategy");
    const std::vector<plan::Pin> pins = pinsOf(params, document.prepared.analysis);
    const std::string device = textOr(params, "device", "auto");
    const executor::PredictOptions options{positive(params, "batch"), positive(params, "memory")};
    if (!params.ok()) return invalid(params);
    if (document.prepared.analysis.refusal) return failed(*document.prepared.analysis.refusal);
    const base::Result<std::string> resolved = executor::resolveDevice(device);
    if (!resolved) return failed(resolved.error());
    base::Result<plan::Plan> plan = makePlan(document.prepared, strategy, pins);
    if (!plan) return failed(plan.error());
    plan->device = *resolved;
    plan->batch = options.batch;
    return answer(document, *plan, options, call);
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
    return answer(document, *plan, {plan->batch, std::nullopt}, call);
}

}  // namespace hopscope::engine
