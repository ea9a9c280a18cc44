#include "pipeline/planning/explanation.h"
#include "pipeline/planning/memory_fit.h"
#include "pipeline/planning/prediction.h"
#include "pipeline/planning/repairs.h"
#include "pipeline/planning/walkthroughs.h"
#include "schema/documents.h"
#include "schema/names.h"
#include "schema/pins.h"
#include "schema/walkthrough.h"
#include "server/documents.h"

namespace hopscope::engine {

namespace {

// Fills in the figures that follow from the plan, and answers with all of it.
Outcome filledIn(Document& document, plan::Plan& plan, const std::vector<std::string>& notes,
                 const forecast::PredictOptions& options, const Call& call)
{
    const pipeline::Prepared& prepared = document.prepared;
    protocol::PlanMade made{.notes = notes};
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
        made.predicted = pipeline::predictionOf(plan, *forecast);
    }
    made.plan.value = schema::planValue(plan, prepared.analysis);
    return protocol::answerValue(std::move(made));
}

// The parameters of a request for a plan.
struct PlanRequest : pipeline::PlanRequest {
    base::Settings settings;  // with the device by its own name
};

using Asked = tl::expected<PlanRequest, protocol::RpcError>;

Asked requestOf(const protocol::PlanQuery& query, const Work& work)
{
    const analysis::Analysis& analysis = work.document.prepared.analysis;
    std::vector<plan::Pin> pins;
    if (work.params.has("pins")) pins = schema::readPins(work.params.child("pins"), schema::Names(analysis));
    if (!work.params.ok()) return invalid(work.params);
    if (analysis.refusal) return failed(*analysis.refusal);
    const base::Settings settings = base::forTask(query.settings, base::Task::Plan);
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

// Work on a request for a plan, on the cores that it allows.
template <class Answering>
Outcome onCores(const protocol::PlanQuery& query, const Work& work, const Answering& answerTo)
{
    const Asked request = requestOf(query, work);
    if (!request) return tl::unexpected(request.error());
    const executor::Cores cores(request->settings.threads.value_or(0));
    return answerTo(*request);
}

template <class Found>
Outcome outcomeOf(const base::Result<Found>& found, json::Value (*write)(const Found&))
{
    if (!found) return failed(found.error());
    return write(*found);
}

}  // namespace

Outcome answer(const protocol::MakePlan& query, const Work& work)
{
    return onCores(query, work, [&](const PlanRequest& request) -> Outcome {
        base::Result<pipeline::PlanAnswer> made =
            query.near ? plannedNear(work.document, request, work.call) : keptPlan(work.document, request, work.call);
        if (!made) return failed(made.error());
        return filledIn(work.document, made->plan, made->notes, request.limits, work.call);
    });
}

Outcome answer(const protocol::ExplainPlan& query, const Work& work)
{
    return onCores(query, work, [&](const PlanRequest& request) -> Outcome {
        const auto known = work.document.kept.find(keyOf(request));
        const bool same = known != work.document.kept.end() && isSame(known->second, request);
        const base::Result<pipeline::PlanAnswer> made = same ? base::Result<pipeline::PlanAnswer>(known->second.answer)
                                                             : keptPlan(work.document, request, work.call);
        if (!made) return failed(made.error());
        return outcomeOf(pipeline::explainPlan(planningOf(work.document, request, work.call), *made),
                         schema::explanationValue);
    });
}

Outcome answer(const protocol::ListSteps& query, const Work& work)
{
    return onCores(query, work, [&](const PlanRequest& request) {
        return outcomeOf(pipeline::walkthroughs(planningOf(work.document, request, work.call)),
                         schema::walkthroughsValue);
    });
}

Outcome answer(const protocol::FindRepairs& query, const Work& work)
{
    return onCores(query, work, [&](const PlanRequest& request) {
        return outcomeOf(pipeline::findRepairs(planningOf(work.document, request, work.call)), schema::repairsValue);
    });
}

Outcome answer(const protocol::LoadPlan& query, const Work& work)
{
    const pipeline::Prepared& prepared = work.document.prepared;
    const base::Settings settings = base::forTask(query.settings, base::Task::Plan);
    if (prepared.analysis.refusal) return failed(*prepared.analysis.refusal);
    base::Result<plan::Plan> plan = schema::readPlan(query.text, prepared.analysis, "plan.json", prepared.hashes);
    if (!plan) return failed(plan.error());
    std::vector<std::string> notes;
    const base::Status fits = pipeline::fitPlan(*plan, settings, notes);
    if (!fits) return failed(fits.error());
    const executor::Cores cores(settings.threads.value_or(0));
    return filledIn(work.document, *plan, notes, pipeline::limitsOf(settings, plan->batch), work.call);
}

}  // namespace hopscope::engine
