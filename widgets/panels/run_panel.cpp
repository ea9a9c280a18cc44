#include "panels/run_panel.h"

#include <QFileInfo>
#include <QSplitter>

#include "models/labels.h"
#include "panels/column_fold.h"

namespace hopscope::panels {

namespace {

constexpr int verdictTab = 1;

using models::formatCount;
using models::formatSeconds;
using models::Target;
using protocol::RunState;

QString stateText(RunState state)
{
    switch (state) {
    case RunState::Preparing: return RunPanel::tr("Preparing");
    case RunState::Paused: return RunPanel::tr("Paused");
    case RunState::Verifying: return RunPanel::tr("Comparing with the unsplit model");
    case RunState::Finished:
    case RunState::Running: break;
    }
    return {};
}

QString stageText(const models::RunLog& log)
{
    const models::StageProgress& stage = log.stages().back();
    const auto whole = static_cast<double>(stage.destinations), done = static_cast<double>(stage.done);
    return RunPanel::tr("Stage %1 of %2 · %3 of %4 rows")
        .arg(stage.index.number)
        .arg(std::max(log.stageCount(), stage.index.number))
        .arg(formatCount(done), formatCount(whole));
}

QString settingsText(const models::Settings& settings)
{
    QStringList parts{settings.batch ? RunPanel::tr("batch %1").arg(formatCount(static_cast<double>(*settings.batch)))
                                     : RunPanel::tr("batch auto")};
    if (settings.memory)
        parts << RunPanel::tr("limit %1").arg(models::formatBytes(static_cast<double>(*settings.memory)));
    return parts.join(QStringLiteral(" · "));
}

QString finishedText(const models::RunLog& log, const QString& time)
{
    const QString longest = longestStageText(log), text = RunPanel::tr("Finished after %1").arg(time);
    return longest.isEmpty() || log.stages().size() < 2 ? text : text + QStringLiteral(" · ") + longest;
}

// Uses the whole time from the report: no event carries it.
QString endText(const models::RunLog& log, const schema::Report* report)
{
    const QString time = formatSeconds(report != nullptr ? report->seconds : log.elapsed());
    switch (log.end()) {
    case models::RunEnd::Completed: return finishedText(log, time);
    case models::RunEnd::Failed:
        return log.remark().isEmpty() ? RunPanel::tr("Failed after %1").arg(time)
                                      : RunPanel::tr("Failed after %1: %2").arg(time, log.remark());
    case models::RunEnd::Stopped: break;
    }
    if (!log.remark().isEmpty()) return RunPanel::tr("Stopped after %1: %2").arg(time, log.remark());
    return log.endedVerifying()
               ? RunPanel::tr("Stopped during the comparison: nothing was verified, and no results were kept")
               : RunPanel::tr("Stopped after %1: no results were kept").arg(time);
}

}  // namespace

std::optional<double> runSecondsLeft(const models::RunLog& log, const protocol::PlanRecord& plan)
{
    const double here = log.secondsLeft();
    if (here < 0 || log.stages().empty() || !plan.predicted) return std::nullopt;
    double measured = 0, expected = 0, later = 0;
    for (const protocol::PredictedStage& stage : plan.predicted->stages) {
        if (!stage.seconds) return std::nullopt;
        const auto known = std::ranges::find(log.stages(), stage.index, &models::StageProgress::index);
        if (known == log.stages().end()) {
            later += *stage.seconds;
            continue;
        }
        const double share = known->finished ? 1 : stagePercent(*known) / 100.0;
        measured += known->seconds;
        expected += share * *stage.seconds;
    }
    return here + later * (expected > 0 ? measured / expected : 1);
}

namespace {

QString leftText(const models::RunLog& log, const protocol::PlanRecord* plan)
{
    const QString here = RunPanel::tr("%1 left in this stage").arg(formatSeconds(log.secondsLeft()));
    const std::optional<double> all = plan ? runSecondsLeft(log, *plan) : std::nullopt;
    return all ? RunPanel::tr("%1, about %2 in all").arg(here, formatSeconds(*all)) : here;
}

}  // namespace

QString progressText(const models::RunLog& log, const protocol::PlanRecord* plan, const schema::Report* report)
{
    if (log.state() == RunState::Finished) return endText(log, report);
    QStringList parts;
    if (const QString state = stateText(log.state()); !state.isEmpty()) parts << state;
    if (!log.stages().empty()) parts << stageText(log);
    if (log.state() == RunState::Running) {
        if (log.rate() > 0) parts << RunPanel::tr("%1 rows/s").arg(formatCount(log.rate()));
        if (log.secondsLeft() >= 0) parts << leftText(log, plan);
    }
    return parts.join(QStringLiteral(" · "));
}

QString resultText(const models::FinishedRun& run)
{
    return RunPanel::tr("%1 · %2 · %3")
        .arg(run.title.section(u':', 0, 0), formatSeconds(run.report->seconds), verdictOf(*run.report).headline);
}

RunPanel::RunPanel(const Context& context, QWidget* parent)
    : Panel(parent),
      m_context(context),
      m_timeline(new plots::Timeline(this)),
      m_feed(*m_timeline),
      m_clock(this)
{
    setObjectName(QStringLiteral("run"));
    auto* content = new QWidget(this);
    auto* layout = new QVBoxLayout(content);
    layout->setContentsMargins(12, 8, 12, 8);
    layout->setSpacing(6);
    setupHeader(*layout);
    setupBody(*layout);
    fillWith(this, content);
    setupConnections();
    showRuns();
    watch();
}

// A run may have been started elsewhere, or while the panel was hidden.
void RunPanel::showEvent(QShowEvent* event)
{
    Panel::showEvent(event);
    m_clock.request();
}

void RunPanel::setupHeader(QBoxLayout& layout)
{
    m_title = new ElidedLabel(QStringLiteral("runTitle"), this);
    m_title->setProperty("heading", true);
    m_result = new ElidedLabel(QStringLiteral("runResult"), this);
    m_result->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    auto* top = new QHBoxLayout;
    top->addWidget(m_title, 1);
    top->addWidget(m_result, 1);
    m_controls = new RunControls(m_context, this);
    m_missing = new ElidedLabel(QStringLiteral("missingDevices"), this);
    m_missing->setProperty("muted", true);
    m_progress = new QProgressBar(this);
    m_progress->setObjectName(QStringLiteral("runProgress"));
    m_progress->setAccessibleName(tr("Progress of the run"));
    m_progress->setRange(0, 1000);
    m_progress->setTextVisible(false);
    m_status = new ElidedLabel(QStringLiteral("runStatus"), this);
    m_status->setProperty("muted", true);
    layout.addLayout(top);
    layout.addWidget(m_controls);
    layout.addWidget(m_missing);
    layout.addWidget(m_progress);
    layout.addWidget(m_status);
}

void RunPanel::setupBody(QBoxLayout& layout)
{
    m_tabs = new QTabWidget(this);
    m_tabs->setObjectName(QStringLiteral("runTabs"));
    m_stages = new StageProgressList(this);
    m_verdict = new VerdictCard(this);
    setupRuns();
    m_tabs->addTab(scrolled(m_stages, this), tr("Stages"));
    QScrollArea* verdict = scrolled(m_verdict, this);
    verdict->setObjectName(QStringLiteral("verdictArea"));
    m_tabs->addTab(verdict, tr("Verdict"));
    m_tabs->addTab(m_runTable, tr("Runs"));
    auto* split = new QSplitter(Qt::Horizontal, this);
    split->setObjectName(QStringLiteral("runSplit"));
    split->addWidget(setupLanes());
    split->addWidget(m_tabs);
    split->setStretchFactor(0, 3);
    split->setStretchFactor(1, 2);
    split->setChildrenCollapsible(false);
    layout.addWidget(split, 1);
}

// The lanes of the pipeline, or of the workers.
QWidget* RunPanel::setupLanes()
{
    auto* left = new QWidget(this);
    auto* both = new QVBoxLayout(left);
    both->setContentsMargins(0, 4, 8, 0);
    m_pipeline = new QWidget(left);
    auto* pipeline = new QVBoxLayout(m_pipeline);
    pipeline->setContentsMargins(0, 0, 0, 0);
    pipeline->addWidget(heading(tr("Pipeline"), this));
    pipeline->addWidget(m_timeline);
    pipeline->addStretch(1);
    m_workers = new WorkerPart(left);
    m_workers->hide();
    both->addWidget(m_pipeline);
    both->addWidget(m_workers);
    both->addStretch(1);
    return left;
}

void RunPanel::setupRuns()
{
    m_runTable = makeTable(QStringLiteral("runs"), &m_runs, this);
    m_runTable->setAccessibleName(tr("Finished runs"));
    fitColumns(*m_runTable);
    using models::RunColumn;
    for (const RunColumn column : {RunColumn::Device, RunColumn::Strategy, RunColumn::Stages})
        m_runTable->setColumnHidden(static_cast<int>(column), true);
    new ColumnFold(*m_runTable, {static_cast<int>(RunColumn::Moved), static_cast<int>(RunColumn::Peak),
                                 static_cast<int>(RunColumn::Verdict)});
    connect(m_runTable->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& index) {
                const auto& runs = m_context.document.runs();
                if (index.isValid() && static_cast<std::size_t>(index.row()) < runs.size())
                    m_verdict->setRun(&runs[static_cast<std::size_t>(index.row())], m_context.document.model().get());
            });
}

