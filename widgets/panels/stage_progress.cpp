#include "panels/stage_progress.h"

#include <QMouseEvent>
#include <algorithm>
#include <cmath>

#include "models/labels.h"
#include "panels/run_feed.h"
#include "plots/stage_bars.h"

namespace hopscope::panels {

namespace {

const models::StageProgress* progressOf(const models::RunLog* log, protocol::StageId stage)
{
    if (log == nullptr) return nullptr;
    const auto found = std::ranges::find(log->stages(), stage, &models::StageProgress::index);
    return found == log->stages().end() ? nullptr : &*found;
}

int percent(double share) { return static_cast<int>(std::lround(100 * share)); }

// Copies are called hidden only if they are certainly the shorter part: copies in and out may also overlap.
QString overlapText(const models::StageProgress& stage)
{
    const double copying = stage.phases.h2d + stage.phases.d2h;
    const QString text = copying <= stage.phases.compute
                             ? StageProgressList::tr("copying hidden behind computation: %1 %")
                             : StageProgressList::tr("copying and computation overlapped: %1 %");
    return text.arg(percent(*stage.overlap));
}

QString peakText(std::int64_t peak, const protocol::PredictedStage* predicted)
{
    QString line = StageProgressList::tr("peak %1").arg(models::formatBytes(static_cast<double>(peak)));
    if (predicted != nullptr)
        line += StageProgressList::tr(", predicted %1")
                    .arg(models::formatBytes(static_cast<double>(predicted->peakMemory)));
    return line;
}

QString timeText(const models::StageProgress& stage, const protocol::PredictedStage* predicted)
{
    const QString measured = models::formatSeconds(stage.seconds);
    if (predicted == nullptr || !predicted->seconds) return measured;
    return StageProgressList::tr("%1, predicted %2").arg(measured, models::formatSeconds(*predicted->seconds));
}

QString boundText(const schema::StageRecord* record)
{
    if (record == nullptr) return {};
    return plots::boundText(record->seconds, record->boundSeconds, record->wall);
}

// The work of a stage in each phase, worded for "waits for".
QString doing(std::size_t phase)
{
    static constexpr std::array names{QT_TRANSLATE_NOOP("StageProgressList", "block building"),
                                      QT_TRANSLATE_NOOP("StageProgressList", "gathering"),
                                      QT_TRANSLATE_NOOP("StageProgressList", "copies to the GPU"),
                                      QT_TRANSLATE_NOOP("StageProgressList", "computation"),
                                      QT_TRANSLATE_NOOP("StageProgressList", "copies from the GPU"),
                                      QT_TRANSLATE_NOOP("StageProgressList", "writing")};
    static_assert(names.size() == protocol::phaseCount);
    return StageProgressList::tr(names.at(phase));
}

}  // namespace

QString waitText(const models::StageProgress& stage)
{
    constexpr double standsOut = 0.4;
    const auto largest = std::ranges::max_element(
        plan::namedPhases, {}, [&](const plan::NamedPhase& phase) { return stage.phases.*phase.seconds; });
    const double share = stage.seconds > 0 ? std::min(1.0, stage.phases.*largest->seconds / stage.seconds) : 0;
    if (share < standsOut) return {};
    const auto phase = static_cast<std::size_t>(largest - plan::namedPhases.begin());
    const QString text = largest->seconds == &plan::PhaseSeconds::compute
                             ? StageProgressList::tr("computes (%1 %)").arg(percent(share))
                             : StageProgressList::tr("waits for %1 (%2 %)").arg(doing(phase)).arg(percent(share));
    return text;
}

QString longestStageText(const models::RunLog& log)
{
    const auto longest = std::ranges::max_element(log.stages(), {}, &models::StageProgress::seconds);
    const QString waits = longest == log.stages().end() ? QString() : waitText(*longest);
    return waits.isEmpty() ? QString() : StageProgressList::tr("stage %1 %2").arg(longest->index.number).arg(waits);
}

int stagePercent(const models::StageProgress& stage)
{
    if (stage.finished) return 100;
    if (stage.destinations <= 0) return 0;
    return static_cast<int>(std::min<std::int64_t>(99, 100 * stage.done / stage.destinations));
}

QString stageStatus(const models::StageProgress* stage, const protocol::PredictedStage* predicted,
                    const schema::StageRecord* record)
{
    if (stage == nullptr) return StageProgressList::tr("waiting");
    QStringList parts;
    if (!stage->finished) parts << StageProgressList::tr("%1 %").arg(stagePercent(*stage));
    parts << timeText(*stage, predicted);
    if (stage->peakMemory > 0) parts << peakText(stage->peakMemory, predicted);
    QStringList lines{parts.join(QStringLiteral(" · "))}, causes{waitText(*stage), boundText(record)};
    causes.removeAll(QString());
    if (!causes.isEmpty()) lines << causes.join(QStringLiteral(" · "));
    if (stage->overlap) lines << overlapText(*stage);
    return lines.join(QLatin1Char('\n'));
}

StageProgressList::StageProgressList(QWidget* parent) : QWidget(parent), m_grid(new QGridLayout(this))
{
    setObjectName(QStringLiteral("stageProgress"));
    m_grid->setContentsMargins(10, 8, 10, 8);
    m_grid->setHorizontalSpacing(12);
    m_grid->setColumnStretch(1, 1);
    m_grid->setColumnStretch(2, 4);
}

void StageProgressList::setCount(int count)
{
    while (static_cast<int>(m_lines.size()) > count) {
        for (QWidget* part : {static_cast<QWidget*>(m_lines.back().name), static_cast<QWidget*>(m_lines.back().bar),
                              static_cast<QWidget*>(m_lines.back().status)})
            delete part;
        m_lines.pop_back();
    }
    while (static_cast<int>(m_lines.size()) < count) {
        const int row = static_cast<int>(m_lines.size());
        m_grid->setRowStretch(row, 0);
        Line line{.name = new QLabel(tr("Stage %1").arg(row + 1), this),
                  .bar = new QProgressBar(this),
                  .status = new QLabel(this)};
        line.bar->setObjectName(QStringLiteral("stage%1").arg(row + 1));
        line.bar->setAccessibleName(line.name->text());
        line.bar->setTextVisible(false);
        line.bar->setMinimumWidth(40);
        line.status->setObjectName(QStringLiteral("stage%1Status").arg(row + 1));
        line.status->setProperty("muted", true);
        line.status->setWordWrap(true);
        m_grid->addWidget(line.name, row, 0);
        m_grid->addWidget(line.bar, row, 1);
        m_grid->addWidget(line.status, row, 2);
        m_lines.push_back(line);
    }
    m_grid->setRowStretch(count, 1);
}

void StageProgressList::show(const models::RunLog* log, const protocol::PlanRecord* plan, const schema::Report* report)
{
    const int planned = plan != nullptr ? static_cast<int>(plan->stages.size()) : 0;
    const int running = log != nullptr ? std::max(log->stageCount(), static_cast<int>(log->stages().size())) : 0;
    setCount(running > 0 ? running : planned);
    for (int line = 0; line < static_cast<int>(m_lines.size()); ++line) fill(line, log, plan, report);
}

void StageProgressList::fill(int line, const models::RunLog* log, const protocol::PlanRecord* plan,
                             const schema::Report* report)
{
    const auto at = static_cast<std::size_t>(line);
    const models::StageProgress* stage = progressOf(log, protocol::StageId::at(at));
    Line& parts = m_lines[at];
    parts.bar->setValue(stage != nullptr ? stagePercent(*stage) : 0);
    const protocol::StageId id = protocol::StageId::at(at);
    const schema::StageRecord* record = schema::stageOf(report, id);
    parts.status->setText(stageStatus(stage, predictedOf(plan, id), record));
    const plan::StageFigures* figures = record != nullptr ? static_cast<const plan::StageFigures*>(record) : stage;
    parts.status->setToolTip(figures != nullptr ? models::figureLines(*figures).join(QLatin1Char('\n')) : QString());
}

void StageProgressList::setSelected(protocol::StageId stage)
{
    for (std::size_t line = 0; line < m_lines.size(); ++line) {
        QFont font = m_lines[line].name->font();
        font.setBold(protocol::StageId::at(line) == stage);
        m_lines[line].name->setFont(font);
    }
}

void StageProgressList::mouseReleaseEvent(QMouseEvent* event)
{
    for (std::size_t line = 0; line < m_lines.size(); ++line) {
        const QRect row = m_lines[line].name->geometry() | m_lines[line].status->geometry();
        if (row.contains(event->pos())) emit stageClicked(protocol::StageId::at(line));
    }
}

}  // namespace hopscope::panels
