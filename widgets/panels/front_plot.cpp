#include "panels/front_plot.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "models/labels.h"
#include "plots/label_place.h"

namespace hopscope::panels {

namespace {

constexpr qreal radius = 5, reach = 12;
constexpr double shares[] = {0.1, 0.5, 0.9};  // of the axes: positions of numbers
constexpr double margin = 1.25;               // beyond the outermost points, as a factor

double secondsOf(const protocol::Prediction& predicted) { return std::max(1e-9, predicted.seconds.value_or(0)); }

double memoryOf(const protocol::Prediction& predicted)
{
    return std::max(1.0, static_cast<double>(predicted.peakMemory));
}

QString describe(const models::FrontRow& row)
{
    const protocol::Prediction& predicted = *row.point.plan->predicted;
    return FrontPlot::tr("%1, %2 on the device, %3 on the host, batch %4: %5")
        .arg(models::formatSecondsFinely(secondsOf(predicted)), models::formatBytes(memoryOf(predicted)),
             models::formatBytes(static_cast<double>(predicted.stores)),
             models::formatCount(static_cast<double>(predicted.batch)), models::proofLabel(*row.point.plan));
}

}  // namespace

double FrontPlot::Range::share(double value) const
{
    return last > first ? std::log(value / first) / std::log(last / first) : 0.5;
}

double FrontPlot::Range::at(double share) const { return first * std::pow(last / first, share); }

FrontPlot::FrontPlot(QWidget* parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("frontPlot"));
    setAccessibleName(tr("Time against memory"));
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
}

void FrontPlot::display(std::vector<models::FrontRow> rows, models::PlanPtr now, std::optional<qint64> limit)
{
    m_rows = std::move(rows);
    m_now = now && now->predicted ? std::move(now) : nullptr;
    m_limit = limit;
    m_lit = -1;
    QStringList lines;
    for (const models::FrontRow& row : m_rows) lines << describe(row);
    setAccessibleDescription(lines.join(QStringLiteral("; ")));
    setRanges();
    update();
}

void FrontPlot::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    update();
}

void FrontPlot::setRanges()
{
    std::vector<double> memory, time;
    const auto take = [&](const protocol::Prediction& predicted) {
        memory.push_back(memoryOf(predicted));
        time.push_back(secondsOf(predicted));
    };
    for (const models::FrontRow& row : m_rows) take(*row.point.plan->predicted);
    if (m_now) take(*m_now->predicted);
    const auto around = [](const std::vector<double>& values) {
        if (values.empty()) return Range{};
        const auto [least, most] = std::ranges::minmax(values);
        return Range{least / margin, most * margin};
    };
    m_memory = around(memory);
    m_time = around(time);
    // The limit is included if it is close to the points; one far away would squeeze them.
    if (m_limit && *m_limit > m_memory.last && static_cast<double>(*m_limit) < 4 * m_memory.last)
        m_memory.last = static_cast<double>(*m_limit) * margin;
}

QRectF FrontPlot::room() const
{
    const qreal left = fontMetrics().horizontalAdvance(QStringLiteral("999 ms")) + 14;
    return QRectF(rect()).adjusted(left, 10, -14, -2.0 * fontMetrics().height() - 8);
}

QPointF FrontPlot::place(const protocol::Prediction& predicted) const
{
    const QRectF area = room();
    return {area.left() + m_memory.share(memoryOf(predicted)) * area.width(),
            area.bottom() - m_time.share(secondsOf(predicted)) * area.height()};
}

QPointF FrontPlot::placeOf(int row) const
{
    return place(*m_rows[static_cast<std::size_t>(row)].point.plan->predicted);
}

int FrontPlot::rowAt(QPointF at) const
{
    int nearest = -1;
    qreal least = reach;
    for (int row = 0; row < static_cast<int>(m_rows.size()); ++row) {
        const QPointF away = placeOf(row) - at;
        if (const qreal distance = std::hypot(away.x(), away.y()); distance < least) nearest = row, least = distance;
    }
    return nearest;
}

