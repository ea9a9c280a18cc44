#include "plots/time_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>
#include <cmath>

#include "plots/axis_units.h"

namespace hopscope::plots {

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

void paintName(QPainter& painter, const QRect& lane, const QString& name, const style::Theme& theme)
{
    painter.setPen(theme.textMuted);
    painter.drawText(QRect(0, lane.top(), lane.left() - textGap, lane.height()),
                     Qt::AlignRight | Qt::AlignVCenter | Qt::TextDontClip, name);
    painter.fillRect(lane, theme.bandB);
}

TimeView::TimeView(QWidget* parent) : QWidget(parent)
{
    setAccessibleDescription(tr("Plus and minus zoom, Left and Right pan, 0 shows everything"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
}

void TimeView::setEnd(double seconds, bool finished)
{
    m_end = seconds;
    m_finished = finished;
}

void TimeView::setSelected(protocol::StageId stage)
{
    if (m_selected == stage) return;
    m_selected = stage;
    update();
}

void TimeView::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    update();
}

// During a run, a frame in which nothing has moved by a pixel is skipped.
void TimeView::refresh()
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

void TimeView::fit()
{
    if (!m_following) return;
    m_from = 0;
    m_to = m_finished && m_end > 0 ? m_end : growingEnd(m_to, m_end);
}

void TimeView::zoom(double from, double to)
{
    m_following = from >= to;
    if (!m_following) {
        m_from = from;
        m_to = to;
    }
    fit();
    update();
}

void TimeView::scaleAround(double moment, double factor)
{
    const double from = std::max(0.0, moment - (moment - m_from) * factor);
    const double to = moment + (m_to - moment) * factor;
    if (to - from > 1e-6 && to - from < 10 * std::max(m_end, 1e-3)) zoom(from, to);
}

void TimeView::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paintFigure(painter, size());
    if (hasFocus()) {
        painter.setPen(QPen(m_theme.accent, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void TimeView::paintAxis(QPainter& painter, const QRect& lanes) const
{
    const Scale scale = scaleFor(m_to, Unit::Seconds);
    const double step = tickStep(m_from, m_to, std::max(2, lanes.width() / 110), scale);
    painter.setPen(m_theme.textMuted);
    for (const double tick : ticks(m_from, m_to, step)) {
        const int x = static_cast<int>(placeOf(tick, lanes));
        const QString label = tickLabel(tick, step, scale);
        const int width = fontMetrics().horizontalAdvance(label);
        const int left = std::clamp(x - width / 2, lanes.left(), std::max(lanes.left(), lanes.right() - width));
        painter.drawText(QRect(left, lanes.bottom() + 3, width + 1, fontMetrics().height()), Qt::AlignCenter, label);
    }
    if (m_finished || m_end <= m_from || m_end >= m_to) return;
    const double now = placeOf(m_end, lanes);
    painter.setPen(QPen(m_theme.text, 1));
    painter.drawLine(QPointF(now, lanes.top()), QPointF(now, lanes.bottom()));
}

double TimeView::momentAt(const QPointF& at) const
{
    const QRect lanes = lanesRect(size());
    return m_from + (at.x() - lanes.left()) * (m_to - m_from) / lanes.width();
}

bool TimeView::event(QEvent* event)
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

void TimeView::wheelEvent(QWheelEvent* event)
{
    scaleAround(std::clamp(momentAt(event->position()), m_from, m_to), std::pow(0.85, event->angleDelta().y() / 120.0));
    event->accept();
}

void TimeView::mousePressEvent(QMouseEvent* event)
{
    m_pressed = event->pos();
    m_pressedFrom = m_from;
    m_dragging = false;
}

void TimeView::mouseMoveEvent(QMouseEvent* event)
{
    if (!(event->buttons() & Qt::LeftButton)) return pointAt(event->pos());
    const int moved = event->pos().x() - m_pressed.x();
    m_dragging = m_dragging || std::abs(moved) > 3;
    if (!m_dragging) return;
    const double width = m_to - m_from;
    const double from = std::max(0.0, m_pressedFrom - moved * width / lanesRect(size()).width());
    zoom(from, from + width);
}

void TimeView::mouseReleaseEvent(QMouseEvent* event)
{
    const protocol::StageId stage = m_dragging ? protocol::StageId() : stageAt(event->pos());
    m_dragging = false;
    if (stage.valid()) emit stageClicked(stage);
}

void TimeView::mouseDoubleClickEvent(QMouseEvent*) { zoom(0, 0); }

void TimeView::keyPressEvent(QKeyEvent* event)
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

void TimeView::leaveEvent(QEvent*) { pointAtNothing(); }

void TimeView::showAllAgain()
{
    m_end = 0;
    m_following = true;
    m_from = 0;
    m_to = 1;
    update();
}

double TimeView::placeOf(double seconds, const QRect& lanes) const
{
    return lanes.left() + (seconds - m_from) / (m_to - m_from) * lanes.width();
}

}  // namespace hopscope::plots