void RunPanel::setupConnections()
{
    models::Document& document = m_context.document;
    connect(&document, &models::Document::runChanged, this, &RunPanel::watch);
    connect(&document, &models::Document::runsChanged, this, &RunPanel::showRuns);
    connect(&document, &models::Document::modelChanged, this, &RunPanel::showTitle);
    connect(&document, &models::Document::settingsChanged, this, &RunPanel::showTitle);
    connect(&document, &models::Document::planChanged, &m_clock, &plots::FrameClock::request);
    connect(&m_context.workbench, &jobs::Workbench::runFinished, this, &RunPanel::runEnded);
    connect(&m_context.workbench, &jobs::Workbench::failed, this, &RunPanel::showFailure);
    connect(&m_context.selection, &models::Selection::changed, this, &RunPanel::follow);
    connect(&m_clock, &plots::FrameClock::frame, this, &RunPanel::draw);
    const auto select = [this](protocol::StageId stage) { m_context.selection.select(Target::stage(stage)); };
    connect(m_timeline, &plots::Timeline::stageClicked, this, select);
    connect(&m_workers->lanes(), &plots::WorkerLanes::stageClicked, this, select);
    connect(m_stages, &StageProgressList::stageClicked, this, select);
    if (m_context.engine != nullptr)
        connect(m_context.engine, &jobs::EngineClient::stateChanged, this, &RunPanel::showMissing);
    showMissing();
}

