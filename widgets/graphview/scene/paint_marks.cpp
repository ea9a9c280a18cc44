// Small marks on nodes: depth, stores inside of a box, bookmarks, nodes that a preview would move.

#include <QFontMetricsF>

#include "models/tr.h"

#include "graphview/scene/paint_parts.h"

namespace hopscope::graphview {

namespace {

constexpr qreal badgeHeight = 16;

// To the left of the lower left corner of a node, below the label of its prologue inputs.
void paintCornerChip(const PaintContext& c, int node, const QString& text, const QColor& border, const QColor& colour)
{
    const QRectF& rect = c.scene.nodes[node];
    const QFont font = legibleFont(c, smallFont());
    const qreal width = QFontMetricsF(font).horizontalAdvance(text) + 10;
    const qreal height = std::max<qreal>(badgeHeight, font.pixelSize() + 4);
    const QRectF chip(rect.left() + 12 - width, rect.bottom() - height / 2 + 1, width, height);
    c.painter.setPen(QPen(border, 1));
    c.painter.setBrush(c.theme.panel);
    c.painter.drawRoundedRect(chip, 4, 4);
    c.painter.setFont(font);
    c.painter.setPen(colour);
    c.painter.drawText(chip, Qt::AlignCenter, text);
}

}  // namespace

QString badgeText(const VisibleNode& node)
{
    return node.minDepth == node.depth ? QString::number(node.depth)
                                       : tr("depth %1\u2013%2").arg(node.minDepth).arg(node.depth);
}

void paintStageRange(const PaintContext& c, int node)
{
    const StageId first = c.scene.staging.stage[node], last = c.scene.staging.lastStage[node];
    paintCornerChip(c, node, tr("stages %1\u2013%2").arg(first.number).arg(last.number), c.theme.border,
                    c.theme.textMuted);
}

void paintBadge(const PaintContext& c, int node)
{
    const VisibleNode& record = c.scene.graph->nodes[node];
    const QString text = badgeText(record);
    const QRectF& rect = c.scene.nodes[node];
    const qreal width = std::max(badgeHeight, QFontMetricsF(legibleFont(c, smallFont())).horizontalAdvance(text) + 8);
    const qreal inset = record.shape == Shape::Gather ? 10 : 2;
    const QRectF badge(rect.right() - 8 - inset, rect.top() - badgeHeight / 2 + 1, width, badgeHeight);
    c.painter.setPen(QPen(c.theme.nodeBorder, 1));
    c.painter.setBrush(c.theme.panel);
    c.painter.drawRoundedRect(badge, badgeHeight / 2, badgeHeight / 2);
    c.painter.setFont(legibleFont(c, smallFont()));
    c.painter.setPen(c.theme.text);
    c.painter.drawText(badge, Qt::AlignCenter, text);
}

void paintInnerStores(const PaintContext& c, int node)
{
    const QRectF& rect = c.scene.nodes[node];
    const QString text = tr("%1 stored").arg(c.scene.innerStores[node]);
    const qreal width = QFontMetricsF(legibleFont(c, smallFont())).horizontalAdvance(text) + 26;
    const QRectF chip(rect.right() - width - 6, rect.bottom() - 3, width, 15);
    c.painter.setPen(QPen(c.theme.border, 1));
    c.painter.setBrush(c.theme.panel);
    c.painter.drawRoundedRect(chip, 7, 7);
    paintCylinder(c.painter, QRectF(chip.left() + 5, chip.top() + 2, 12, 11), c.theme);
    c.painter.setPen(c.theme.warning);
    c.painter.setFont(legibleFont(c, smallFont()));
    c.painter.drawText(chip.adjusted(20, 0, 0, 0), Qt::AlignVCenter, text);
}

// A disc with an exclamation mark in place of the depth, and a second border: shape and colour say the same.
void paintRefusal(const PaintContext& c, int node)
{
    const QRectF& rect = c.scene.nodes[node];
    c.painter.setBrush(Qt::NoBrush);
    c.painter.setPen(QPen(c.theme.bad, 3));
    c.painter.drawRoundedRect(rect.adjusted(-4, -4, 4, 4), 8, 8);
    const QRectF disc(rect.right() - 14, rect.top() - 14, 24, 24);
    c.painter.setPen(QPen(c.theme.panel, 1.5));
    c.painter.setBrush(c.theme.bad);
    c.painter.drawEllipse(disc);
    QFont font = labelFont();
    font.setBold(true);
    c.painter.setFont(font);
    c.painter.setPen(c.theme.panel);
    c.painter.drawText(disc, Qt::AlignCenter, QStringLiteral("!"));
}

// A ribbon over the upper left corner.
void paintBookmark(const PaintContext& c, int node)
{
    const QPointF at = c.scene.nodes[node].topLeft() + QPointF(10, -5);
    const qreal width = 9, height = 16;
    c.painter.setPen(QPen(c.theme.panel, 1));
    c.painter.setBrush(c.theme.accent);
    c.painter.drawPolygon(QPolygonF{at, at + QPointF(width, 0), at + QPointF(width, height),
                                    at + QPointF(width / 2, height - 4), at + QPointF(0, height)});
}

void paintBreakpointMark(QPainter& painter, QPointF centre, BreakMark mark, const style::Theme& theme, qreal radius)
{
    if (mark == BreakMark::None) return;
    painter.setPen(QPen(theme.panel, 1.5));
    painter.setBrush(theme.bad);
    painter.drawEllipse(centre, radius, radius);
    if (mark == BreakMark::Here) return;
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.panel);
    painter.drawEllipse(centre, 0.45 * radius, 0.45 * radius);
}

// On the left border.
void paintBreakpoint(const PaintContext& c, int node)
{
    const QRectF& rect = c.scene.nodes[node];
    paintBreakpointMark(c.painter, {rect.left(), rect.center().y()}, c.state.breakpoints[node], c.theme);
}

void paintExpander(const PaintContext& c, int node)
{
    const QRectF box = expanderRect(c.scene.nodes[node]);
    const bool structure = c.scene.graph->nodes[node].prologue;
    const QColor colour = structure ? c.theme.structure : c.colouring.text[node];
    c.painter.setPen(QPen(colour, 1));
    c.painter.setBrush(Qt::NoBrush);
    c.painter.drawRoundedRect(box, 3, 3);
    c.painter.drawLine(box.center() - QPointF(3, 0), box.center() + QPointF(3, 0));
    c.painter.drawLine(box.center() - QPointF(0, 3), box.center() + QPointF(0, 3));
}

// The stage of the node in a preview.
void paintMove(const PaintContext& c, int node)
{
    const QString text = QStringLiteral("\u2192 ") + tr("Stage %1").arg(c.scene.moved[node].number);
    paintCornerChip(c, node, text, c.theme.cut, c.theme.warning);
}

}  // namespace hopscope::graphview