void FrontPlot::light(int row)
{
    if (row == m_lit) return;
    m_lit = row;
    setCursor(row < 0 ? Qt::ArrowCursor : Qt::PointingHandCursor);
    update();
}

void FrontPlot::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    paintAxes(painter);
    if (m_rows.empty()) return;
    paintCurve(painter);
    paintLimit(painter);
    paintNow(painter);
    for (int row = 0; row < static_cast<int>(m_rows.size()); ++row) paintPoint(painter, row);
    if (!hasFocus()) return;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(m_theme.accent, 1.4));
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 4, 4);
}

void FrontPlot::paintAxes(QPainter& painter) const
{
    const QRectF area = room();
    const int line = fontMetrics().height();
    painter.setPen(QPen(m_theme.border, 1));
    painter.drawLine(area.bottomLeft(), area.bottomRight());
    painter.drawLine(area.topLeft(), area.bottomLeft());
    if (!m_rows.empty())
        for (const double share : shares) {
            const qreal x = area.left() + share * area.width(), y = area.bottom() - share * area.height();
            painter.setPen(QPen(m_theme.border, 1, Qt::DotLine));
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
            painter.setPen(m_theme.textMuted);
            painter.drawText(QRectF(0, y - line / 2.0, area.left() - 6, line), Qt::AlignRight | Qt::AlignVCenter,
                             models::formatSecondsFinely(m_time.at(share)));
            painter.drawText(QRectF(x - 60, area.bottom() + 3, 120, line), Qt::AlignCenter,
                             models::formatBytes(m_memory.at(share)));
        }
    painter.setPen(m_theme.textMuted);
    painter.drawText(QRectF(area.left(), area.bottom() + line + 4, area.width(), line), Qt::AlignCenter,
                     tr("peak memory of the device"));
}

qreal FrontPlot::limitX() const
{
    const QRectF area = room();
    return area.left() + m_memory.share(static_cast<double>(*m_limit)) * area.width();
}

bool FrontPlot::limitShown() const { return m_limit && *m_limit >= m_memory.first && *m_limit <= m_memory.last; }

QString FrontPlot::limitText() const { return tr("limit %1").arg(models::formatBytes(static_cast<double>(*m_limit))); }

void FrontPlot::paintLimit(QPainter& painter) const
{
    if (!limitShown()) return;
    painter.setPen(QPen(m_theme.bad, 1.4, Qt::DashLine));
    painter.drawLine(QPointF(limitX(), room().top()), QPointF(limitX(), room().bottom()));
    painter.drawText(limitLabel(), Qt::AlignLeft, limitText());
}

// At the top: there the curve of plans is only at the left.
QRectF FrontPlot::limitLabel() const
{
    if (!limitShown()) return {};
    const QRectF area = room();
    const QSizeF size(fontMetrics().horizontalAdvance(limitText()) + 4, fontMetrics().height());
    QList<QRectF> places;
    for (qreal y = area.top() - 6; y + size.height() < area.bottom(); y += size.height() / 4)
        for (const qreal left : {limitX() + 4, limitX() - size.width() - 4})
            if (left >= area.left() && left + size.width() <= width()) places.append({{left, y}, size});
    if (places.isEmpty()) places.append({{area.left(), area.top()}, size});
    return plots::clearPlace(places, lines(), taken());
}

// As close to its plan as it is readable.
QRectF FrontPlot::nowLabel() const
{
    if (!m_now) return {};
    const QPointF at = place(*m_now->predicted);
    const QSizeF size(fontMetrics().horizontalAdvance(nowText()) + 2, fontMetrics().height());
    const QRectF area = room().adjusted(0, 0, 12, 0);
    QList<QRectF> places{{{area.left(), area.top()}, size}};
    for (qreal y = area.top(); y + size.height() <= area.bottom(); y += 3)
        for (qreal x = area.left() + 2; x + size.width() <= area.right(); x += 4) places.append({{x, y}, size});
    const auto away = [&](const QRectF& place) {
        return std::hypot(at.x() - std::clamp(at.x(), place.left(), place.right()),
                          at.y() - std::clamp(at.y(), place.top(), place.bottom()));
    };
    std::ranges::stable_sort(places, {}, away);
    QList<QRectF> others = taken();
    const qreal ring = radius + 6;
    others << limitLabel() << QRectF(at, QSizeF()).adjusted(-ring, -ring, ring, ring);
    return plots::clearPlace(places, lines(), others);
}

