#include "plots/timeline.h"

#include "plots/axis_units.h"
#include "plots/stage_bars.h"

namespace hopscope::plots {

Timeline::Timeline(QWidget* parent) : TimeView(parent), m_lanes(protocol::phaseCount)
{
    setObjectName(QStringLiteral("timeline"));
    setAccessibleName(tr("Pipeline: activity of each lane over time"));
}

QSize Timeline::sizeHint() const
{
    return {400, rows() * (fontMetrics().height() + laneGap) + fontMetrics().height() + 8};
}

QSize Timeline::minimumSizeHint() const { return {160, sizeHint().height()}; }

void Timeline::append(int phase, const Interval& interval, int device)
{
    const int before = rows(), lane = device * protocol::phaseCount + phase;
    const auto needed = static_cast<std::size_t>((device + 1) * protocol::phaseCount);
    if (m_lanes.size() < needed) m_lanes.resize(needed);
    m_lanes.at(static_cast<std::size_t>(lane)).append(interval);
    if (rows() != before) updateGeometry();
}

QString Timeline::titleOf(int lane) const
{
    const QString phase = phaseTitle(phaseOf(lane));
    return lanes() > protocol::phaseCount ? tr("%1, GPU %2").arg(phase).arg(lane / protocol::phaseCount + 1) : phase;
}

// A run on a CPU copies nothing.
bool Timeline::isShown(int lane) const
{
    const auto kind = static_cast<plan::Phase>(phaseOf(lane));
    const bool copies = kind == plan::Phase::HostToDevice || kind == plan::Phase::DeviceToHost;
    return !copies || !m_lanes.at(static_cast<std::size_t>(lane)).lane().intervals().empty();
}

// Of the first lanes, below the prologue's one.
int Timeline::rowOf(int lane) const
{
    int row = m_prologue > 0 ? 1 : 0;
    for (int before = 0; before < lane; ++before) row += isShown(before) ? 1 : 0;
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
    m_lanes = std::vector<PaintedLane>(protocol::phaseCount);
    updateGeometry();
    m_pointedAt.reset();
    showAllAgain();
}

QRect Timeline::lanesRect(const QSize& size) const
{
    int names = m_prologue > 0 ? fontMetrics().horizontalAdvance(tr("prologue")) : 0;
    for (int lane = 0; lane < this->lanes(); ++lane)
        names = std::max(names, fontMetrics().horizontalAdvance(titleOf(lane)));
    const int left = names + textGap;
    return {left, 0, std::max(1, size.width() - left - 2), std::max(1, size.height() - fontMetrics().height() - 4)};
}

QRect Timeline::laneRect(const QRect& lanes, int lane) const
{
    return rowRect(lanes, rowOf(lane), rows(), fontMetrics().height());
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
    for (int lane = 0; lane < this->lanes(); ++lane) {
        if (!isShown(lane)) continue;
        const QRect rect = laneRect(lanes, lane);
        paintName(painter, rect, titleOf(lane), theme());
        painter.save();
        painter.setClipRect(rect);
        paintLane(painter, rect, lane);
        painter.restore();
    }
    paintAxis(painter, lanes);
}

void Timeline::paintLane(QPainter& painter, const QRect& rect, int lane)
{
    PaintedLane& painted = m_lanes[static_cast<std::size_t>(lane)];
    if (painted.isSparse(range(), rect.width())) paintBars(painter, rect, lane);
    else painted.paintCoverage(painter, rect, range(), theme().phases.value(phaseOf(lane), theme().accent));
}

void Timeline::paintBars(QPainter& painter, const QRect& rect, int lane) const
{
    const QColor colour = theme().phases.value(phaseOf(lane), theme().accent);
    const auto [from, to] = range();
    const Lane& intervals = m_lanes[static_cast<std::size_t>(lane)].lane();
    for (const Bar& bar : barsOf(intervals, from, to, rect.left(), rect.width())) {
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

const Interval* Timeline::intervalAt(const QPoint& at, int* lane) const
{
    const QRect lanes = lanesRect(size());
    for (int each = 0; each < this->lanes(); ++each) {
        if (!isShown(each) || !laneRect(lanes, each).contains(at)) continue;
        if (lane != nullptr) *lane = each;
        return m_lanes[static_cast<std::size_t>(each)].lane().at(momentAt(at));
    }
    return nullptr;
}

QString Timeline::describe(const QPoint& at) const
{
    if (prologueRect(size()).contains(at))
        return tr("prologue: values that depend on the graph alone, computed once\n%1")
            .arg(valueLabel(m_prologue, Unit::Seconds));
    int lane = 0;
    const Interval* interval = intervalAt(at, &lane);
    if (interval == nullptr) return {};
    QString text = tr("%1 · stage %2 · batch %3\n%4 at %5")
                       .arg(titleOf(lane))
                       .arg(interval->stage.number)
                       .arg(interval->batch)
                       .arg(valueLabel(interval->end - interval->start, Unit::Seconds),
                            valueLabel(interval->start, Unit::Seconds));
    std::vector<const Lane*> all;
    for (const PaintedLane& painted : m_lanes) all.push_back(&painted.lane());
    for (const auto& [number, other] : atOnce(all, momentAt(at), static_cast<std::size_t>(lane)))
        text += tr("\nat the same time: %1 of batch %2").arg(titleOf(static_cast<int>(number))).arg(other->batch);
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
    for (int lane = 0; lane < lanes(); ++lane)
        for (const Interval& interval : m_lanes[static_cast<std::size_t>(lane)].lane().intervals())
            lines += QStringLiteral("%1,%2,%3,%4,%5\n")
                         .arg(QString::fromLatin1(protocol::phaseName(phaseOf(lane))))
                         .arg(interval.stage.number)
                         .arg(interval.batch)
                         .arg(interval.start, 0, 'g', 9)
                         .arg(interval.end - interval.start, 0, 'g', 9);
    return lines;
}

}  // namespace hopscope::plots
