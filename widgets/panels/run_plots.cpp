#include "panels/run_plots.h"

#include <QFileDialog>

#include "models/labels.h"
#include "panels/flow_layout.h"
#include "panels/parts.h"

namespace hopscope::panels {

namespace {

using models::Target;

constexpr int barsEvery = 15;  // frames: bars change slowly
constexpr int current = -1;    // in the lists: the current run or the last one

const models::FinishedRun* finishedRun(const models::Document& document, const models::RunLog* log)
{
    const auto found = std::ranges::find_if(document.runs(), [&](const auto& run) { return run.log.get() == log; });
    return found == document.runs().end() ? nullptr : &*found;
}

std::vector<double> peaks(const schema::Report& report)
{
    std::vector<double> found;
    for (const schema::StageRecord& stage : report.stages) found.push_back(static_cast<double>(stage.peakMemory));
    return found;
}

}  // namespace

RunPlots::RunPlots(const Context& context, QWidget* parent) : Panel(parent), m_context(context), m_clock(this)
{
    setObjectName(QStringLiteral("plots"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 8, 12, 8);
    setupHeader(*layout);
    m_empty = mutedLabel(tr("Time, memory and throughput appear here while a model runs."), this);
    m_empty->setObjectName(QStringLiteral("noRun"));
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    layout->addWidget(m_empty, 1);
    setupPlots(*layout);
    m_feed = std::make_unique<BatchFeed>(m_memory->series(), m_memory->second(), m_rate->series(), m_size->series());
    setupConnections();
    fillRuns();
    watch();
}

void RunPlots::setupHeader(QBoxLayout& layout)
{
    const auto list = [this](const char* name, const QString& label) {
        auto* box = new QComboBox(this);
        box->setObjectName(QString::fromLatin1(name));
        box->setAccessibleName(label);
        box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
        return box;
    };
    m_header = new QWidget(this);
    auto* flow = new FlowLayout(m_header);
    m_shown = list("shownRun", tr("Run to show"));
    m_other = list("otherRun", tr("Run to compare with"));
    m_open = new QPushButton(tr("Open report…"), this);
    m_open->setObjectName(QStringLiteral("openReport"));
    m_open->setAccessibleName(m_open->text());
    for (const auto& [title, box] : {std::pair{tr("Show"), m_shown}, std::pair{tr("next to"), m_other}}) {
        auto* group = new QWidget(m_header);
        auto* row = new QHBoxLayout(group);
        row->setContentsMargins(0, 0, 0, 0);
        row->addWidget(mutedLabel(title, this));
        row->addWidget(box);
        flow->addWidget(group);
    }
    flow->addWidget(m_open);
    layout.addWidget(m_header);
}

void RunPlots::setupPlots(QBoxLayout& layout)
{
    m_content = new QWidget(this);
    auto* all = new QVBoxLayout(m_content);
    all->setContentsMargins(0, 0, 0, 0);
    all->setSpacing(8);
    m_bars = new plots::StageBars(m_content);
    const auto plot = [this](const char* name, const QString& title, plots::Unit unit) {
        auto* made = new plots::TimePlot(title, unit, m_content);
        made->setObjectName(QString::fromLatin1(name));
        connect(made, &plots::TimePlot::stageClicked, this,
                [this](protocol::StageId stage) { m_context.selection.select(Target::stage(stage)); });
        return made;
    };
    m_memory = plot("memoryPlot", tr("Device memory"), plots::Unit::Bytes);
    m_memory->setSecondName(tr("reserved by the allocator"));
    m_rate = plot("ratePlot", tr("Destinations per second"), plots::Unit::Count);
    m_size = plot("sizePlot", tr("Destinations per batch"), plots::Unit::Count);
    auto* small = new QHBoxLayout;
    small->setSpacing(12);
    small->addWidget(m_rate);
    small->addWidget(m_size);
    all->addWidget(m_bars, 4);
    all->addWidget(m_memory, 4);
    all->addLayout(small, 3);
    m_dealt = wrapped(QStringLiteral("plotsOfWorkers"), m_content);
    m_dealt->setText(tr("Memory and batch sizes are not available for runs of several workers. Times by phase appear "
                        "at the end of the run, for the worker that finished it."));
    m_dealt->setProperty("muted", true);
    m_dealt->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    all->addWidget(m_dealt);
    m_area = scrolled(m_content, this);
    m_area->setObjectName(QStringLiteral("plotsArea"));
    layout.addWidget(m_area, 4);
}

void RunPlots::setupConnections()
{
    models::Document& document = m_context.document;
    connect(&document, &models::Document::runsChanged, this, &RunPlots::fillRuns);
    connect(&document, &models::Document::runChanged, this, [this] {
        m_shown->setCurrentIndex(0);
        watch();
    });
    connect(&document, &models::Document::planChanged, &m_clock, &plots::FrameClock::request);
    connect(&document, &models::Document::settingsChanged, &m_clock, &plots::FrameClock::request);
    connect(&m_context.selection, &models::Selection::changed, this, &RunPlots::follow);
    connect(m_bars, &plots::StageBars::stageClicked, this,
            [this](protocol::StageId stage) { m_context.selection.select(Target::stage(stage)); });
    connect(&m_clock, &plots::FrameClock::frame, this, &RunPlots::draw);
    connect(m_shown, &QComboBox::currentIndexChanged, this, &RunPlots::watch);
    connect(m_other, &QComboBox::currentIndexChanged, this, &RunPlots::watch);
    connect(m_open, &QPushButton::clicked, this, &RunPlots::chooseFile);
}

void RunPlots::setTheme(const style::Theme& theme)
{
    m_bars->setTheme(theme);
    for (plots::TimePlot* plot : {m_memory, m_rate, m_size}) plot->setTheme(theme);
}

QList<plots::Figure*> RunPlots::figures() const
{
    const auto log = shownLog();
    if (log && log->workers() != nullptr) return {m_bars, m_rate};
    if (log) return {m_bars, m_memory, m_rate, m_size};
    return chosen(*m_shown) != nullptr ? QList<plots::Figure*>{m_bars} : QList<plots::Figure*>();
}

void RunPlots::bringUpToDate()
{
    const auto log = shownLog();
    m_feed->read(log.get());
    drawBars();
    drawCurves(log.get());
}

void RunPlots::chooseFile()
{
    const QString file = QFileDialog::getOpenFileName(this, tr("Open report"), {}, tr("Reports (*.json)"));
    if (!file.isEmpty()) m_context.workbench.openReport(file);
}

// A report that was opened is shown next to the current run, or alone if there is none.
void RunPlots::fillRuns()
{
    const std::vector<models::FinishedRun>& runs = m_context.document.runs();
    const QVariant shown = m_shown->currentData(), other = m_other->currentData();
    {
        const QSignalBlocker quietShown(m_shown), quietOther(m_other);
        m_shown->clear();
        m_other->clear();
        m_shown->addItem(tr("the current run"), current);
        m_other->addItem(tr("no other run"), current);
        for (std::size_t at = 0; at < runs.size(); ++at)
            for (QComboBox* box : {m_shown, m_other}) box->addItem(runs[at].title, static_cast<int>(at));
        m_shown->setCurrentIndex(std::max(0, m_shown->findData(shown)));
        m_other->setCurrentIndex(std::max(0, m_other->findData(other)));
        const bool opened = runs.size() == m_runCount + 1 && !runs.back().log;
        if (opened) (m_context.document.runLog() ? m_other : m_shown)->setCurrentIndex(static_cast<int>(runs.size()));
    }
    m_runCount = runs.size();
    watch();
}

const models::FinishedRun* RunPlots::chosen(const QComboBox& box) const
{
    const int index = box.currentData().isValid() ? box.currentData().toInt() : current;
    const auto& runs = m_context.document.runs();
    return index >= 0 && static_cast<std::size_t>(index) < runs.size() ? &runs[static_cast<std::size_t>(index)]
                                                                       : nullptr;
}

// A run is not compared with itself.
const models::FinishedRun* RunPlots::chosenOther() const
{
    const models::FinishedRun* other = chosen(*m_other);
    const models::FinishedRun* shown = chosen(*m_shown);
    if (shown == nullptr) shown = finishedRun(m_context.document, shownLog().get());
    return other == shown ? nullptr : other;
}

std::shared_ptr<const models::RunLog> RunPlots::shownLog() const
{
    if (const models::FinishedRun* run = chosen(*m_shown)) return run->log;
    return m_context.document.runLog();
}

void RunPlots::watch()
{
    disconnect(m_updates);
    const auto log = shownLog();
    if (log) m_updates = connect(log.get(), &models::RunLog::updated, &m_clock, &plots::FrameClock::request);
    const bool any = log || chosen(*m_shown) != nullptr;
    m_area->setVisible(any);
    m_empty->setVisible(!any);
    showCurves(log.get());
    m_header->setVisible(any || !m_context.document.runs().empty());
    m_openEnd = 0;
    m_barFrames = 0;
    drawOther();
    m_clock.request();
}

void RunPlots::showEvent(QShowEvent* event)
{
    Panel::showEvent(event);
    m_clock.request();
}

void RunPlots::draw()
{
    const auto log = shownLog();
    m_feed->read(log.get());
    if (!isVisible()) return;
    // Bars are costly: they are drawn now and then while batches are fast, and at once when the run rests.
    const bool flying = log && log->state() == protocol::RunState::Running;
    if (!flying || m_barFrames++ % barsEvery == 0) drawBars();
    drawCurves(log.get());
}

void RunPlots::drawBars()
{
    std::vector<plots::StageRun> runs;
    const auto log = shownLog();
    const models::FinishedRun* shown = chosen(*m_shown);
    const models::FinishedRun* other = chosenOther();
    // A finished run's report is complete; some phases of a fast run never arrive as events.
    if (shown == nullptr && log) shown = finishedRun(m_context.document, log.get());
    if (shown != nullptr && shown->report) runs.push_back(stageRun(shown->title, *shown->report));
    else if (log) runs.push_back(stageRun(tr("current run"), *log, m_context.document.plan().get()));
    if (other != nullptr && other->report) runs.push_back(stageRun(other->title, *other->report));
    m_bars->setRuns(std::move(runs));
}

void RunPlots::drawCurves(const models::RunLog* log)
{
    showCurves(log);
    if (log == nullptr) return;
    const bool finished = log->state() == protocol::RunState::Finished;
    m_openEnd = finished ? log->elapsed() : plots::growingEnd(m_openEnd, log->elapsed());
    std::vector<plots::Band> bands = bandsOf(*log, m_context.document.plan().get(), m_openEnd);
    m_memory->setBands(bands);
    for (plots::Band& band : bands) band.level.reset();
    const auto limit = m_context.document.settings().memory;
    m_memory->setLimit(limit ? std::optional(static_cast<double>(*limit)) : std::nullopt);
    for (plots::TimePlot* plot : {m_rate, m_size}) plot->setBands(bands);
    for (plots::TimePlot* plot : {m_memory, m_rate, m_size}) {
        plot->setEnd(log->elapsed(), finished);
        plot->refresh();
    }
}

// With several workers only the rate is known before the report arrives.
void RunPlots::showCurves(const models::RunLog* log)
{
    const bool dealt = log != nullptr && log->workers() != nullptr;
    for (plots::TimePlot* plot : {m_memory, m_size}) plot->setVisible(log != nullptr && !dealt);
    m_rate->setVisible(log != nullptr);
    m_bars->setVisible(!dealt || finishedRun(m_context.document, log) != nullptr);
    m_dealt->setVisible(dealt);
}

void RunPlots::drawOther()
{
    const models::FinishedRun* other = chosenOther();
    const bool known = other != nullptr && other->report;
    m_memory->setOther(known ? other->title : QString(), known ? peaks(*other->report) : std::vector<double>());
}

void RunPlots::follow(const Target& target)
{
    protocol::StageId stage = target.stageId();
    const models::PlanPtr& plan = m_context.document.plan();
    if (plan && target.kind == Target::Kind::Op) {
        const std::vector<protocol::StageId> stages = plan->stagesOf(target.opId());
        stage = stages.empty() ? protocol::StageId() : stages.front();
    }
    m_bars->setSelected(stage);
    for (plots::TimePlot* plot : {m_memory, m_rate, m_size}) plot->setSelected(stage);
}

Panel* makeRunPlots(const Context& context, QWidget* parent) { return new RunPlots(context, parent); }

}  // namespace hopscope::panels
