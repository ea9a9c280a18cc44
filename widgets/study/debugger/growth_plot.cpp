#include "study/debugger/growth_plot.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "models/labels.h"
#include "models/op_names.h"
#include "plots/label_place.h"

namespace hopscope::study {

namespace {

constexpr qreal radius = 3.5, reach = 14;

QString describe(const GrowthPoint& point)
{
    const QString error = std::isfinite(point.error) ? QString::number(point.error, 'g', 3) : QStringLiteral("NaN");
    return GrowthPlot::tr("%1, depth %2: %3").arg(point.name).arg(point.depth).arg(error);
}

}  // namespace

std::vector<GrowthPoint> growthOf(const protocol::ModelRecord& model, const schema::DivergenceRecord& found)
{
    std::vector<GrowthPoint> points;
    for (const schema::ErrorPoint& each : found.growth) {
        const protocol::OpId op = model.findOp(each.op);
        if (!op.valid()) continue;
        const bool first = found.divergence && found.divergence->place.op == each.op;
        points.push_back({.op = op,
                          .name = models::opName(model, op),
                          .depth = each.depth,
                          .error = each.maxAbsolute,
                          .first = first});
    }
    return points;
}

GrowthPlot::GrowthPlot(QWidget* parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("growthPlot"));
    setAccessibleName(tr("Largest difference after each operator"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
}

void GrowthPlot::display(std::vector<GrowthPoint> points)
{
    m_points = std::move(points);
    m_lit = -1;
    m_least = 0, m_most = -12;
    QStringList words;
    for (const GrowthPoint& point : m_points) {
        words << describe(point);
        if (!std::isfinite(point.error) || point.error <= 0) continue;
        m_least = std::min(m_least, std::floor(std::log10(point.error)));
        m_most = std::max(m_most, std::ceil(std::log10(point.error)));
    }
    m_most = std::max(m_most, m_least + 1);
    m_least = std::clamp(m_least, m_most - 12, m_most - 3);
    setAccessibleDescription(words.join(QStringLiteral("; ")));
    update();
}

void GrowthPlot::select(protocol::OpId op)
{
    m_selected = op;
    update();
}

void GrowthPlot::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    update();
}

QRectF GrowthPlot::room() const
{
    const qreal left = fontMetrics().horizontalAdvance(QStringLiteral("1e-10")) + 14;
    return QRectF(rect()).adjusted(left, fontMetrics().height() + 10, -16, -2.0 * fontMetrics().height() - 10);
}

// An error of zero lies on the axis; one that is not finite lies at the top.
double GrowthPlot::heightOf(double error) const
{
    if (!std::isfinite(error)) return 1;
    if (error <= 0) return 0;
    return std::clamp(0.06 + 0.94 * (std::log10(error) - m_least) / (m_most - m_least), 0.06, 1.0);
}

QPointF GrowthPlot::placeOf(int point) const
{
    const QRectF area = room();
    const qreal along = last() > 0 ? static_cast<qreal>(point) / last() : 0.5;
    return {area.left() + 6 + along * (area.width() - 12),
            area.bottom() - heightOf(m_points[static_cast<std::size_t>(point)].error) * area.height()};
}

int GrowthPlot::pointAt(QPointF at) const
{
    int nearest = -1;
    qreal least = reach;
    for (int point = 0; point <= last(); ++point) {
        const QPointF away = placeOf(point) - at;
        if (const qreal distance = std::hypot(away.x(), away.y()); distance < least) nearest = point, least = distance;
    }
    return nearest;
}

void GrowthPlot::light(int point)
{
    if (point == m_lit) return;
    m_lit = point;
    setCursor(point < 0 ? Qt::ArrowCursor : Qt::PointingHandCursor);
    update();
}

void GrowthPlot::choose(int point)
{
    if (point >= 0 && point <= last()) emit chosen(m_points[static_cast<std::size_t>(point)].op);
}

void GrowthPlot::paintEvent(QPaintEvent*)
{
    if (m_points.empty()) return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    paintDepths(painter);
    paintScale(painter);
    paintPoints(painter);
    paintFirst(painter);
    if (!hasFocus()) return;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(m_theme.accent, 1.4));
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 4, 4);
}

// Operators of one depth in a row share a band, with its number below.
void GrowthPlot::paintDepths(QPainter& painter) const
{
    const QRectF area = room();
    qreal left = area.left();
    for (int begin = 0, end = 0; begin <= last(); begin = end) {
        const int depth = m_points[static_cast<std::size_t>(begin)].depth;
        while (end <= last() && m_points[static_cast<std::size_t>(end)].depth == depth) ++end;
        const qreal right = end > last() ? area.right() : (placeOf(end - 1).x() + placeOf(end).x()) / 2;
        QColor band = m_theme.depthColour(depth);
        painter.fillRect(QRectF(left, area.bottom() + 2, right - left, 4), band);
        band.setAlphaF(m_theme.dark ? 0.16F : 0.22F);
        painter.fillRect(QRectF(left, area.top(), right - left, area.height()), band);
        painter.setPen(m_theme.textMuted);
        if (right - left > fontMetrics().horizontalAdvance(QStringLiteral("00")))
            painter.drawText(QRectF(left, area.bottom() + 6, right - left, fontMetrics().height()), Qt::AlignCenter,
                             QString::number(depth));
        left = right;
    }
    painter.drawText(
        QRectF(area.left(), area.bottom() + fontMetrics().height() + 7, area.width(), fontMetrics().height()),
        Qt::AlignCenter, tr("operators in order, by depth"));
}

