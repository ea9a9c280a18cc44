#include "jobs/workbench.h"

#include <QFile>
#include <QFileInfo>
#include <QSaveFile>

#include "jobs/opener.h"
#include "models/labels.h"
#include "models/pins.h"
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

QString valueName(const models::Document& document, protocol::ValueId value)
{
    return document.model() ? models::valueLabel(*document.model(), value) : models::text(ir::valueName(value));
}

}  // namespace

// Each member may use those before it.
struct Workbench::Impl {
    WorkbenchState state;
    RunControl runs{state};
    PlanQuestions questions{state};
    Planner planner{state, questions};
    Opener opener{state, planner, questions, runs};
    EngineQueries queries{state, runs};

    Impl(Workbench& bench, EngineClient& engine, models::Document& document, QUndoStack& undo)
        : state{.bench = bench, .engine = engine, .document = document, .undo = undo}
    {}
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
};

Workbench::Workbench(EngineClient& engine, models::Document& document, QObject* parent)
    : QObject(parent),
      m_impl(std::make_unique<Impl>(*this, engine, document, m_undo))
{
    Impl* impl = m_impl.get();
    connect(&engine, &EngineClient::died, this, [impl](const QString& reason) { impl->opener.engineDied(reason); });
    connect(&engine, &EngineClient::stateChanged, this, [impl](EngineState now) { impl->opener.engineState(now); });
    connect(&engine, &EngineClient::notified, this,
            [impl](const QString& method, const json::Value& params) { impl->runs.notified(method, params); });
    connect(&document, &models::Document::settingsChanged, this, [impl] { impl->runs.settingsChanged(); });
    connect(&engine, &EngineClient::progressed, this,
            [this, impl](std::int64_t request, const QString& what, std::int64_t done, std::int64_t total) {
                if (impl->planner.progressed(request) || impl->opener.isRequest(request))
                    emit progressed(what, total > 0 ? static_cast<double>(done) / static_cast<double>(total) : -1);
            });
}

Workbench::~Workbench() = default;

bool Workbench::running() const { return m_impl->runs.running(); }

bool Workbench::busy() const { return m_impl->opener.opening() || m_impl->planner.planning(); }

EngineQueries& Workbench::queries() { return m_impl->queries; }

void Workbench::open(const QString& model, const QStringList& data, const QStringList& roles)
{
    m_impl->opener.open({.model = model, .data = data, .roles = roles}, Opening::New);
}

void Workbench::reload()
{
    const models::Document& document = m_impl->state.document;
    if (!document.model()) return;
    m_impl->opener.open({.model = document.modelPath(), .data = document.data(), .roles = document.roles()},
                        Opening::Reload);
}

void Workbench::close() { m_impl->opener.close(); }

void Workbench::setStrategy(base::Strategy strategy, base::Objective objective)
{
    const QString name = QString::fromLatin1(base::nameOf(strategy));
    m_impl->planner.push(tr("strategy %1").arg(name), {.strategy = strategy, .objective = objective, .pins = {}});
}

void Workbench::optimiseAroundPins()
{
    Cuts after = m_impl->planner.cuts();
    after.strategy = base::Strategy::Optimal;
    after.exact.reset();
    m_impl->planner.push(tr("optimise around the pins"), after);
}

void Workbench::repair(const QString& what, const models::Repair& way)
{
    const models::Settings& wanted = way.wanted;
    m_impl->planner.push(
        what,
        {.strategy = wanted.strategy, .objective = wanted.objective, .pins = wanted.pins, .stages = wanted.stages});
}

void Workbench::pin(const plan::Pin& pin)
{
    if (!m_impl->state.document.model()) return;
    const Cuts after = withPin(m_impl->planner.cuts(), pin);
    const bool switched = after.strategy != m_impl->state.document.settings().strategy;
    const QString what = models::pinLabel(*m_impl->state.document.model(), pin);
    m_impl->planner.push(switched ? tr("%1, and optimise around the pins").arg(what) : what, after);
}

void Workbench::togglePin(const plan::Pin& pin)
{
    const std::vector<plan::Pin>& pins = m_impl->state.document.settings().pins;
    if (std::ranges::find(pins, pin) == pins.end()) return this->pin(pin);
    m_impl->planner.push(tr("unpin: %1").arg(models::pinLabel(*m_impl->state.document.model(), pin)),
                         withoutPin(m_impl->planner.cuts(), pin));
}

void Workbench::unpin(protocol::ValueId value)
{
    m_impl->planner.push(tr("let the strategy decide on %1").arg(valueName(m_impl->state.document, value)),
                         withoutPins(m_impl->planner.cuts(), value));
}

