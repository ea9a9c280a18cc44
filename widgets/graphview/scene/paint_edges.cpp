#include <QFontMetricsF>
#include <array>
#include <cmath>

#include "graphview/scene/paint_parts.h"

namespace hopscope::graphview {

namespace {

void paintArrow(const PaintContext& c, QPointF tip, QPointF from, const QColor& colour, qreal size)
{
    QPointF direction = tip - from;
    const qreal length = std::hypot(direction.x(), direction.y());
    direction = length < 0.1 ? QPointF(0, 1) : direction / length;
    const QPointF side(-direction.y(), direction.x());
    const QPointF base = tip - direction * size;
    c.painter.setPen(Qt::NoPen);
    c.painter.setBrush(colour);
    c.painter.drawPolygon(QPolygonF{tip, base + side * size * 0.5, base - side * size * 0.5});
}

// The visible parts of one curve: stroking takes time proportional to the whole length of a path.
void addSeen(QPainterPath& to, const std::array<QPointF, 4>& curve, const QRectF& area, int depth = 0)
{
    QRectF box(curve[0], QSizeF(1, 1));
    for (const QPointF& point : curve) box |= QRectF(point, QSizeF(1, 1));
    if (!box.intersects(area)) return;
    if (depth == 16 || area.contains(box)) {
        if (to.isEmpty() || to.currentPosition() != curve[0]) to.moveTo(curve[0]);
        return to.cubicTo(curve[1], curve[2], curve[3]);
    }
    const auto middle = [](QPointF a, QPointF b) { return (a + b) / 2; };
    const QPointF a = middle(curve[0], curve[1]), b = middle(curve[1], curve[2]), d = middle(curve[2], curve[3]);
    const QPointF ab = middle(a, b), bd = middle(b, d), centre = middle(ab, bd);
    addSeen(to, {curve[0], a, ab, centre}, area, depth + 1);
    addSeen(to, {centre, bd, d, curve[3]}, area, depth + 1);
}

QPainterPath seenPath(std::span<const QPointF> path, const QRectF& exposed)
{
    QPainterPath seen;
    const QRectF area = exposed.adjusted(-exposed.width(), -exposed.height(), exposed.width(), exposed.height());
    for (std::size_t at = 0; at + 3 < path.size(); at += 3)
        addSeen(seen, {path[at], path[at + 1], path[at + 2], path[at + 3]}, area);
    return seen;
}

void paintEdge(const PaintContext& c, int index, const QRectF& exposed)
{
    const SceneEdge& edge = c.scene.edges[index];
    const bool off = faded(c, edge.from) || faded(c, edge.to);
    const bool lit = index == c.state.selectedEdge || index == c.state.hoveredEdge;
    const bool structure = c.scene.graph->nodes[edge.to].prologue;
    QColor colour = edge.cut ? c.theme.cut : structure ? c.theme.structure : c.theme.edge;
    if (lit && !edge.cut) colour = c.theme.accent;
    QPen pen(colour, edge.cut ? 2.4 : lit ? 2 : 1.2);
    if (lit && edge.cut) pen.setWidthF(3.4);
    pen.setCapStyle(Qt::FlatCap);
    if (edge.cut) {
        pen.setDashPattern({3, 2});
        pen.setDashOffset(3);  // a gap first: the dashes of several cuts of one value would look like an arrow head
    }
    c.painter.setOpacity(off ? fadedOpacity : 1);
    c.painter.setPen(pen);
    c.painter.setBrush(Qt::NoBrush);
    c.painter.drawPath(edge.cut ? edgePath(edge.path) : seenPath(edge.path, exposed));  // dashes keep their places
    const auto size = edge.path.size();
    paintArrow(c, edge.path[size - 1], edge.path[size - 2], colour, edge.cut ? 9 : 6.5);
    if (!edge.pins.isEmpty()) paintPin(c.painter, pointOnPath(edge.path, 0.75), c.theme);
    c.painter.setOpacity(1);
}

QRectF roomBeside(const PaintContext& c, const SceneEdge& edge, const std::vector<QRectF>& taken)
{
    const QFontMetricsF metrics(legibleFont(c, smallFont()));
    const QSizeF size(metrics.horizontalAdvance(edge.bytes) + 6, std::max(14.0, metrics.height()));
    for (const qreal along : {0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8}) {
        const QRectF chip(pointOnPath(edge.path, along) + QPointF(4, -size.height() / 2), size);
        const bool free = std::none_of(taken.begin(), taken.end(), [&](const QRectF& r) { return r.intersects(chip); });
        if (free && c.scene.nodeIndex.inside(chip).empty()) return chip;
    }
    return {};
}

// Drawn next to each cut edge if there is room; otherwise only the stored value shows the bytes.
void paintCutBytes(const PaintContext& c, const std::vector<int>& edges)
{
    c.painter.setFont(legibleFont(c, smallFont()));
    std::vector<QRectF> taken;
    for (const SceneStore& store : c.scene.stores) taken.push_back(store.rect);
    for (int index : edges) {
        const SceneEdge& edge = c.scene.edges[index];
        if (!edge.cut || edge.bytes.isEmpty()) continue;
        const QRectF chip = roomBeside(c, edge, taken);
        if (chip.isNull()) continue;
        taken.push_back(chip);
        c.painter.setOpacity(faded(c, edge.from) || faded(c, edge.to) ? fadedOpacity : 1);
        c.painter.setPen(Qt::NoPen);
        c.painter.setBrush(c.theme.panel);
        c.painter.drawRoundedRect(chip, 3, 3);
        c.painter.setPen(c.theme.warning);
        c.painter.drawText(chip, Qt::AlignCenter, edge.bytes);
    }
    c.painter.setOpacity(1);
}

}  // namespace

void paintEdges(const PaintContext& c, const QRectF& exposed)
{
    const std::vector<int> edges = c.scene.edgesInside(exposed);
    for (int edge : edges)
        if (!c.scene.edges[edge].cut) paintEdge(c, edge, exposed);
    for (int edge : edges)
        if (c.scene.edges[edge].cut) paintEdge(c, edge, exposed);
    if (c.state.scale >= detailScale) paintCutBytes(c, edges);
}

void paintStubs(const PaintContext& c, const QRectF& exposed)
{
    if (c.state.scale < detailScale) return;
    const QFont font = legibleFont(c, smallFont());
    const qreal wider = qreal(font.pixelSize()) / smallFont().pixelSize() - 1;  // to the left, where edges come from
    c.painter.setFont(font);
    for (const SceneStub& stub : c.scene.stubs) {
        if (!stub.textRect.adjusted(0, -4, 60, 4).intersects(exposed)) continue;
        const bool lit = stub.source == c.state.stubSource;
        const QColor& colour = c.scene.graph->nodes[stub.source].prologue ? c.theme.structure : c.theme.textMuted;
        c.painter.setOpacity(faded(c, stub.node) ? fadedOpacity : 1);
        c.painter.setPen(QPen(colour, lit ? 2.2 : 1.2, lit ? Qt::SolidLine : Qt::DotLine));
        c.painter.drawLine(stub.from, stub.to - QPointF(5, 0));
        paintArrow(c, stub.to, stub.from, colour, 5.5);
        QColor back = c.theme.panel;
        back.setAlphaF(0.72F);
        c.painter.setPen(Qt::NoPen);
        c.painter.setBrush(back);
        const QRectF room = stub.textRect.adjusted(-wider * stub.textRect.width() - 1, 0, 0, 0);
        c.painter.drawRoundedRect(room.adjusted(-3, 0, 2, 0), 4, 4);
        c.painter.setPen(colour);
        c.painter.drawText(room, Qt::AlignRight | Qt::AlignVCenter, stub.text);
    }
    c.painter.setOpacity(1);
}

}  // namespace hopscope::graphview