void GrowthPlot::paintScale(QPainter& painter) const
{
    const QRectF area = room();
    const int line = fontMetrics().height();
    painter.setPen(m_theme.text);
    painter.drawText(QRectF(4, 2, width() - 8, line), Qt::AlignLeft, tr("Largest difference after each operator"));
    for (const Mark& mark : scale()) {
        const QLineF across = lineOf(mark);
        painter.setPen(QPen(m_theme.border, 1, Qt::DotLine));
        painter.drawLine(across);
        painter.setPen(m_theme.textMuted);
        painter.drawText(QRectF(0, across.y1() - line / 2.0, area.left() - 6, line), Qt::AlignRight | Qt::AlignVCenter,
                         mark.text);
    }
}

std::vector<GrowthPlot::Mark> GrowthPlot::scale() const
{
    std::vector<Mark> marks{{QStringLiteral("0"), 0}};
    const double room = 1.6 * fontMetrics().height() / this->room().height();
    const int every = std::max(1, static_cast<int>(std::ceil((m_most - m_least) * room)));
    for (int power = static_cast<int>(m_most); power > m_least; power -= every)
        marks.push_back({QStringLiteral("1e%1").arg(power), heightOf(std::pow(10.0, power))});
    return marks;
}

QLineF GrowthPlot::lineOf(const Mark& mark) const
{
    const QRectF area = room();
    const qreal y = area.bottom() - mark.height * area.height();
    return {area.left(), y, area.right(), y};
}

void GrowthPlot::paintPoints(QPainter& painter) const
{
    QPolygonF line;
    for (int point = 0; point <= last(); ++point) line << placeOf(point);
    painter.setPen(QPen(m_theme.edge, 1));
    painter.drawPolyline(line);
    for (int point = 0; point <= last(); ++point) {
        const GrowthPoint& each = m_points[static_cast<std::size_t>(point)];
        const QColor colour = each.first ? m_theme.bad : m_theme.accent;
        painter.setPen(QPen(colour, 1.2));
        painter.setBrush(each.op == m_selected || each.first ? colour : m_theme.panel);
        painter.drawEllipse(line[point], radius, radius);
        if (point != m_lit && each.op != m_selected) continue;
        painter.setBrush(Qt::NoBrush);
        painter.drawEllipse(line[point], radius + 4, radius + 4);
    }
}

QRectF GrowthPlot::firstLabel() const
{
    const auto first = std::ranges::find_if(m_points, &GrowthPoint::first);
    if (first == m_points.end()) return {};
    const QRectF area = room();
    const qreal x = placeOf(static_cast<int>(first - m_points.begin())).x();
    const QSizeF size(fontMetrics().horizontalAdvance(firstText()) + 4, fontMetrics().height());
    QList<QRectF> places;
    for (qreal y = area.bottom() - size.height() - 2; y > area.top(); y -= size.height() / 2)
        for (const qreal left : {x + 5, x - size.width() - 4})
            if (left >= area.left() && left + size.width() <= area.right() + 6) places.append({{left, y}, size});
    if (places.isEmpty()) places.append({{area.left(), area.bottom() - size.height() - 6}, size});
    QList<QPointF> points;
    for (int point = 0; point <= last(); ++point) points.append(placeOf(point));
    QList<QLineF> lines = plots::linesBetween(points);
    for (const Mark& mark : scale()) lines.append(lineOf(mark));
    return plots::clearPlace(places, lines);
}

void GrowthPlot::paintFirst(QPainter& painter) const
{
    const auto first = std::ranges::find_if(m_points, &GrowthPoint::first);
    if (first == m_points.end()) return;
    const QPointF at = placeOf(static_cast<int>(first - m_points.begin()));
    painter.setPen(QPen(m_theme.bad, 1.2, Qt::DashLine));
    painter.drawLine(QPointF(at.x(), room().top()), QPointF(at.x(), room().bottom()));
    painter.setPen(m_theme.bad);
    painter.drawText(firstLabel(), Qt::AlignLeft, firstText());
}

void GrowthPlot::mouseMoveEvent(QMouseEvent* event) { light(pointAt(event->position())); }

void GrowthPlot::leaveEvent(QEvent*) { light(-1); }

void GrowthPlot::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton) choose(pointAt(event->position()));
}

void GrowthPlot::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Left: return light(std::clamp(m_lit - 1, 0, std::max(0, last())));
    case Qt::Key_Right: return light(std::clamp(m_lit + 1, 0, std::max(0, last())));
    case Qt::Key_Return:
    case Qt::Key_Enter: return choose(m_lit);
    default: QWidget::keyPressEvent(event);
    }
}

bool GrowthPlot::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int point = pointAt(help->pos());
    if (point < 0) QToolTip::hideText();
    else QToolTip::showText(help->globalPos(), describe(m_points[static_cast<std::size_t>(point)]), this);
    return true;
}

}  // namespace hopscope::study