// Lines that labels must not overlap.
QList<QLineF> FrontPlot::lines() const
{
    const QRectF area = room();
    QList<QLineF> found = plots::linesBetween(curve());
    for (const double share : shares) {
        const qreal y = area.bottom() - share * area.height();
        found.append({area.left(), y, area.right(), y});
    }
    if (limitShown()) found.append({limitX(), area.top(), limitX(), area.bottom()});
    return found;
}

QList<QRectF> FrontPlot::taken() const
{
    QList<QRectF> found;
    for (int row = 0; row < static_cast<int>(m_rows.size()); ++row)
        found.append(QRectF(placeOf(row), QSizeF()).adjusted(-radius - 1, -radius - 1, radius + 1, radius + 1));
    return found;
}

QPolygonF FrontPlot::curve() const
{
    QPolygonF line;
    for (int row = 0; row < static_cast<int>(m_rows.size()); ++row) {
        const QPointF at = placeOf(row);
        if (!line.isEmpty()) line << QPointF(at.x(), line.last().y());
        line << at;
    }
    return line;
}

// In steps: for the memory between two points no other plan is known.
void FrontPlot::paintCurve(QPainter& painter) const
{
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(m_theme.edge, 1.4));
    painter.drawPolyline(curve());
}

// Filled: proven to be the best for its batch size.
void FrontPlot::paintPoint(QPainter& painter, int row) const
{
    const models::FrontRow& shown = m_rows[static_cast<std::size_t>(row)];
    const QColor colour = shown.fits ? m_theme.accent : m_theme.textMuted;
    const bool proven = shown.point.plan->gap.value_or(1) < 1e-4;
    painter.setPen(QPen(colour, 1.8));
    painter.setBrush(proven ? colour : m_theme.panel);
    painter.drawEllipse(placeOf(row), radius, radius);
    if (row != m_lit) return;
    painter.setBrush(Qt::NoBrush);
    painter.drawEllipse(placeOf(row), radius + 4, radius + 4);
}

void FrontPlot::paintNow(QPainter& painter) const
{
    if (!m_now) return;
    const QPointF at = place(*m_now->predicted);
    painter.setPen(QPen(m_theme.checkpoint, 2.4));
    painter.setBrush(Qt::NoBrush);
    painter.drawEllipse(at, radius + 4, radius + 4);
    painter.setPen(m_theme.text);
    painter.drawText(nowLabel(), Qt::AlignVCenter, nowText());
}

void FrontPlot::mouseMoveEvent(QMouseEvent* event) { light(rowAt(event->position())); }

void FrontPlot::leaveEvent(QEvent*) { light(-1); }

void FrontPlot::mouseReleaseEvent(QMouseEvent* event)
{
    const int row = event->button() == Qt::LeftButton ? rowAt(event->position()) : -1;
    if (row >= 0) emit chosen(row);
}

void FrontPlot::keyPressEvent(QKeyEvent* event)
{
    const int last = static_cast<int>(m_rows.size()) - 1;
    switch (event->key()) {
    case Qt::Key_Left: return light(std::clamp(m_lit - 1, 0, std::max(0, last)));
    case Qt::Key_Right: return light(std::clamp(m_lit + 1, 0, std::max(0, last)));
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_lit >= 0 && m_lit <= last) emit chosen(m_lit);
        return;
    default: QWidget::keyPressEvent(event);
    }
}

bool FrontPlot::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int row = rowAt(help->pos());
    if (row < 0) QToolTip::hideText();
    else QToolTip::showText(help->globalPos(), describe(m_rows[static_cast<std::size_t>(row)]), this);
    return true;
}

}  // namespace hopscope::panels