void Workbench::setStages(const std::optional<int>& stages)
{
    Cuts after = m_impl->planner.cuts();
    after.stages = stages;
    after.exact.reset();
    m_impl->planner.push(!stages        ? tr("use as few stages as needed")
                         : *stages == 1 ? tr("use a single stage")
                                        : tr("use up to %1 stages").arg(*stages),
                         after);
}

void Workbench::movePin(protocol::ValueId from, protocol::ValueId to)
{
    const models::Document& document = m_impl->state.document;
    m_impl->planner.push(tr("store %1 instead of %2").arg(valueName(document, to), valueName(document, from)),
                         withMove(m_impl->planner.cuts(), from, to));
}

void Workbench::clearPins()
{
    Cuts after = m_impl->planner.cuts();
    after.pins.clear();
    after.exact.reset();
    m_impl->planner.push(tr("remove all pins"), after);
}

void Workbench::setRunSettings(const models::Settings& settings)
{
    const base::Renews renews = base::renewedBy(m_impl->state.document.settings(), settings);
    m_impl->planner.setRunSettings(settings);
    if (renews == base::Renews::Model) reload();
}

void Workbench::restoreSettings(const models::Settings& settings)
{
    if (m_impl->opener.opening()) m_impl->opener.restoreLater(settings);
    else m_impl->planner.restore(settings);
}

void Workbench::planAgain()
{
    m_impl->questions.front().forget();
    if (!m_impl->state.exact) m_impl->planner.planAgain();
}

void Workbench::whatIf(const std::vector<plan::Pin>& pins, QObject* context, WhatIf answer)
{
    m_impl->questions.whatIf(pins, context, std::move(answer));
}

void Workbench::previewMove(protocol::ValueId from, protocol::ValueId to)
{
    m_impl->planner.holdSearch();
    m_impl->questions.preview(withMove(m_impl->planner.cuts(), from, to));
}

void Workbench::endPreview()
{
    m_impl->questions.endPreview();
    m_impl->planner.resumeSearch();
}

void Workbench::explain() { m_impl->questions.explain(); }

FrontSearch& Workbench::front() { return m_impl->questions.front(); }

void Workbench::loadPlan(const QString& file)
{
    const auto text = readText(file);
    const QString what = tr("Loading a plan");
    if (!text) return m_impl->state.fail(what, text.error());
    auto query = ofModel<protocol::LoadPlan>(m_impl->state);
    query.text = *text;
    const auto loading = [this, what, file](base::Result<protocol::PlanRecord> plan) {
        if (!plan) return m_impl->state.fail(what, plan.error());
        const auto loaded = std::make_shared<const protocol::PlanRecord>(std::move(*plan));
        m_impl->planner.push(tr("plan %1").arg(QFileInfo(file).fileName()), {.strategy = loaded->strategy,
                                                                             .objective = loaded->objective,
                                                                             .pins = loaded->pins,
                                                                             .stages = {},
                                                                             .exact = loaded});
    };
    m_impl->state.engine.ask(query, this, readingPlan(m_impl->state, this, loading));
}

void Workbench::savePlan(const QString& file)
{
    if (!m_impl->state.document.plan()) return;
    QSaveFile out(file);
    const std::string text = json::write(m_impl->state.document.plan()->document, true);
    const bool written =
        out.open(QIODevice::WriteOnly) && out.write(text.data(), static_cast<qint64>(text.size())) >= 0;
    if (!written || !out.commit())
        m_impl->state.fail(tr("Saving the plan"), {.code = base::ErrorCode::Input,
                                                   .message = out.errorString().toStdString(),
                                                   .hint = "",
                                                   .where = file.toStdString()});
}

void Workbench::openReport(const QString& file)
{
    const auto text = readText(file);
    if (!text) return m_impl->state.fail(tr("Opening a report"), text.error());
    openReport(QFileInfo(file).fileName(), QString::fromStdString(*text));
}

void Workbench::openReport(const QString& title, const QString& text)
{
    auto report = schema::readReport(text.toStdString(), title.toStdString());
    if (!report) return m_impl->state.fail(tr("Opening a report"), report.error());
    m_impl->state.document.addRun({.title = title,
                                   .report = std::make_shared<const schema::Report>(std::move(*report)),
                                   .log = nullptr,
                                   .reportText = text});
}

void Workbench::startRun(bool paused) { m_impl->runs.start(paused); }

void Workbench::pause() { m_impl->runs.pause(); }

void Workbench::resume() { m_impl->runs.resume(); }

void Workbench::step(protocol::RunStep unit) { m_impl->runs.step(unit); }

void Workbench::stopRun() { m_impl->runs.stop(); }

}  // namespace hopscope::jobs
