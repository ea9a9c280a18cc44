#include "study/monitor/memory_picture.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "models/labels.h"
#include "study/monitor/memory_lanes.h"
#include "style/words.h"

namespace hopscope::study {

namespace {

constexpr double narrowest = 16;  // a step, in pixels
constexpr int textMargin = 4;

}  // namespace

MemoryPicture::MemoryPicture(QWidget* parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("memoryPicture"));
    setAccessibleName(tr("Contents of a batch, step by step"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
}

void MemoryPicture::display(schema::LoopMemoryRecord loop)
{
    m_loop = std::move(loop);
    m_lanes = lanesOf(m_loop);
    m_laneCount = m_lanes.empty() ? 0 : *std::ranges::max_element(m_lanes) + 1;
    m_largest = 1;
    for (const schema::HeldRows& held : m_loop.held) m_largest = std::max(m_largest, held.bytes);
    m_lit = -1;
    m_current = largestAtPeak();
    setMinimumSize(minimumSizeHint());
    updateGeometry();
    announce();
    update();
}

void MemoryPicture::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    update();
}

QSize MemoryPicture::minimumSizeHint() const
{
    const auto steps = static_cast<double>(m_loop.steps.size());
    return {std::max(180, static_cast<int>(steps * narrowest)), top() + std::max(1, m_laneCount) * laneHeight() + 2};
}

double MemoryPicture::stepWidth() const
{
    return static_cast<double>(width()) / static_cast<double>(std::max<std::size_t>(1, m_loop.steps.size()));
}

QRectF MemoryPicture::placeOf(int held) const
{
    if (held < 0 || held >= count()) return {};
    const double left = static_cast<double>(at(held).from) * stepWidth();
    const double wide = static_cast<double>(std::max<std::int64_t>(1, at(held).to - at(held).from)) * stepWidth();
    const double above = top() + m_lanes[static_cast<std::size_t>(held)] * laneHeight();
    return {left + 1, above + 1, wide - 2, laneHeight() - 2.0};
}

QRectF MemoryPicture::columnOf(std::int64_t step) const
{
    const std::int64_t most = std::max<std::int64_t>(1, m_loop.peak());
    const double share =
        static_cast<double>(m_loop.steps[static_cast<std::size_t>(step)].bytes) / static_cast<double>(most);
    const double ground = top() - 8, high = share * chartHeight();
    return {static_cast<double>(step) * stepWidth() + 1, ground - high, stepWidth() - 2, high};
}

QString MemoryPicture::textOf(int held) const
{
    return style::fitting(fontMetrics(), models::text(at(held).label),
                          static_cast<int>(placeOf(held).width()) - 2 * textMargin);
}

int MemoryPicture::heldAt(QPointF place) const
{
    for (int held = count() - 1; held >= 0; --held)
        if (placeOf(held).contains(place)) return held;
    return -1;
}

int MemoryPicture::largestAtPeak() const
{
    int found = -1;
    for (int held = 0; held < count(); ++held) {
        const bool there = at(held).from <= m_loop.peakStep && m_loop.peakStep < at(held).to;
        if (there && (found < 0 || at(held).bytes > at(found).bytes)) found = held;
    }
    return found < 0 && count() > 0 ? 0 : found;
}

// The value nearest in time in the nearest lane above or below.
int MemoryPicture::besideLane(int direction) const
{
    const auto lane = [this](int held) { return m_lanes[static_cast<std::size_t>(held)]; };
    const auto distance = [&](int held) {
        return std::pair(std::abs(lane(held) - lane(m_current)), std::abs(at(held).from - at(m_current).from));
    };
    int found = m_current;
    for (int held = 0; held < count(); ++held)
        if ((lane(held) - lane(m_current)) * direction > 0 && (found == m_current || distance(held) < distance(found)))
            found = held;
    return found;
}

void MemoryPicture::moveTo(int held)
{
    if (held < -1 || held >= count() || held == m_current) return;
    m_current = held;
    announce();
    if (held >= 0) emit moved(placeOf(held).toAlignedRect());
    update();
}

void MemoryPicture::follow(const std::string& value)
{
    if (value.empty() || (m_current >= 0 && at(m_current).value == value)) return;
    const auto found = std::ranges::find(m_loop.held, value, &schema::HeldRows::value);
    if (found != m_loop.held.end()) moveTo(static_cast<int>(found - m_loop.held.begin()));
}

void MemoryPicture::light(int held)
{
    if (held == m_lit) return;
    m_lit = held;
    setCursor(held < 0 ? Qt::ArrowCursor : Qt::PointingHandCursor);
    update();
}

void MemoryPicture::announce() { style::announce(*this, m_current < 0 ? QString() : heldSentence(m_loop, m_current)); }

void MemoryPicture::paintEvent(QPaintEvent*)
{
    if (m_theme.scale.isEmpty() || m_loop.steps.empty()) return;
    QPainter painter(this);
    paintChart(painter);
    for (int held = 0; held < count(); ++held) paintHeld(painter, held);
    painter.setBrush(Qt::NoBrush);
    if (m_lit >= 0) {
        painter.setPen(QPen(m_theme.text, 1));
        painter.drawRect(placeOf(m_lit).adjusted(0.5, 0.5, -0.5, -0.5));
    }
    if (m_current < 0) return;
    painter.setPen(QPen(hasFocus() ? m_theme.accent : m_theme.text, 2));
    painter.drawRect(placeOf(m_current).adjusted(1, 1, -1, -1));
}

void MemoryPicture::paintChart(QPainter& painter) const
{
    const auto steps = static_cast<std::int64_t>(m_loop.steps.size());
    const QRectF peak = columnOf(m_loop.peakStep);
    const double ground = top() + m_laneCount * laneHeight();
    painter.fillRect(QRectF(peak.left(), peak.top(), peak.width(), ground - peak.top()), m_theme.hover);
    for (std::int64_t step = 0; step < steps; ++step)
        painter.fillRect(columnOf(step), step == m_loop.peakStep ? m_theme.accent : m_theme.textMuted);
    painter.setPen(m_theme.border);
    painter.drawLine(QPointF(0, top() - 7.5), QPointF(width(), top() - 7.5));
    const QString words = models::formatBytes(static_cast<double>(m_loop.peak()));
    const double wide = fontMetrics().horizontalAdvance(words) + 2;
    const double left = std::clamp(peak.center().x() - wide / 2, 0.0, std::max(0.0, width() - wide));
    painter.setPen(m_theme.text);
    painter.drawText(QRectF(left, 0, wide, fontMetrics().height() + 4), Qt::AlignCenter, words);
}

// The colour shows the bytes; views and values used in place are outlines, since they take no memory.
void MemoryPicture::paintHeld(QPainter& painter, int number) const
{
    const schema::HeldRows& held = at(number);
    const QRectF place = placeOf(number);
    const qsizetype last = m_theme.scale.size() - 1;
    const double share = static_cast<double>(held.bytes) / static_cast<double>(m_largest);
    const auto colour = std::min(last, static_cast<qsizetype>(share * static_cast<double>(last + 1)));
    if (held.bytes > 0) painter.fillRect(place, m_theme.scale[colour]);
    painter.setPen(QPen(m_theme.border, 1, held.bytes > 0 ? Qt::SolidLine : Qt::DashLine));
    painter.drawRect(place.adjusted(0.5, 0.5, -0.5, -0.5));
    painter.setPen(held.bytes > 0 ? m_theme.scaleText[colour] : m_theme.text);
    painter.drawText(place.adjusted(textMargin, 0, -textMargin, 0), Qt::AlignLeft | Qt::AlignVCenter, textOf(number));
}

void MemoryPicture::mouseMoveEvent(QMouseEvent* event) { light(heldAt(event->position())); }

void MemoryPicture::leaveEvent(QEvent*) { light(-1); }

void MemoryPicture::mouseReleaseEvent(QMouseEvent* event)
{
    const int held = heldAt(event->position());
    if (event->button() != Qt::LeftButton || held < 0) return;
    moveTo(held);
    emit chosen(held);
}

void MemoryPicture::keyPressEvent(QKeyEvent* event)
{
    if (m_current < 0) return QWidget::keyPressEvent(event);
    switch (event->key()) {
    case Qt::Key_Left: return moveTo(std::max(0, m_current - 1));
    case Qt::Key_Right: return moveTo(std::min(count() - 1, m_current + 1));
    case Qt::Key_Up: return moveTo(besideLane(-1));
    case Qt::Key_Down: return moveTo(besideLane(1));
    case Qt::Key_Home: return moveTo(largestAtPeak());
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space: emit chosen(m_current); return;
    default: QWidget::keyPressEvent(event);
    }
}

bool MemoryPicture::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int held = heldAt(help->pos());
        QToolTip::showText(help->globalPos(), held < 0 ? QString() : heldSentence(m_loop, held), this);
        return true;
    }
    if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) update();
    return QWidget::event(event);
}

}  // namespace hopscope::study
