#include <QPainterPath>

#include "graphview/scene/scene_painter.h"

namespace hopscope::graphview {

namespace {

constexpr qreal corner = 7, slant = 14;

QPainterPath polygon(const QPolygonF& points)
{
    QPainterPath path;
    path.addPolygon(points);
    path.closeSubpath();
    return path;
}

}  // namespace

// Kinds differ in shape as well as in colour: narrow above = rows are fetched, pointed sides = rows meet.
QPainterPath shapePath(Shape shape, const QRectF& r)
{
    QPainterPath path;
    switch (shape) {
    case Shape::Gather:
        return polygon({{r.left() + slant, r.top()}, {r.right() - slant, r.top()}, r.bottomRight(), r.bottomLeft()});
    case Shape::Reduce:
        return polygon({r.topLeft(), r.topRight(), {r.right() - slant, r.bottom()}, {r.left() + slant, r.bottom()}});
    case Shape::Aggregate:
        return polygon({{r.left() + slant, r.top()},
                        {r.right() - slant, r.top()},
                        {r.right(), r.center().y()},
                        {r.right() - slant, r.bottom()},
                        {r.left() + slant, r.bottom()},
                        {r.left(), r.center().y()}});
    case Shape::Input:
    case Shape::Output: path.addRoundedRect(r, r.height() / 2, r.height() / 2); return path;
    default: path.addRoundedRect(r, corner, corner); return path;
    }
}

QRectF expanderRect(const QRectF& node) { return {node.left() + 7, node.center().y() - 6.5, 13, 13}; }

void paintPin(QPainter& painter, QPointF tip, const style::Theme& theme)
{
    const QPointF head = tip + QPointF(-3.5, -9);
    painter.setPen(QPen(theme.panel, 3.4));
    painter.drawLine(tip, head);
    painter.setPen(QPen(theme.accent, 1.6));
    painter.drawLine(tip, head);
    painter.setPen(QPen(theme.panel, 0.8));
    painter.setBrush(theme.accent);
    painter.drawEllipse(head, 4.5, 4.5);
}

void paintCylinder(QPainter& painter, const QRectF& r, const style::Theme& theme)
{
    const qreal lid = r.height() * 0.3;
    QPainterPath body;
    body.moveTo(r.left(), r.top() + lid / 2);
    body.lineTo(r.left(), r.bottom() - lid / 2);
    body.arcTo(QRectF(r.left(), r.bottom() - lid, r.width(), lid), 180, 180);
    body.lineTo(r.right(), r.top() + lid / 2);
    body.arcTo(QRectF(r.left(), r.top(), r.width(), lid), 0, 180);
    painter.setPen(QPen(theme.checkpoint.darker(150), 1));
    painter.setBrush(theme.checkpoint);
    painter.drawPath(body);
    painter.setBrush(theme.checkpoint.lighter(125));
    painter.drawEllipse(QRectF(r.left(), r.top(), r.width(), lid));
}

}  // namespace hopscope::graphview
