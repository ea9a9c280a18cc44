#include "study/receptive/explosion_plot.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "models/labels.h"
#include "plots/label_place.h"
#include "study/receptive/field_model.h"

namespace hopscope::study {

namespace {

// "7.4", "312", "12,345".
QString number(double rows)
{
    return rows < 100 ? QStringLiteral("%1").arg(rows, 0, 'f', 1) : models::formatCount(std::round(rows));
}

double sizeOf(const schema::ReceptiveField& field, int depth)
{
    double sum = 0;
    for (const schema::FieldLevel& level : field.levels)
        for (const schema::FieldRows& rows : level.rows) sum += level.depth == depth ? static_cast<double>(rows.of) : 0;
    return sum;
}

}  // namespace

ExplosionPlot::ExplosionPlot(QWidget* parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("explosionPlot"));
    setAccessibleName(tr("Average number of rows that a result depends on"));
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void ExplosionPlot::display(const schema::ReceptiveField& field)
{
    m_points.clear();
    for (const schema::FieldLevel& level : field.levels) {
        Point point{.name = roundName(level.depth, &level == &field.levels.front()),
                    .mean = 0,
                    .error = 0,
                    .of = sizeOf(field, level.depth)};
        for (const schema::FieldMean& mean : field.explosion.means)
            if (!mean.edges && mean.depth == level.depth) point.mean += mean.mean, point.error += mean.error;
        m_points.push_back(point);
    }
    QStringList words;
    m_most = 10;
    for (const Point& point : m_points) {
        words << QStringLiteral("%1: %2").arg(point.name, number(point.mean));
        m_most = std::max({m_most, point.of, point.mean});
    }
    setAccessibleDescription(words.join(QStringLiteral("; ")));
    update();
}

void ExplosionPlot::setTheme(const style::Theme& theme)
{
    m_theme = theme;
    update();
}

QRectF ExplosionPlot::room() const
{
    const qreal left = fontMetrics().horizontalAdvance(models::formatCount(m_most)) + 16;
    return QRectF(rect()).adjusted(left, fontMetrics().height() + 10, -24, -2.0 * fontMetrics().height() - 10);
}

QPointF ExplosionPlot::place(std::size_t point, double rows) const
{
    const QRectF area = room();
    const qreal along = m_points.size() > 1 ? static_cast<qreal>(point) / static_cast<qreal>(m_points.size() - 1) : 0.5;
    const qreal up = std::log(std::max(1.0, rows)) / std::log(m_most);
    // The first and the last name are centred below their points.
    return {area.left() + 20 + along * (area.width() - 40), area.bottom() - up * area.height()};
}

void ExplosionPlot::paintEvent(QPaintEvent*)
{
    if (m_points.empty()) return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QList<QRectF> places = labels();
    paintAxes(painter);
    paintLayerwise(painter, places.last());
    paintCurve(painter, places);
}

void ExplosionPlot::paintAxes(QPainter& painter) const
{
    const QRectF area = room();
    const int line = fontMetrics().height();
    for (const double rows : scale()) {
        const QLineF across = lineOf(rows);
        painter.setPen(QPen(m_theme.border, 1, rows > 1 ? Qt::DotLine : Qt::SolidLine));
        painter.drawLine(across);
        painter.setPen(m_theme.textMuted);
        painter.drawText(QRectF(0, across.y1() - line / 2.0, area.left() - 6, line), Qt::AlignRight | Qt::AlignVCenter,
                         models::formatCount(rows));
    }
    for (std::size_t i = 0; i < m_points.size(); ++i)
        painter.drawText(QRectF(place(i, 1).x() - 60, area.bottom() + 5, 120, line), Qt::AlignCenter, m_points[i].name);
    painter.drawText(QRectF(area.left(), area.bottom() + line + 8, area.width(), line), Qt::AlignCenter,
                     tr("average number of rows that a result depends on"));
}

QList<double> ExplosionPlot::scale() const
{
    QList<double> marks;
    for (double rows = 1; rows <= m_most; rows *= m_most > 1e4 ? 100 : 10) marks.append(rows);
    return marks;
}

QLineF ExplosionPlot::lineOf(double rows) const
{
    const qreal y = place(0, rows).y();
    return {room().left(), y, room().right(), y};
}

QPolygonF ExplosionPlot::curve() const
{
    QPolygonF line;
    for (std::size_t i = 0; i < m_points.size(); ++i) line << place(i, m_points[i].mean);
    return line;
}

QList<QLineF> ExplosionPlot::obstacles() const
{
    QList<QLineF> lines = plots::linesBetween(curve());
    for (const double rows : scale()) lines.append(lineOf(rows));
    for (std::size_t i = 0; i < m_points.size(); ++i)
        lines.append({place(i, m_points[i].mean - m_points[i].error), place(i, m_points[i].mean + m_points[i].error)});
    return lines;
}

// Placed next to the rising curve: above its point, to the left of it, or below to its right.
QList<QRectF> ExplosionPlot::labels() const
{
    const QList<QLineF> lines = obstacles();
    QList<QRectF> found;
    for (const QPointF& at : curve()) {
        const auto point = static_cast<std::size_t>(found.size());
        const QSizeF size(fontMetrics().horizontalAdvance(number(m_points[point].mean)) + 2, fontMetrics().height());
        const qreal above = at.y() - size.height() - 6, below = at.y() + 5, left = at.x() - size.width();
        QList<QRectF> places;
        for (qreal up = 0; up <= size.height(); up += size.height() / 4)
            for (const QPointF& corner :
                 {QPointF(at.x() - size.width() / 2, above - up), QPointF(left - 2, above - up),
                  QPointF(left - 6, at.y() - size.height() / 2 - up), QPointF(at.x() + 6, below + up)})
                places.append({corner, size});
        found.append(plots::clearPlace(places, lines, found));
    }
    const QSizeF words(fontMetrics().horizontalAdvance(layerwise()) + 2, fontMetrics().height());
    const QRectF area = room();
    QList<QRectF> places;
    for (qreal y = area.bottom() - words.height() - 3; y > 0; y -= words.height() / 4)
        for (qreal x = area.right() - words.width(); x >= area.left(); x -= 10) places.append({{x, y}, words});
    if (places.isEmpty()) places.append({{area.left(), area.top()}, words});
    found.append(plots::clearPlace(places, lines, found));
    return found;
}

void ExplosionPlot::paintCurve(QPainter& painter, const QList<QRectF>& places) const
{
    const QPolygonF line = curve();
    painter.setPen(QPen(m_theme.cut, 2));
    painter.drawPolyline(line);
    for (std::size_t i = 0; i < m_points.size(); ++i) {
        const Point& point = m_points[i];
        painter.setPen(QPen(m_theme.cut, 1.6));
        if (point.error > 0) painter.drawLine(place(i, point.mean - point.error), place(i, point.mean + point.error));
        painter.setBrush(m_theme.panel);
        painter.drawEllipse(line[static_cast<qsizetype>(i)], 4, 4);
        painter.setPen(m_theme.text);
        painter.drawText(places[static_cast<qsizetype>(i)], Qt::AlignCenter, number(point.mean));
    }
}

// One row in every round.
void ExplosionPlot::paintLayerwise(QPainter& painter, const QRectF& words) const
{
    painter.setPen(QPen(m_theme.good, 2));
    painter.drawLine(place(0, 1), place(m_points.size() - 1, 1));
    painter.drawText(words, Qt::AlignCenter, layerwise());
}

}  // namespace hopscope::study
