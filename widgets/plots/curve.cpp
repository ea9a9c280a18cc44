#include "plots/curve.h"

#include <cmath>

namespace hopscope::plots {

namespace {

struct Column {
    int x = 0;
    double top = 0, bottom = 0, last = 0;  // pixels; top <= bottom
};

// Whole pixels from one y to another, in one column.
QRect line(int x, double top, double bottom)
{
    const int first = static_cast<int>(std::floor(top));
    return {x, first, 1, std::max(1, static_cast<int>(std::ceil(bottom)) - first)};
}

void append(QVector<Column>& columns, int x, double from, double to)
{
    columns.append({.x = x, .top = std::min(from, to), .bottom = std::max(from, to), .last = to});
}

// Continues the last column's level to the column of a point: the curve has no gaps.
void bridge(QVector<Column>& columns, const QPointF& point)
{
    const int x = static_cast<int>(std::floor(point.x()));
    for (int at = columns.last().x + 1; at <= x; ++at) append(columns, at, columns.last().last, point.y());
}

// Adds a point to its column.
void add(QVector<Column>& columns, const QPointF& point)
{
    const int x = static_cast<int>(std::floor(point.x()));
    if (columns.isEmpty()) return append(columns, x, point.y(), point.y());
    if (columns.last().x < x) return bridge(columns, point);
    Column& column = columns.last();
    column.top = std::min(column.top, point.y());
    column.bottom = std::max(column.bottom, point.y());
    column.last = point.y();
}

}  // namespace

void Curve::draw(QCPPainter* painter)
{
    if (!m_dense) return QCPGraph::draw(painter);
    QVector<Column> columns;
    // One point lies beyond either end of a zoomed range, perhaps far away.
    const QRect rect = clipRect();
    for (auto point = data()->constBegin(); point != data()->constEnd(); ++point) {
        const QPointF at = coordsToPixels(point->key, point->value);
        add(columns, {std::clamp(at.x(), rect.left() - 1.0, rect.right() + 1.0), at.y()});
    }
    const double floor = valueAxis()->coordToPixel(0);
    QVector<QRect> fills, lines;
    for (const Column& column : columns) {
        if (column.top < floor) fills.append(line(column.x, column.top, floor));
        lines.append(line(column.x, column.top, column.bottom));
    }
    painter->setAntialiasing(false);
    painter->setPen(Qt::NoPen);
    painter->setBrush(brush());
    // The buffer is transparent here: replacing is the same as blending, and far cheaper for narrow columns.
    if (!painter->modes().testFlag(QCPPainter::pmVectorized))
        painter->setCompositionMode(QPainter::CompositionMode_Source);
    if (brush().style() != Qt::NoBrush) painter->drawRects(fills);
    painter->setCompositionMode(QPainter::CompositionMode_SourceOver);
    painter->setBrush(pen().color());
    painter->drawRects(lines);
}

}  // namespace hopscope::plots
