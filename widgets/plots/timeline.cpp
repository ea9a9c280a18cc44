#include "plots/timeline.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>
#include <cmath>

#include "plots/axis_units.h"
#include "plots/stage_bars.h"

namespace hopscope::plots {

namespace {

constexpr int laneGap = 4;
constexpr int textGap = 10;

QColor faded(QColor colour, double alpha)
{
    colour.setAlphaF(static_cast<float>(alpha));
    return colour;
}

QRect rowRect(const QRect& lanes, int row, int rows, int text)
{
    const double height = static_cast<double>(lanes.height()) / rows;
    const int thick = std::min(static_cast<int>(height) - laneGap, text + 2);
    const int centre = lanes.top() + static_cast<int>((row + 0.5) * height);
    return {lanes.left(), centre - thick / 2, lanes.width(), std::max(thick, 2)};
}

// An empty lane with its name before it.
void paintName(QPainter& painter, const QRect& lane, const QString& name, const style::Theme& theme)
{
    painter.setPen(theme.textMuted);
    painter.drawText(QRect(0, lane.top(), lane.left() - textGap, lane.height()),
                     Qt::AlignRight | Qt::AlignVCenter | Qt::TextDontClip, name);
    painter.fillRect(lane, theme.bandB);
}

}  // namespace

Timeline::Timeline(QWidget* parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("timeline"));
    setAccessibleName(tr("Pipeline: activity of each lane over time"));
    setAccessibleDescription(tr("Plus and minus zoom, arrow keys pan, 0 shows everything"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
}

QSize Timeline::sizeHint() const
{
    return {400, rows() * (fontMetrics().height() + laneGap) + fontMetrics().height() + 8};
}

QSize Timeline::minimumSizeHint() const { return {160, sizeHint().height()}; }

void Timeline::append(int phase, const Interval& interval)
{
    Lane& lane = m_lanes.at(static_cast<std::size_t>(phase));
    if (!lane.intervals().empty() && interval.start < lane.intervals().back().start)
        m_counted[static_cast<std::size_t>(phase)] = 0;
    lane.append(interval);
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
    for (Lane& lane : m_lanes) lane.clear();
    m_counted.fill(0);
    m_end = 0;
    m_pointedAt.reset();
    m_following = true;
    m_from = 0;
    m_to = 1;
    update();
}

void Timeline::setEnd(double seconds, bool finished)
{
    m_end = seconds;
    m_finished = finished;
}

void Timeline::setSelected(protocol::StageId stage)
{
    if (m_selected == stage) return;
    m_selected = stage;
    update();
}

void Timeline::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    update();
}

// While a run goes on, a frame in which nothing has moved by a pixel is left out.
void Timeline::refresh()
{
    const std::pair before = range();
    fit();
    const double pixel = (m_to - m_from) / lanesRect(size()).width();
    const bool moved = m_end < m_drawnEnd || m_end - m_drawnEnd >= pixel || m_finished != m_drawnFinished;
    if (before == range() && !moved) return;
    m_drawnEnd = m_end;
    m_drawnFinished = m_finished;
    update();
}

void Timeline::fit()
{
    if (!m_following) return;
    m_from = 0;
    m_to = m_finished && m_end > 0 ? m_end : growingEnd(m_to, m_end);
}

void Timeline::zoom(double from, double to)
{
    m_following = from >= to;
    if (!m_following) {
        m_from = from;
        m_to = to;
    }
    fit();
    update();
}

void Timeline::scaleAround(double moment, double factor)
{
    const double from = std::max(0.0, moment - (moment - m_from) * factor);
    const double to = moment + (m_to - moment) * factor;
    if (to - from > 1e-6 && to - from < 10 * std::max(m_end, 1e-3)) zoom(from, to);
}

QRect Timeline::lanesRect(const QSize& size) const
{
    int names = m_prologue > 0 ? fontMetrics().horizontalAdvance(tr("prologue")) : 0;
    for (int phase = 0; phase < protocol::phaseCount; ++phase)
        names = std::max(names, fontMetrics().horizontalAdvance(phaseTitle(phase)));
    const int left = names + textGap;
    return {left, 0, std::max(1, size.width() - left - 2), std::max(1, size.height() - fontMetrics().height() - 4)};
}

// Below the prologue's, which comes first.
QRect Timeline::laneRect(const QRect& lanes, int phase) const
{
    return rowRect(lanes, phase + rows() - protocol::phaseCount, rows(), fontMetrics().height());
}

QRect Timeline::prologueRect(const QSize& size) const
{
    if (m_prologue <= m_from || m_from > 0) return {};
    const QRect lane = rowRect(lanesRect(size), 0, rows(), fontMetrics().height());
    const double share = std::min(1.0, (m_prologue - m_from) / (m_to - m_from));
    return {lane.topLeft(), QSize(std::max(1, static_cast<int>(share * lane.width())), lane.height())};
}

void Timeline::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paintFigure(painter, size());
    if (hasFocus()) {
        painter.setPen(QPen(m_theme.accent, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void Timeline::paintFigure(QPainter& painter, const QSize& size)
{
    const QRect lanes = lanesRect(size);
    painter.setFont(font());
    if (m_prologue > 0) {
        paintName(painter, rowRect(lanes, 0, rows(), fontMetrics().height()), tr("prologue"), m_theme);
        painter.fillRect(prologueRect(size), m_selected.valid() ? faded(m_theme.structure, 0.35) : m_theme.structure);
    }
    for (int phase = 0; phase < protocol::phaseCount; ++phase) {
        const QRect lane = laneRect(lanes, phase);
        paintName(painter, lane, phaseTitle(phase), m_theme);
        painter.save();
        painter.setClipRect(lane);
        paintLane(painter, lane, phase);
        painter.restore();
    }
    paintAxis(painter, lanes);
}

void Timeline::paintLane(QPainter& painter, const QRect& rect, int phase)
{
    const auto visible = m_lanes[static_cast<std::size_t>(phase)].within(m_from, m_to);
    const bool few = visible.second - visible.first <= static_cast<std::size_t>(rect.width()) / 3;
    if (few) paintBars(painter, rect, phase);
    else paintCoverage(painter, rect, phase);
}

void Timeline::paintBars(QPainter& painter, const QRect& rect, int phase) const
{
    const QColor colour = m_theme.phases.value(phase, m_theme.accent);
    for (const Bar& bar : barsOf(m_lanes[static_cast<std::size_t>(phase)], m_from, m_to, rect.left(), rect.width())) {
        const bool pale = m_selected.valid() && bar.interval->stage != m_selected;
        const QRectF shape(bar.left, rect.top(), bar.width, rect.height());
        painter.fillRect(shape, pale ? faded(colour, 0.35) : colour);
        if (!pale) paintNumber(painter, shape, colour, *bar.interval);
        if (!pointedAt(*bar.interval)) continue;
        painter.setPen(QPen(m_theme.text, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(shape.adjusted(1, 1, -1, -1));
    }
}

void Timeline::paintNumber(QPainter& painter, const QRectF& bar, const QColor& colour, const Interval& interval) const
{
    const QString number = QString::number(interval.batch);
    if (painter.fontMetrics().horizontalAdvance(number) + 2 > bar.width()) return;
    const bool text = style::contrast(m_theme.text, colour) >= style::contrast(m_theme.accentText, colour);
    painter.setPen(text ? m_theme.text : m_theme.accentText);
    painter.drawText(bar, Qt::AlignCenter, number);
}

// One row of pixels, stretched over the lane's height.
void Timeline::paintCoverage(QPainter& painter, const QRect& rect, int phase)
{
    const auto index = static_cast<std::size_t>(phase);
    Coverage& coverage = m_coverage[index];
    const std::vector<Interval>& all = m_lanes[index].intervals();
    if (!coverage.covers(m_from, m_to, rect.width()) || m_counted[index] == 0 || m_counted[index] > all.size()) {
        coverage.reset(m_from, m_to, rect.width());
        m_counted[index] = m_lanes[index].within(m_from, m_to).first;
    }
    const std::size_t last = m_lanes[index].within(m_from, m_to).second;
    for (; m_counted[index] < last; ++m_counted[index]) coverage.add(all[m_counted[index]]);
    const QColor colour = m_theme.phases.value(phase, m_theme.accent);
    QImage row(rect.width(), 1, QImage::Format_ARGB32);
    for (int x = 0; x < rect.width(); ++x) {
        const float covered = coverage.pixels()[static_cast<std::size_t>(x)];
        const int alpha = covered <= 0 ? 0 : static_cast<int>(60 + 195 * covered);
        row.setPixel(x, 0, qRgba(colour.red(), colour.green(), colour.blue(), alpha));
    }
    painter.drawImage(rect, row);
}

void Timeline::paintAxis(QPainter& painter, const QRect& lanes) const
{
    const Scale scale = scaleFor(m_to, Unit::Seconds);
    const double step = tickStep(m_from, m_to, std::max(2, lanes.width() / 110), scale);
    painter.setPen(m_theme.textMuted);
    for (const double tick : ticks(m_from, m_to, step)) {
        const int x = lanes.left() + static_cast<int>((tick - m_from) / (m_to - m_from) * lanes.width());
        const QString label = tickLabel(tick, step, scale);
        const int width = fontMetrics().horizontalAdvance(label);
        const int left = std::clamp(x - width / 2, lanes.left(), std::max(lanes.left(), lanes.right() - width));
        painter.drawText(QRect(left, lanes.bottom() + 3, width + 1, fontMetrics().height()), Qt::AlignCenter, label);
    }
    if (m_finished || m_end <= m_from || m_end >= m_to) return;
    const double now = lanes.left() + (m_end - m_from) / (m_to - m_from) * lanes.width();
    painter.setPen(QPen(m_theme.text, 1));
    painter.drawLine(QPointF(now, lanes.top()), QPointF(now, lanes.bottom()));
}

double Timeline::momentAt(const QPointF& at) const
{
    const QRect lanes = lanesRect(size());
    return m_from + (at.x() - lanes.left()) * (m_to - m_from) / lanes.width();
}

const Interval* Timeline::intervalAt(const QPoint& at, int* phase) const
{
    const QRect lanes = lanesRect(size());
    for (int lane = 0; lane < protocol::phaseCount; ++lane) {
        if (!laneRect(lanes, lane).contains(at)) continue;
        if (phase != nullptr) *phase = lane;
        return m_lanes[static_cast<std::size_t>(lane)].at(momentAt(at));
    }
    return nullptr;
}

QString Timeline::describe(const QPoint& at) const
{
    if (prologueRect(size()).contains(at))
        return tr("prologue: what depends on the graph alone, once\n%1").arg(valueLabel(m_prologue, Unit::Seconds));
    int phase = 0;
    const Interval* interval = intervalAt(at, &phase);
    if (interval == nullptr) return {};
    QString text = tr("%1 · stage %2 · batch %3\n%4 at %5")
                       .arg(phaseTitle(phase))
                       .arg(interval->stage.number)
                       .arg(interval->batch)
                       .arg(valueLabel(interval->end - interval->start, Unit::Seconds),
                            valueLabel(interval->start, Unit::Seconds));
    for (const auto& [lane, other] : atOnce(m_lanes, momentAt(at), static_cast<std::size_t>(phase)))
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

void Timeline::leaveEvent(QEvent*) { pointAt(nullptr); }

bool Timeline::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        const QString what = describe(help->pos());
        if (what.isEmpty()) QToolTip::hideText();
        else QToolTip::showText(help->globalPos(), what, this);
        return true;
    }
    return QWidget::event(event);
}

void Timeline::wheelEvent(QWheelEvent* event)
{
    scaleAround(std::clamp(momentAt(event->position()), m_from, m_to), std::pow(0.85, event->angleDelta().y() / 120.0));
    event->accept();
}

void Timeline::mousePressEvent(QMouseEvent* event)
{
    m_pressed = event->pos();
    m_pressedFrom = m_from;
    m_dragging = false;
}

void Timeline::mouseMoveEvent(QMouseEvent* event)
{
    if (!(event->buttons() & Qt::LeftButton)) return pointAt(intervalAt(event->pos()));
    const int moved = event->pos().x() - m_pressed.x();
    m_dragging = m_dragging || std::abs(moved) > 3;
    if (!m_dragging) return;
    const double width = m_to - m_from;
    const double from = std::max(0.0, m_pressedFrom - moved * width / lanesRect(size()).width());
    zoom(from, from + width);
}

void Timeline::mouseReleaseEvent(QMouseEvent* event)
{
    const Interval* interval = m_dragging ? nullptr : intervalAt(event->pos());
    m_dragging = false;
    if (interval != nullptr) emit stageClicked(interval->stage);
}

void Timeline::mouseDoubleClickEvent(QMouseEvent*) { zoom(0, 0); }

void Timeline::keyPressEvent(QKeyEvent* event)
{
    const double middle = (m_from + m_to) / 2, step = (m_to - m_from) / 8;
    switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal: return scaleAround(middle, 0.7);
    case Qt::Key_Minus: return scaleAround(middle, 1 / 0.7);
    case Qt::Key_Left: return zoom(std::max(0.0, m_from - step), std::max(0.0, m_from - step) + 8 * step);
    case Qt::Key_Right: return zoom(m_from + step, m_to + step);
    case Qt::Key_0: return zoom(0, 0);
    default: QWidget::keyPressEvent(event);
    }
}

QString Timeline::figureTitle() const { return tr("Pipeline"); }

QString Timeline::csv() const
{
    QString lines = QStringLiteral("phase,stage,batch,start,seconds\n");
    if (m_prologue > 0) lines += QStringLiteral("prologue,0,0,0,%1\n").arg(m_prologue, 0, 'g', 9);
    for (std::size_t phase = 0; phase < m_lanes.size(); ++phase)
        for (const Interval& interval : m_lanes[phase].intervals())
            lines += QStringLiteral("%1,%2,%3,%4,%5\n")
                         .arg(QString::fromLatin1(protocol::phaseName(phase)))
                         .arg(interval.stage.number)
                         .arg(interval.batch)
                         .arg(interval.start, 0, 'g', 9)
                         .arg(interval.end - interval.start, 0, 'g', 9);
    return lines;
}

}  // namespace hopscope::plots
