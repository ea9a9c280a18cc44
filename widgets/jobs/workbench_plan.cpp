#include <QThreadPool>

#include "jobs/workbench_state.h"
#include "models/runner.h"

namespace hopscope::jobs {

namespace {

const char* const referenceStrategies[] = {"optimal", "depth", "source-rule"};

// Its plan is what others are compared with.
bool isReference(const models::Settings& settings)
{
    return settings.pins.empty() && std::ranges::any_of(referenceStrategies, [&](const char* strategy) {
               return settings.strategy == QLatin1String(strategy);
           });
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

std::vector<models::Repair> waysOut(const std::vector<protocol::PinRecord>& dropped,
                                    const std::vector<protocol::PinRecord>& refused,
                                    const std::vector<protocol::PinRecord>& accepted)
{
    std::vector<models::Repair> ways;
    for (const protocol::PinRecord& pin : dropped) {
        if (std::ranges::find(accepted, pin) == accepted.end()) continue;
        models::Repair way{pin, refused};
        std::erase(way.pins, pin);
        ways.push_back(std::move(way));
    }
    return ways;
}

}  // namespace

Cuts Workbench::Impl::cuts() const
{
    const models::Settings& settings = document.settings();
    return {settings.strategy, settings.objective, settings.pins, exact};
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
    exact = to.exact;
    document.setSettings(settings);
    if (refusing) return;
    document.setRefusal({});
    if (!exact) return plan();
    ++planNumber;
    planning = false;
    accepted = settings;
    document.setPlan(exact);
}

json::Value Workbench::Impl::planParams(const models::Settings& settings) const
{
    json::Value params = json::Value::object();
    params["document"] = engineDocument.value_or(0);
    params["strategy"] = settings.strategy.toStdString();
    params["objective"] = settings.objective.toStdString();
    params["pins"] = protocol::writePins(settings.pins);
    params["device"] = settings.device.toStdString();
    params["memory"] = orNull(settings.memory);
    params["batch"] = orNull(settings.batch);
    return params;
}

void Workbench::Impl::requestPlan(const QString& method, json::Value params, QObject* context, Workbench::WhatIf answer)
{
    const auto read = [model = document.model(), context, answer](base::Result<json::Value> result) {
        if (!result) return answer(base::forward(result));
        models::runAside(
            *QThreadPool::globalInstance(), context,
            [result = std::move(*result), model] { return protocol::readPlanResult(result, *model); }, answer);
    };
    engine.request(method, std::move(params), context, read);
}

void Workbench::Impl::plan()
{
    if (!engineDocument || !document.model()->splittable) return;
    const std::int64_t number = ++planNumber;
    planning = true;
    const models::Settings settings = document.settings();
    requestPlan("plan/make", planParams(settings), &bench,
                [this, number, settings, expected = engineDocument](base::Result<protocol::PlanRecord> plan) {
                    if (number == planNumber) return planAnswered(settings, std::move(plan));
                    // Too late to be shown, but others may still be compared with it.
                    if (plan && engineDocument == expected && isReference(settings))
                        document.setReference(settings.strategy, shared(std::move(*plan)));
                });
}

void Workbench::Impl::planAnswered(const models::Settings& settings, base::Result<protocol::PlanRecord> plan)
{
    planning = false;
    if (!plan) return refuse(plan.error());
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
    if (document.settings() != accepted) plan();
    else if (exact) document.setPlan(exact);
    askForRepairs(refused);
}

// Pins without which the change would have been possible; not those that the change itself has brought.
void Workbench::Impl::askForRepairs(const models::Settings& refused)
{
    if (accepted.pins.empty() || refused.pins.empty()) return;
    const QString sentence = document.refusal();
    engine.request("plan/repairs", planParams(refused), &bench,
                   [this, refused, sentence](const base::Result<json::Value>& result) {
                       if (!result || document.refusal() != sentence) return;
                       const auto dropped = protocol::readRepairs(*result);
                       if (dropped) document.setRepairs(waysOut(*dropped, refused.pins, accepted.pins));
                   });
}

void Workbench::Impl::references()
{
    if (!engineDocument || !document.model()->splittable) return;
    const bool planned = isReference(document.settings()) && planning;  // its plan is on the way already
    for (const char* strategy : referenceStrategies)
        if (!planned || document.settings().strategy != QLatin1String(strategy))
            reference(QString::fromLatin1(strategy));
}

void Workbench::Impl::reference(const QString& strategy)
{
    models::Settings settings = document.settings();
    settings.strategy = strategy;
    settings.pins.clear();
    const auto expected = engineDocument;
    requestPlan("plan/make", planParams(settings), &bench,
                [this, strategy, expected](base::Result<protocol::PlanRecord> plan) {
                    if (engineDocument != expected) return;
                    document.setReference(strategy, plan ? shared(std::move(*plan)) : nullptr);
                });
}

}  // namespace hopscope::jobs
