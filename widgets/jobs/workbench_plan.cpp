#include <QThreadPool>

#include "jobs/workbench_state.h"
#include "models/runner.h"
#include "schema/pins.h"

namespace hopscope::jobs {

namespace {

constexpr std::array referenceStrategies{base::Strategy::Optimal, base::Strategy::Depth, base::Strategy::SourceRule};

// Its plan is what others are compared with.
bool isReference(const models::Settings& settings)
{
    return settings.pins.empty() && !settings.stages &&
           std::ranges::find(referenceStrategies, settings.strategy) != referenceStrategies.end();
}

template <class T>
json::Value orNull(const std::optional<T>& value)
{
    return value ? json::Value(*value) : json::Value();
}

models::PlanPtr shared(protocol::PlanRecord&& plan)
{
    return models::releasedAside(std::make_shared<const protocol::PlanRecord>(std::move(plan)));
}

// Without the pins that the refused change itself has brought: dropping them would fix nothing. What keeps all pins comes
// first.
std::vector<models::Repair> suggestedFixes(const std::vector<protocol::RepairRecord>& repairs,
                                           const models::Settings& refused, const std::vector<plan::Pin>& accepted)
{
    std::vector<models::Repair> ways;
    for (const protocol::RepairRecord& repair : repairs) {
        models::Repair way{repair.drop, refused};
        if (!repair.drop) way.wanted.stages = repair.stages;
        else if (std::ranges::find(accepted, *repair.drop) != accepted.end()) std::erase(way.wanted.pins, *repair.drop);
        else continue;
        ways.push_back(std::move(way));
    }
    std::ranges::stable_partition(ways, [](const models::Repair& way) { return !way.dropped; });
    return ways;
}

}  // namespace

Cuts Workbench::Impl::cuts() const
{
    const models::Settings& settings = document.settings();
    return {settings.strategy, settings.objective, settings.pins, settings.stages, exact};
}

void Workbench::Impl::push(const QString& text, Cuts after)
{
    if (!engineDocument || after == cuts()) return;
    auto command = std::make_unique<CutCommand>(text, cuts(), std::move(after), [this](const Cuts& to) { apply(to); });
    newest = nullptr;
    CutCommand* added = command.get();
    bench.m_undo.push(command.release());
    newest = added;
}

void Workbench::Impl::apply(const Cuts& to)
{
    newest = nullptr;
    models::Settings settings = document.settings();
    settings.strategy = to.strategy;
    settings.objective = to.objective;
    settings.pins = to.pins;
    settings.stages = to.stages;
    exact = to.exact;
    document.setSettings(settings);
    if (refusing) return;
    document.setRefusal({});
    if (!exact) return plan();
    giveUpPlan();
    accepted = settings;
    document.setPlan(exact);
}

json::Value Workbench::Impl::planParams(const models::Settings& settings, bool near) const
{
    json::Value params = json::Value::object();
    params["document"] = engineDocument.value_or(0);
    params["strategy"] = base::nameOf(settings.strategy);
    params["objective"] = base::nameOf(settings.objective);
    params["pins"] = schema::writePins(settings.pins);
    params["device"] = settings.device.toStdString();
    params["memory"] = orNull(settings.memory);
    params["batch"] = orNull(settings.batch);
    params["stages"] = orNull(settings.stages);
    if (near && !base::isRule(settings.strategy)) params["near"] = true;
    return params;
}

std::int64_t Workbench::Impl::requestPlan(const QString& method, json::Value params, QObject* context,
                                          Workbench::WhatIf answer)
{
    const auto read = [model = document.model(), context, answer](base::Result<json::Value> result) {
        if (!result) return answer(base::forward(result));
        models::runAside(
            *QThreadPool::globalInstance(), context,
            [result = std::move(*result), model] { return protocol::readPlanResult(result, *model); }, answer);
    };
    return engine.request(method, std::move(params), context, read);
}

void Workbench::Impl::plan()
{
    if (!engineDocument || !document.model()->splittable) return;
    giveUpPlan();
    const std::int64_t number = planNumber;
    planning = true;
    const models::Settings settings = plannedFor = document.settings();
    planQuickly(settings);
    planRequest =
        requestPlan("plan/make", planParams(settings), &bench,
                    [this, number, settings, expected = engineDocument](base::Result<protocol::PlanRecord> plan) {
                        if (number == planNumber) return planAnswered(settings, std::move(plan));
                        // Too late to be shown, but others may still be compared with it.
                        if (plan && engineDocument == expected && isReference(settings))
                            document.setReference(settings.strategy, shared(std::move(*plan)));
                    });
}

// Answers to come belong to cuts that are gone. What others are compared with is waited for all the same.
void Workbench::Impl::giveUpPlan()
{
    if (planning && !isReference(plannedFor)) engine.cancel(planRequest);
    if (quickRequest != 0) engine.cancel(quickRequest);
    engine.cancel(whatIfRequest);
    quickRequest = 0;
    ++planNumber;
    planning = false;
    if (std::exchange(slow, false)) emit bench.progressed({}, 1);
    forgetExplanation();
}

bool Workbench::Impl::onlyPinsDiffer(const models::Settings& settings) const
{
    models::Settings same = settings;
    same.pins = accepted.pins;
    return same == accepted && document.plan() && !base::isRule(settings.strategy);
}

// Changed pins are seen at once: what a drag has shown already, or what is best close to the plan of now. The best of all
// follows, and is the judge.
void Workbench::Impl::planQuickly(const models::Settings& settings)
{
    const models::Preview seen = document.preview();
    if (asked && *asked == cuts() && seen.plan) {
        provisional = true;
        return document.setPlan(seen.plan);
    }
    if (!onlyPinsDiffer(settings) || settings == accepted) return;
    quickRequest = requestPlan("plan/make", planParams(settings, true), &bench,
                               [this, number = planNumber](base::Result<protocol::PlanRecord> plan) {
                                   if (number != planNumber) return;
                                   quickRequest = 0;
                                   if (!plan || !planning) return;
                                   provisional = true;
                                   document.setPlan(shared(std::move(*plan)));
                               });
}

void Workbench::Impl::planAnswered(const models::Settings& settings, base::Result<protocol::PlanRecord> plan)
{
    giveUpPlan();
    if (!plan) return refuse(plan.error());
    provisional = false;
    newest = nullptr;
    accepted = settings;
    document.setPlan(shared(std::move(*plan)));
    if (isReference(settings)) document.setReference(settings.strategy, document.plan());
}

// The change that led here goes away again; if changes before it have not been answered, they are tried once more.
void Workbench::Impl::refuse(const base::Error& error)
{
    if (engine.state() != EngineState::Ready) return;  // no answer at all: the engine has died
    const models::Settings refused = document.settings();
    refusing = true;
    if (newest) {
        newest->refuse();
        bench.m_undo.undo();
    } else document.setSettings(accepted);
    refusing = false;
    document.setRefusal(QString::fromStdString(base::describe(error)));
    if (document.settings() != accepted || std::exchange(provisional, false)) plan();
    else if (exact) document.setPlan(exact);
    askForRepairs(refused);
}

// Pins without which the change would have been possible, or more stages.
void Workbench::Impl::askForRepairs(const models::Settings& refused)
{
    if (refused.pins.empty()) return;
    const QString sentence = document.refusal();
    engine.request("plan/repairs", planParams(refused), &bench,
                   [this, refused, sentence](const base::Result<json::Value>& result) {
                       if (!result || document.refusal() != sentence) return;
                       const auto repairs = protocol::readRepairs(*result);
                       if (repairs) document.setRepairs(suggestedFixes(*repairs, refused, accepted.pins));
                   });
}

void Workbench::Impl::references()
{
    if (!engineDocument || !document.model()->splittable) return;
    const bool planned = isReference(document.settings()) && planning;  // its plan is on the way already
    for (const base::Strategy strategy : referenceStrategies)
        if (!planned || document.settings().strategy != strategy) reference(strategy);
}

void Workbench::Impl::reference(base::Strategy strategy)
{
    models::Settings settings = document.settings();
    settings.strategy = strategy;
    settings.pins.clear();
    settings.stages.reset();
    const auto expected = engineDocument;
    requestPlan("plan/make", planParams(settings), &bench,
                [this, strategy, expected](base::Result<protocol::PlanRecord> plan) {
                    if (engineDocument != expected) return;
                    document.setReference(strategy, plan ? shared(std::move(*plan)) : nullptr);
                });
}

}  // namespace hopscope::jobs
