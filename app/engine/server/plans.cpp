#include "pipeline/devices.h"
#include "pipeline/explanation.h"
#include "pipeline/memory_fit.h"
#include "pipeline/prediction.h"
#include "pipeline/repairs.h"
#include "pipeline/walkthroughs.h"
#include "protocol/settings.h"
#include "schema/documents.h"
#include "schema/names.h"
#include "schema/pins.h"
#include "schema/walkthrough.h"
#include "server/documents.h"

namespace hopscope::engine {

namespace {

constexpr std::size_t mostPins = 10'000;

std::vector<plan::Pin> pinsOf(const json::Reader& params, const analysis::Analysis& analysis)
{
    if (!params.has("pins")) return {};
    const json::Reader list = params.child("pins");
    if (list.items().size() > mostPins) list.refuse("holds too many pins");
    return schema::readPins(list, schema::Names(analysis));
}

// Fills in the figures that follow from the plan, and answers with all of it.
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
        result["predicted"] = schema::predictionValue(pipeline::predictionOf(plan, *forecast));
    }
    result["plan"] = schema::planValue(plan, prepared.analysis);
    return result;
}

}  // namespace

namespace {

// The parameters of a request for a plan.
struct PlanRequest : pipeline::PlanRequest {
    base::Settings settings;  // with the device by its own name
};

using Asked = tl::expected<PlanRequest, protocol::RpcError>;

Asked requestOf(const Document& document, const json::Reader& params)
{
    const base::Settings settings = protocol::readSettings(params, base::Task::Plan);
    std::vector<plan::Pin> pins = pinsOf(params, document.prepared.analysis);
    if (!params.ok()) return invalid(params);
    if (document.prepared.analysis.refusal) return failed(*document.prepared.analysis.refusal);
    base::Result<pipeline::PlanRequest> made = pipeline::requestFor(settings, std::move(pins));
    if (!made) return failed(made.error());
    PlanRequest request{std::move(*made), settings};
    request.settings.device = request.device;
    return request;
}

base::Result<pipeline::PlanAnswer> planned(Document& document, const PlanRequest& request, const Call& call)
{
    return pipeline::planFor(document.prepared, document.predictor, request, call.progress, call.stop);
}

pipeline::Planning planningOf(Document& document, const PlanRequest& request, const Call& call)
{
    return {.prepared = document.prepared,
            .predictor = document.predictor,
            .request = request,
            .progress = call.progress,
            .stop = call.stop};
}

// All settings that affect a plan, except the pins and the limits of the search.
std::string keyOf(const PlanRequest& request)
{
    std::string key;
    base::forEachField<base::Settings>([&]<class M>(const base::Setting<M>& setting) {
        const bool limitsSearch = setting.ofSearch && !std::is_enum_v<M>;
        if (setting.renews == base::Renews::Plan && !limitsSearch)
            key += base::settingText(request.settings.*setting.member) + " ";
    });
    return key;
}

bool isSame(const KeptPlan& kept, const PlanRequest& request)
{
    return !kept.near && kept.request.pins == request.pins && kept.request.stages == request.stages;
}

void keep(Document& document, const PlanRequest& request, bool near, const pipeline::PlanAnswer& answer)
{
    if (answer.basis != nullptr)
        document.kept.insert_or_assign(keyOf(request), KeptPlan{.request = request, .near = near, .answer = answer});
}

base::Result<pipeline::PlanAnswer> keptPlan(Document& document, const PlanRequest& request, const Call& call)
{
    base::Result<pipeline::PlanAnswer> made = planned(document, request, call);
    if (made) keep(document, request, false, *made);
    return made;
}

// Starts from the last optimum for the same key, if there is one.
base::Result<pipeline::PlanAnswer> plannedNear(Document& document, const PlanRequest& request, const Call& call)
{
    const auto before = document.kept.find(keyOf(request));
    if (before == document.kept.end()) return keptPlan(document, request, call);
    base::Result<pipeline::PlanAnswer> made =
        pipeline::planNear(document.prepared, document.predictor, request, *before->second.answer.basis, call.stop);
    if (made) keep(document, request, true, *made);
    return made;
}

}  // namespace

Outcome makePlan(Document& document, const json::Reader& params, const Call& call)
{
    const bool near = params.maybe<bool>("near").value_or(false);
    const Asked request = requestOf(document, params);
    if (!request) return tl::unexpected(request.error());
    const executor::Cores cores(request->settings.threads.value_or(0));
    base::Result<pipeline::PlanAnswer> made =
        near ? plannedNear(document, *request, call) : keptPlan(document, *request, call);
    if (!made) return failed(made.error());
    return answer(document, made->plan, made->notes, request->limits, call);
}

Outcome planExplanation(Document& document, const json::Reader& params, const Call& call)
{
    const Asked request = requestOf(document, params);
    if (!request) return tl::unexpected(request.error());
    const executor::Cores cores(request->settings.threads.value_or(0));
    const auto known = document.kept.find(keyOf(*request));
    const bool same = known != document.kept.end() && isSame(known->second, *request);
    const base::Result<pipeline::PlanAnswer> made =
        same ? base::Result<pipeline::PlanAnswer>(known->second.answer) : keptPlan(document, *request, call);
    if (!made) return failed(made.error());
    const auto explanation = pipeline::explainPlan(planningOf(document, *request, call), *made);
    if (!explanation) return failed(explanation.error());
    return schema::explanationValue(*explanation);
}

Outcome planSteps(Document& document, const json::Reader& params, const Call& call)
{
    const Asked request = requestOf(document, params);
    if (!request) return tl::unexpected(request.error());
    const executor::Cores cores(request->settings.threads.value_or(0));
    const auto all = pipeline::walkthroughs(planningOf(document, *request, call));
    if (!all) return failed(all.error());
    return schema::walkthroughsValue(*all);
}

Outcome planRepairs(Document& document, const json::Reader& params, const Call& call)
{
    const Asked request = requestOf(document, params);
    if (!request) return tl::unexpected(request.error());
    const executor::Cores cores(request->settings.threads.value_or(0));
    const auto repairs = pipeline::findRepairs(planningOf(document, *request, call));
    if (!repairs) return failed(repairs.error());
    return schema::repairsValue(*repairs);
}

Outcome loadPlan(Document& document, const json::Reader& params, const Call& call)
{
    const auto text = params.get<std::string>("text");
    const base::Settings settings = protocol::readSettings(params, base::Task::Plan);
    if (!params.ok()) return invalid(params);
    if (document.prepared.analysis.refusal) return failed(*document.prepared.analysis.refusal);
    base::Result<plan::Plan> plan =
        schema::readPlan(text, document.prepared.analysis, "plan.json", document.prepared.hashes);
    if (!plan) return failed(plan.error());
    std::vector<std::string> notes;
    const base::Status fits = pipeline::fitPlan(*plan, settings, notes);
    if (!fits) return failed(fits.error());
    const executor::Cores cores(settings.threads.value_or(0));
    return answer(document, *plan, notes, pipeline::limitsOf(settings, plan->batch), call);
}

}  // namespace hopscope::engine
