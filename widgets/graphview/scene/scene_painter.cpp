#include <cmath>

#include "graphview/scene/paint_parts.h"

namespace hopscope::graphview {

bool faded(const PaintContext& c, int node)
{
    if (!c.state.found.empty()) return !c.state.found[node];
    return !c.state.cone.empty() && !c.state.cone[node];
}

QFont legibleFont(const PaintContext& c, const QFont& font)
{
    constexpr qreal rounding = 1e-6;
    const auto least = static_cast<int>(std::ceil(legible / c.state.scale - rounding));
    return resized(font, std::max(font.pixelSize(), least));
}

void paintScene(const PaintContext& c, const QRectF& exposed)
{
    paintBands(c, exposed);
    c.painter.setRenderHint(QPainter::Antialiasing);
    paintFrames(c, exposed);
    paintBandEdges(c, exposed);
    paintEdges(c, exposed);
    paintStubs(c, exposed);
    for (const SceneStore& store : c.scene.stores)
        if (store.rect.united(QRectF(store.anchor, QSizeF(1, 1))).intersects(exposed))
            paintStoreLine(c, store, exposed);
    for (int node : c.scene.nodeIndex.inside(exposed.adjusted(-20, -20, 20, 20))) paintNode(c, node);
    for (const SceneStore& store : c.scene.stores)
        if (store.rect.intersects(exposed)) paintStore(c, store);
}

}  // namespace hopscope::graphview
