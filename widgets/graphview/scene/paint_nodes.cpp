#include <QFontMetricsF>
#include <cmath>

#include "graphview/scene/paint_parts.h"

namespace hopscope::graphview {

namespace {

QColor mixed(const QColor& a, const QColor& b, qreal share)
{
    const auto blend = [share](int x, int y) { return static_cast<int>(x + (y - x) * share); };
    return {blend(a.red(), b.red()), blend(a.green(), b.green()), blend(a.blue(), b.blue())};
}

// As QPainter does it for Qt::AlignCenter, without measuring again: there are hundreds in a frame. On whole pixels of a
// screen: letters are sharper, and each is drawn once for all its places.
void drawCentred(QPainter& painter, const QRectF& room, const QString& text, qreal width, bool picture)
{
    const QFontMetrics metrics = painter.fontMetrics();
    const qreal top = room.center().y() - metrics.height() / 2.0;
    const QPointF exact(room.center().x() - width / 2, top + metrics.ascent());
    if (picture) return painter.drawText(exact, text);
    const QTransform& view = painter.transform();
    const QPointF pixel = view.map(exact);
    painter.drawText(view.inverted().map(QPointF(std::round(pixel.x()), std::round(pixel.y()))), text);
}

bool marked(const std::vector<char>& list, int node) { return !list.empty() && list[node]; }

QPen borderOf(const PaintContext& c, int node)
{
    const VisibleNode& record = c.scene.graph->nodes[node];
    if (marked(c.state.selected, node)) return {c.theme.accent, 2.6};
    if (node == c.state.hoveredNode) return {c.theme.accent, 1.8};
    if (c.state.stubSource == node) return {c.theme.structure, 2.4};
    if (record.prologue && record.shape == Shape::Structure) return {c.theme.structure, 1.3, Qt::DashLine};
    if (record.shape == Shape::Output) return {c.theme.text, 2.2};
    return {c.theme.nodeBorder, 1.1};
}

// A second edge behind a box says that there is more inside; a third that it stands for several.
void paintStack(const PaintContext& c, int node)
{
    const int sheets = c.scene.graph->nodes[node].repeat > 1 ? 2 : 1;
    c.painter.setPen(QPen(c.theme.nodeBorder, 1));
    c.painter.setBrush(mixed(c.colouring.fill[node], c.theme.panel, 0.45));
    for (int sheet = sheets; sheet > 0; --sheet)
        c.painter.drawPath(shapePath(Shape::Module, c.scene.nodes[node].translated(sheet * 3.5, sheet * 3.5)));
}

void paintHatching(const PaintContext& c, int node, const QPainterPath& path)
{
    QColor colour = mixed(c.colouring.fill[node], c.colouring.text[node], 0.32);
    c.painter.save();
    c.painter.setClipPath(path, Qt::IntersectClip);
    c.painter.setPen(QPen(colour, 1));
    const QRectF& rect = c.scene.nodes[node];
    // Only outside of the text: stripes would make it hard to read.
    for (qreal x = rect.left() - rect.height(); x < rect.right(); x += 7)
        c.painter.drawLine(QPointF(x, rect.bottom()), QPointF(x + rect.height(), rect.top()));
    c.painter.restore();
}

bool opens(const PaintContext& c, int node)
{
    return c.state.scale >= titleScale && !c.scene.graph->nodes[node].expands.isEmpty() && !c.state.picture;
}

// Letters larger than at 100 % may fill the whole shape.
StubText labelOf(const PaintContext& c, int node, const QFont& font)
{
    const NodeText& text = c.scene.texts[node];
    if (font.pixelSize() == labelFont().pixelSize()) return {text.label, text.labelWidth};
    const QRectF& rect = c.scene.nodes[node];
    const qreal side = opens(c, node) ? expanderRect(rect).right() - rect.left() + 2 : 8;
    return fitLabel(text.label, font.pixelSize(), static_cast<int>(rect.width() - 2 * side));
}

void paintText(const PaintContext& c, int node)
{
    const NodeText& text = c.scene.texts[node];
    const VisibleNode& record = c.scene.graph->nodes[node];
    const QRectF& rect = c.scene.nodes[node];
    const bool structure = record.prologue && record.shape == Shape::Structure;
    const bool two = !text.detail.isEmpty() && c.state.scale >= detailScale;
    const QFont font = legibleFont(c, labelFont());
    const auto [label, labelWidth] = labelOf(c, node, font);
    if (!c.scene.staging.again[node].empty()) {
        const qreal width = labelWidth + 8;
        c.painter.setPen(Qt::NoPen);
        c.painter.setBrush(c.colouring.fill[node]);
        c.painter.drawRoundedRect(QRectF(rect.center().x() - width / 2, rect.top() + 4, width, rect.height() - 8), 4,
                                  4);
    }
    c.painter.setPen(structure ? c.theme.structure : c.colouring.text[node]);
    c.painter.setFont(font);
    const QRectF upper = two ? rect.adjusted(0, 3, 0, -rect.height() * 0.42) : rect;
    drawCentred(c.painter, upper, label, labelWidth, c.state.picture);
    if (!two) return;
    c.painter.setFont(legibleFont(c, detailFont()));
    drawCentred(c.painter, rect.adjusted(0, rect.height() * 0.5, 0, -3), text.detail,
                text.detailWidth * c.painter.font().pixelSize() / detailFont().pixelSize(), c.state.picture);
}

}  // namespace

void paintNode(const PaintContext& c, int node)
{
    const VisibleNode& record = c.scene.graph->nodes[node];
    c.painter.setOpacity(faded(c, node) ? fadedOpacity : 1);
    if (record.shape == Shape::Module) paintStack(c, node);
    const QPainterPath path = shapePath(record.shape, c.scene.nodes[node]);
    c.painter.setPen(borderOf(c, node));
    c.painter.setBrush(record.prologue && record.shape == Shape::Structure ? c.theme.panel : c.colouring.fill[node]);
    c.painter.drawPath(path);
    if (!c.scene.staging.again[node].empty()) paintHatching(c, node, path);
    if (c.state.scale >= textScale) paintText(c, node);
    if (opens(c, node)) paintExpander(c, node);
    const bool refused = node == c.state.refused;
    if (refused) paintRefusal(c, node);
    else if (c.state.scale >= detailScale && !record.prologue && !c.scene.depthless) paintBadge(c, node);
    if (c.state.scale >= detailScale && c.scene.innerStores[node] > 0) paintInnerStores(c, node);
    if (marked(c.state.bookmarked, node)) paintBookmark(c, node);
    if (!c.state.breakpoints.empty()) paintBreakpoint(c, node);
    if (!c.scene.pins.empty() && !c.scene.pins[node].isEmpty())
        paintPin(c.painter, c.scene.nodes[node].bottomLeft() + QPointF(1, 5), c.theme);
    const bool moved = !c.scene.moved.empty() && c.scene.moved[node].valid();
    if (moved) paintMove(c, node);
    else if (c.state.scale >= detailScale && c.scene.staging.lastStage[node] > c.scene.staging.stage[node])
        paintStageRange(c, node);
    c.painter.setOpacity(1);
}

}  // namespace hopscope::graphview
