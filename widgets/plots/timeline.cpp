#include "plots/timeline.h"

#include "plots/axis_units.h"
#include "plots/stage_bars.h"

namespace hopscope::plots {

Timeline::Timeline(QWidget* parent) : TimeView(parent)
{
    setObjectName(QStringLiteral("timeline"));
    setAccessibleName(tr("Pipeline: activity of each lane over time"));
}

QSize Timeline::sizeHint() const
{
    return {400, rows() * (fontMetrics().height() + laneGap) + fontMetrics().height() + 8};
}

QSize Timeline::minimumSizeHint() const { return {160, sizeHint().height()}; }

void Timeline::append(int phase, const Interval& interval)
{
    const bool shown = isShown(phase);
    m_lanes.at(static_cast<std::size_t>(phase)).append(interval);
    if (!shown) updateGeometry();
}

// A run on a CPU copies nothing.
bool Timeline::isShown(int phase) const
{
    const auto kind = static_cast<plan::Phase>(phase);
    const bool copies = kind == plan::Phase::HostToDevice || kind == plan::Phase::DeviceToHost;
    return !copies || !m_lanes.at(static_cast<std::size_t>(phase)).lane().intervals().empty();
}

// Of the first phases, below the prologue's lane.
int Timeline::rowOf(int phase) const
{
    int row = m_prologue > 0 ? 1 : 0;
    for (int before = 0; before < phase; ++before) row += isShown(before) ? 1 : 0;
    return row;
}

void Timeline::setPrologue(double seconds)
{
    if (m_prologue == seconds) return;
    m_prologue = seconds;
    updateGeometry();
    update();
}

void Timeline::clear()
{
    setPrologue(0);
    for (PaintedLane& lane : m_lanes) lane.clear();
    updateGeometry();
    m_pointedAt.reset();
    showAllAgain();
}

QRect Timeline::lanesRect(const QSize& size) const
{
    int names = m_prologue > 0 ? fontMetrics().horizontalAdvance(tr("prologue")) : 0;
    for (int phase = 0; phase < protocol::phaseCount; ++phase)
        names = std::max(names, fontMetrics().horizontalAdvance(phaseTitle(phase)));
    const int left = names + textGap;
    return {left, 0, std::max(1, size.width() - left - 2), std::max(1, size.height() - fontMetrics().height() - 4)};
}

QRect Timeline::laneRect(const QRect& lanes, int phase) const
{
    return rowRect(lanes, rowOf(phase), rows(), fontMetrics().height());
}

QRect Timeline::prologueRect(const QSize& size) const
{
    const auto [from, to] = range();
    if (m_prologue <= from || from > 0) return {};
    const QRect lane = rowRect(lanesRect(size), 0, rows(), fontMetrics().height());
    const double share = std::min(1.0, (m_prologue - from) / (to - from));
    return {lane.topLeft(), QSize(std::max(1, static_cast<int>(share * lane.width())), lane.height())};
}

void Timeline::paintFigure(QPainter& painter, const QSize& size)
{
    const QRect lanes = lanesRect(size);
    painter.setFont(font());
    if (m_prologue > 0) {
        paintName(painter, rowRect(lanes, 0, rows(), fontMetrics().height()), tr("prologue"), theme());
        painter.fillRect(prologueRect(size), selected().valid() ? faded(theme().structure, 0.35) : theme().structure);
    }
    for (int phase = 0; phase < protocol::phaseCount; ++phase) {
        if (!isShown(phase)) continue;
        const QRect lane = laneRect(lanes, phase);
        paintName(painter, lane, phaseTitle(phase), theme());
        painter.save();
        painter.setClipRect(lane);
        paintLane(painter, lane, phase);
        painter.restore();
    }
    paintAxis(painter, lanes);
}

void Timeline::paintLane(QPainter& painter, const QRect& rect, int phase)
{
    PaintedLane& lane = m_lanes[static_cast<std::size_t>(phase)];
    if (lane.isSparse(range(), rect.width())) paintBars(painter, rect, phase);
    else lane.paintCoverage(painter, rect, range(), theme().phases.value(phase, theme().accent));
}

void Timeline::paintBars(QPainter& painter, const QRect& rect, int phase) const
{
    const QColor colour = theme().phases.value(phase, theme().accent);
    const auto [from, to] = range();
    const Lane& lane = m_lanes[static_cast<std::size_t>(phase)].lane();
    for (const Bar& bar : barsOf(lane, from, to, rect.left(), rect.width())) {
        const bool pale = selected().valid() && bar.interval->stage != selected();
        const QRectF shape(bar.left, rect.top(), bar.width, rect.height());
        painter.fillRect(shape, pale ? faded(colour, 0.35) : colour);
        if (!pale) paintNumber(painter, shape, colour, bar.interval->batch, theme());
        if (!pointedAt(*bar.interval)) continue;
        painter.setPen(QPen(theme().text, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(shape.adjusted(1, 1, -1, -1));
    }
}

const Interval* Timeline::intervalAt(const QPoint& at, int* phase) const
{
    const QRect lanes = lanesRect(size());
    for (int lane = 0; lane < protocol::phaseCount; ++lane) {
        if (!isShown(lane) || !laneRect(lanes, lane).contains(at)) continue;
        if (phase != nullptr) *phase = lane;
        return m_lanes[static_cast<std::size_t>(lane)].lane().at(momentAt(at));
    }
    return nullptr;
}

QString Timeline::describe(const QPoint& at) const
{
    if (prologueRect(size()).contains(at))
        return tr("prologue: values that depend on the graph alone, computed once\n%1")
            .arg(valueLabel(m_prologue, Unit::Seconds));
    int phase = 0;
    const Interval* interval = intervalAt(at, &phase);
    if (interval == nullptr) return {};
    QString text = tr("%1 · stage %2 · batch %3\n%4 at %5")
                       .arg(phaseTitle(phase))
                       .arg(interval->stage.number)
                       .arg(interval->batch)
                       .arg(valueLabel(interval->end - interval->start, Unit::Seconds),
                            valueLabel(interval->start, Unit::Seconds));
    std::vector<const Lane*> lanes;
    for (const PaintedLane& lane : m_lanes) lanes.push_back(&lane.lane());
    for (const auto& [lane, other] : atOnce(lanes, momentAt(at), static_cast<std::size_t>(phase)))
        text += tr("\nat the same time: %1 of batch %2").arg(phaseTitle(static_cast<int>(lane))).arg(other->batch);
    return text;
}

void Timeline::pointAt(const Interval* interval)
{
    const bool same = interval != nullptr ? pointedAt(*interval) : !m_pointedAt;
    m_pointedAt = interval != nullptr ? std::optional(*interval) : std::nullopt;
    if (!same) update();
}

bool Timeline::pointedAt(const Interval& interval) const
{
    return m_pointedAt && m_pointedAt->stage == interval.stage && m_pointedAt->batch == interval.batch;
}

void Timeline::pointAt(const QPoint& at) { pointAt(intervalAt(at)); }

protocol::StageId Timeline::stageAt(const QPoint& at) const
{
    const Interval* interval = intervalAt(at);
    return interval != nullptr ? interval->stage : protocol::StageId();
}

QString Timeline::figureTitle() const { return tr("Pipeline"); }

QString Timeline::csv() const
{
    QString lines = QStringLiteral("phase,stage,batch,start,seconds\n");
    if (m_prologue > 0) lines += QStringLiteral("prologue,0,0,0,%1\n").arg(m_prologue, 0, 'g', 9);
    for (std::size_t phase = 0; phase < m_lanes.size(); ++phase)
        for (const Interval& interval : m_lanes[phase].lane().intervals())
            lines += QStringLiteral("%1,%2,%3,%4,%5\n")
                         .arg(QString::fromLatin1(protocol::phaseName(phase)))
                         .arg(interval.stage.number)
                         .arg(interval.batch)
                         .arg(interval.start, 0, 'g', 9)
                         .arg(interval.end - interval.start, 0, 'g', 9);
    return lines;
}

}  // namespace hopscope::plots