void RunPanel::showMissing()
{
    const QString text = m_context.engine != nullptr ? missingDevices(m_context.engine->serverInfo()) : QString();
    m_missing->setFullText(text);
    m_missing->setVisible(!text.isEmpty());
    showTitle();
}

void RunPanel::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    m_timeline->setTheme(theme);
    m_workers->setTheme(theme);
    m_verdict->setTheme(theme);
    m_controls->setTheme(theme);
    showRuns();
}

void RunPanel::showTitle()
{
    const models::ModelPtr& model = m_context.document.model();
    const models::Settings& settings = m_context.document.settings();
    const QString name = model ? QFileInfo(models::text(model->path)).fileName() : tr("No model is open");
    const QString workers = m_context.engine != nullptr ? workersText(m_context.engine->serverInfo()) : QString();
    const QString where = workers.isEmpty() ? models::text(settings.device) : workers;
    m_title->setFullText(model ? tr("%1 on %2 · %3").arg(name, where, settingsText(settings)) : name);
}

void RunPanel::watch()
{
    disconnect(m_updates);
    const std::shared_ptr<models::RunLog>& log = m_context.document.runLog();
    if (log) m_updates = connect(log.get(), &models::RunLog::updated, &m_clock, &plots::FrameClock::request);
    if (log && log->state() != RunState::Finished) {
        m_tabs->setCurrentIndex(0);
        m_result->setFullText({});
    }
    m_clock.request();
}

void RunPanel::draw()
{
    const models::RunLog* log = m_context.document.runLog().get();
    m_feed.read(log);
    m_controls->refresh();
    if (!isVisible()) return;
    drawLanes();
    m_stages->show(log, m_context.document.plan().get(), reportOf(log));
    m_progress->setValue(log != nullptr ? static_cast<int>(1000 * log->fraction()) : 0);
    m_status->setFullText(log != nullptr ? progressText(*log, m_context.document.plan().get(), reportOf(log))
                                         : tr("Press Start to run all stages."));
}

void RunPanel::drawLanes()
{
    const std::shared_ptr<models::RunLog>& log = m_context.document.runLog();
    const bool dealt = log && log->workers() != nullptr;
    m_pipeline->setVisible(!dealt);
    m_workers->setVisible(dealt);
    if (dealt) m_workers->display(log);
    else m_timeline->refresh();
}

const schema::Report* RunPanel::reportOf(const models::RunLog* log) const
{
    const auto& runs = m_context.document.runs();
    const auto found = std::ranges::find_if(runs, [&](const auto& run) { return run.log && run.log.get() == log; });
    return found == runs.end() ? nullptr : found->report.get();
}

void RunPanel::showRuns()
{
    const std::vector<models::FinishedRun>& runs = m_context.document.runs();
    m_runs.setRows(models::runRows(runs));
    m_verdict->setRun(runs.empty() ? nullptr : &runs.back(), m_context.document.model().get());
    const ShownVerdict& verdict = m_verdict->verdict();
    const bool said = verdict.kind || !verdict.finite, finding = said && !verdict.good();
    m_result->setFullText(said ? resultText(runs.back()) : QString());
    m_tabs->setTabText(verdictTab, finding ? tr("Verdict (1)") : tr("Verdict"));
    emit findingsChanged(finding ? 1 : 0);
    QPalette palette = m_result->palette();
    palette.setColor(QPalette::WindowText, colourOf(verdict, m_theme));
    m_result->setPalette(palette);
    m_clock.request();
}

void RunPanel::runEnded()
{
    if (m_verdict->verdict().kind) m_tabs->setCurrentIndex(verdictTab);
    m_clock.request();
}

void RunPanel::showFailure(const QString& what, const QString& sentence, const QString&)
{
    m_status->setFullText(tr("%1: %2").arg(what, sentence));
}

void RunPanel::follow(const Target& target)
{
    protocol::StageId stage = target.stageId();
    const models::PlanPtr& plan = m_context.document.plan();
    if (plan && target.kind == Target::Kind::Op) {
        const std::vector<protocol::StageId> stages = plan->stagesOf(target.opId());
        stage = stages.empty() ? protocol::StageId() : stages.front();
    }
    m_timeline->setSelected(stage);
    m_workers->lanes().setSelected(stage);
    m_stages->setSelected(stage);
}

Panel* makeRunPanel(const Context& context, QWidget* parent) { return new RunPanel(context, parent); }

}  // namespace hopscope::panels
