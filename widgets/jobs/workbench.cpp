#include "jobs/workbench.h"

#include <QFile>
#include <QFileInfo>
#include <QSaveFile>
#include <QThreadPool>

#include "jobs/workbench_state.h"
#include "models/labels.h"
#include "models/pins.h"
#include "models/runner.h"
#include "schema/report.h"

namespace hopscope::jobs {

namespace {

constexpr qint64 planFileLimit = 16 << 20;

base::Result<std::string> readText(const QString& name)
{
    QFile file(name);
    if (!file.open(QIODevice::ReadOnly))
        return base::fail(base::ErrorCode::Input, QStringLiteral("%1: %2").arg(name, file.errorString()).toStdString());
    if (file.size() > planFileLimit)
        return base::fail(base::ErrorCode::Input, name.toStdString() + " is larger than 16 MiB");
    return file.readAll().toStdString();
}

json::Value documentParams(const std::optional<std::int64_t>& document)
{
    json::Value params = json::Value::object();
    params["document"] = document.value_or(0);
    return params;
}

template <class T>
json::Value orNull(const std::optional<T>& value)
{
    return value ? json::Value(*value) : json::Value();
}

QString valueName(const models::Document& document, protocol::ValueId value)
{
    return document.model() ? models::valueLabel(*document.model(), value) : models::text(ir::valueName(value));
}

}  // namespace

Workbench::Workbench(EngineClient& engine, models::Document& document, QObject* parent)
    : QObject(parent),
      m_impl(std::make_unique<Impl>(*this, engine, document))
{
    Impl* impl = m_impl.get();
    connect(&engine, &EngineClient::died, this, [impl](const QString& reason) { impl->engineDied(reason); });
    connect(&engine, &EngineClient::stateChanged, this, [impl](EngineState state) { impl->engineState(state); });
    connect(&engine, &EngineClient::notified, this,
            [impl](const QString& method, const json::Value& params) { impl->notified(method, params); });
    connect(&engine, &EngineClient::progressed, this,
            [this, impl](std::int64_t request, const QString& what, std::int64_t done, std::int64_t total) {
                const bool planning = impl->planning && request == impl->planRequest;
                impl->slow = impl->slow || planning;
                if (planning || (impl->opening && request == impl->openRequest))
                    emit progressed(what, total > 0 ? static_cast<double>(done) / static_cast<double>(total) : -1);
            });
    impl->setupPreview();
}

Workbench::~Workbench() = default;

void Workbench::Impl::fail(const QString& what, const base::Error& error)
{
    QString sentence = QString::fromStdString(error.message);
    if (!error.where.empty()) sentence += QStringLiteral(" (%1)").arg(QString::fromStdString(error.where));
    emit bench.failed(what, sentence, QString::fromStdString(error.hint));
}

bool Workbench::running() const { return m_impl->run.has_value() || m_impl->starting; }

bool Workbench::busy() const { return m_impl->opening || m_impl->planning; }

void Workbench::open(const QString& model, const QStringList& data, const QStringList& roles)
{
    m_impl->restored.reset();
    if (running()) stopRun();
    m_impl->lostWhileOpening = 0;
    m_impl->open({model, data, roles}, Opening::New);
}

void Workbench::reload()
{
    const models::Document& document = m_impl->document;
    if (!document.model()) return;
    if (running()) stopRun();
    m_impl->open({document.modelPath(), document.data(), document.roles()}, Opening::Reload);
}

void Workbench::close()
{
    if (running()) stopRun();
    m_impl->closeInEngine();
    ++m_impl->openNumber;
    m_impl->giveUpPlan();
    m_impl->forgetPreview();
    m_impl->opening = false;
    m_impl->exact.reset();
    m_impl->newest = nullptr;
    m_undo.clear();
    m_impl->document.setSource({}, {}, {});
    m_impl->document.setModel(nullptr);
}

void Workbench::setStrategy(base::Strategy strategy, base::Objective objective)
{
    const QString name = QString::fromLatin1(base::nameOf(strategy));
    m_impl->push(tr("strategy %1").arg(name), {.strategy = strategy, .objective = objective, .pins = {}});
}

void Workbench::optimiseAroundPins()
{
    const models::Settings& settings = m_impl->document.settings();
    m_impl->push(tr("optimise around the pins"),
                 {base::Strategy::Optimal, settings.objective, settings.pins, settings.stages});
}

void Workbench::repair(const QString& what, const models::Repair& way)
{
    const models::Settings& wanted = way.wanted;
    m_impl->push(what, {wanted.strategy, wanted.objective, wanted.pins, wanted.stages});
}

void Workbench::pin(const plan::Pin& pin)
{
    if (!m_impl->document.model()) return;
    const Cuts after = withPin(m_impl->cuts(), pin);
    const bool switched = after.strategy != m_impl->document.settings().strategy;
    const QString what = models::pinLabel(*m_impl->document.model(), pin);
    m_impl->push(switched ? tr("%1, and optimise around the pins").arg(what) : what, after);
}

void Workbench::togglePin(const plan::Pin& pin)
{
    const std::vector<plan::Pin>& pins = m_impl->document.settings().pins;
    if (std::ranges::find(pins, pin) == pins.end()) return this->pin(pin);
    m_impl->push(tr("unpin: %1").arg(models::pinLabel(*m_impl->document.model(), pin)),
                 withoutPin(m_impl->cuts(), pin));
}

void Workbench::unpin(protocol::ValueId value)
{
    m_impl->push(tr("let the strategy decide on %1").arg(valueName(m_impl->document, value)),
                 withoutPins(m_impl->cuts(), value));
}

void Workbench::setStages(const std::optional<int>& stages)
{
    Cuts after = m_impl->cuts();
    after.stages = stages;
    after.exact.reset();
    m_impl->push(stages ? tr("use up to %1 stages").arg(*stages) : tr("use as few stages as needed"), after);
}

void Workbench::movePin(protocol::ValueId from, protocol::ValueId to)
{
    const models::Document& document = m_impl->document;
    m_impl->push(tr("store %1 instead of %2").arg(valueName(document, to), valueName(document, from)),
                 withMove(m_impl->cuts(), from, to));
}

void Workbench::clearPins()
{
    const models::Settings& settings = m_impl->document.settings();
    m_impl->push(tr("remove all pins"), {settings.strategy, settings.objective, {}, settings.stages});
}

void Workbench::setRunSettings(const models::Settings& settings)
{
    models::Settings next = settings;
    const models::Settings before = m_impl->document.settings();
    next.strategy = before.strategy;
    next.objective = before.objective;
    next.pins = before.pins;
    next.stages = before.stages;
    m_impl->document.setSettings(next);
    const bool samePlan = next.device == before.device && next.memory == before.memory && next.batch == before.batch;
    if (samePlan) {
        m_impl->accepted.verify = next.verify;
        m_impl->accepted.output = next.output;
        return;
    }
    m_impl->exact.reset();
    m_impl->newest = nullptr;
    m_impl->document.setRefusal({});
    m_impl->plan();
    m_impl->references();
}

void Workbench::restoreSettings(const models::Settings& settings)
{
    if (m_impl->opening) {
        m_impl->restored = settings;
        return;
    }
    m_impl->document.setSettings(settings);
    m_undo.clear();
    m_impl->newest = nullptr;
    m_impl->exact.reset();
    m_impl->plan();
    m_impl->references();
}

void Workbench::whatIf(const std::vector<plan::Pin>& pins, QObject* context, WhatIf answer)
{
    models::Settings settings = m_impl->document.settings();
    settings.pins = pins;
    m_impl->engine.cancel(m_impl->whatIfRequest);
    m_impl->postponeExplanation();
    m_impl->whatIfRequest =
        m_impl->requestPlan("plan/make", m_impl->planParams(settings), context,
                            [impl = m_impl.get(), answer = std::move(answer)](base::Result<protocol::PlanRecord> plan) {
                                if (!plan && plan.error().code == base::ErrorCode::Cancelled) return;
                                impl->resumeExplanation();
                                answer(std::move(plan));
                            });
}

void Workbench::loadPlan(const QString& file)
{
    const auto text = readText(file);
    const QString what = tr("Loading a plan");
    if (!text) return m_impl->fail(what, text.error());
    json::Value params = documentParams(m_impl->engineDocument);
    params["text"] = *text;
    m_impl->requestPlan("plan/load", std::move(params), this,
                        [this, what, file](base::Result<protocol::PlanRecord> plan) {
                            if (!plan) return m_impl->fail(what, plan.error());
                            const auto loaded = std::make_shared<const protocol::PlanRecord>(std::move(*plan));
                            m_impl->push(tr("plan %1").arg(QFileInfo(file).fileName()), {.strategy = loaded->strategy,
                                                                                         .objective = loaded->objective,
                                                                                         .pins = loaded->pins,
                                                                                         .stages = {},
                                                                                         .exact = loaded});
                        });
}

void Workbench::savePlan(const QString& file)
{
    if (!m_impl->document.plan()) return;
    QSaveFile out(file);
    const std::string text = json::write(m_impl->document.plan()->document, true);
    const bool written =
        out.open(QIODevice::WriteOnly) && out.write(text.data(), static_cast<qint64>(text.size())) >= 0;
    if (!written || !out.commit())
        m_impl->fail(tr("Saving the plan"),
                     {base::ErrorCode::Input, out.errorString().toStdString(), "", file.toStdString()});
}

void Workbench::openReport(const QString& file)
{
    const auto text = readText(file);
    const QString what = tr("Opening a report");
    if (!text) return m_impl->fail(what, text.error());
    auto report = schema::readReport(*text, file.toStdString());
    if (!report) return m_impl->fail(what, report.error());
    m_impl->document.addRun({QFileInfo(file).fileName(), std::make_shared<const schema::Report>(std::move(*report)),
                             nullptr, QString::fromStdString(*text)});
}

void Workbench::startRun(bool paused)
{
    const models::Document& document = m_impl->document;
    if (running() || !m_impl->engineDocument || !document.plan()) return;
    const models::Settings& settings = document.settings();
    json::Value params = documentParams(m_impl->engineDocument);
    params["plan"] = document.plan()->document;
    params["device"] = settings.device.toStdString();
    params["memory"] = orNull(settings.memory);
    params["batch"] = orNull(settings.batch);
    params["output"] = settings.output.isEmpty() ? json::Value() : json::Value(settings.output.toStdString());
    params["verify"] = base::nameOf(settings.verify);
    params["nan"] = "propagate";
    params["paused"] = paused;
    m_impl->starting = true;
    m_impl->stopWanted = false;
    m_impl->lastRun.reset();
    m_impl->log = std::make_shared<models::RunLog>();
    m_impl->document.setRunLog(m_impl->log);
    emit runStateChanged();
    m_impl->engine.request("run/start", std::move(params), this,
                           [this](const base::Result<json::Value>& result) { m_impl->runAnswered(result); });
}

void Workbench::pause() { m_impl->control("run/pause", json::Value::object()); }

void Workbench::resume() { m_impl->control("run/resume", json::Value::object()); }

void Workbench::step(const QString& unit)
{
    if (!m_impl->run) {
        if (!m_impl->starting) startRun(true);
        if (m_impl->starting) m_impl->stepWanted = unit;
        return;
    }
    json::Value params = json::Value::object();
    params["unit"] = unit.toStdString();
    m_impl->control("run/step", std::move(params));
}

void Workbench::stopRun()
{
    m_impl->stopWanted = m_impl->starting;
    m_impl->control("run/cancel", json::Value::object());
}

void Workbench::requestSource(protocol::OpId op, QObject* context, Source answer)
{
    json::Value params = documentParams(m_impl->engineDocument);
    params["op"] = m_impl->document.model()->ops.at(op).id;
    m_impl->engine.request("model/source", std::move(params), context, std::move(answer));
}

void Workbench::peek(const QString& value, qint64 begin, qint64 end, QObject* context, EngineClient::Answer answer)
{
    json::Value params = documentParams(m_impl->engineDocument);
    params["run"] = m_impl->lastRun ? json::Value(*m_impl->lastRun) : json::Value();
    params["value"] = value.toStdString();
    params["begin"] = begin;
    params["end"] = end;
    m_impl->engine.request("tensor/peek", std::move(params), context, std::move(answer));
}

}  // namespace hopscope::jobs
