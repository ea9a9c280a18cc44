#include "graphview/view/hit.h"

#include "graphview/scene/paint_parts.h"
#include "manual/glossary.h"
#include "models/tr.h"

namespace hopscope::graphview {

namespace {

constexpr qreal edgeDistance = 6;  // on the screen

QString nodeTip(const Scene& scene, int index)
{
    const VisibleNode& node = scene.graph->nodes[index];
    const QString first = scene.texts[index].shortened ? node.label + QLatin1Char('\n') : QString();
    QString again;
    for (const StageId stage : scene.staging.again[index]) again += QStringLiteral(" %1").arg(stage.number);
    if (!again.isEmpty()) again = QLatin1Char('\n') + tr("recomputed in stage%1").arg(again);
    const QString pins = scene.pins.empty() ? QString() : scene.pins[index];
    const QString decided = pins.isEmpty() ? QString() : QLatin1Char('\n') + tr("Pinned: %1").arg(pins);
    return first + node.tip + again + decided;
}

// Plain lines, and below them the definitions of the terms in some words.
QString withDefinitions(const QStringList& lines, const QString& words)
{
    const QString meaning = manual::definitionsIn(words), plain = lines.join(u'\n');
    if (meaning.isEmpty()) return plain;
    return plain.toHtmlEscaped().replace(u'\n', QStringLiteral("<br>")) + meaning;
}

QString storeTip(const SceneStore& store)
{
    if (store.count > 1) return tr("%1 stored values: expand the module to see them individually").arg(store.count);
    QStringList lines{tr("%1, stored by stage %2").arg(store.name).arg(store.stage.number)};
    if (!store.down.isEmpty()) lines << tr("%1 written").arg(store.down);
    if (!store.up.isEmpty()) lines << tr("%1 read").arg(store.up);
    return withDefinitions(lines, tr("stored value"));
}

QString edgeTip(const SceneEdge& edge)
{
    QStringList lines;
    if (!edge.pins.isEmpty()) lines << tr("Pinned: %1").arg(edge.pins);
    return withDefinitions(lines, edge.cut ? tr("cut") : QString());
}

// The title of a band stands at its upper left.
QString bandTip(const Scene& scene, const PaintState& state, QPointF at)
{
    const qreal high = 30 / std::min(state.scale, 1.0), wide = 160 / std::min(state.scale, 1.0);
    for (const Band& band : scene.bands)
        if (at.x() < state.titleX + wide && at.y() >= band.top && at.y() < std::min(band.top + high, band.bottom))
            return manual::definitionsIn(bandTitle(band));
    return {};
}

}  // namespace

Hit hitAt(const Scene& scene, QPointF at, qreal scale)
{
    if (const int store = scene.storeAt(at); store >= 0) return {Hit::Kind::Store, store};
    return hitBelowStores(scene, at, scale);
}

Hit hitBelowStores(const Scene& scene, QPointF at, qreal scale)
{
    if (const int node = scene.nodeAt(at); node >= 0) {
        const bool glyph = !scene.graph->nodes[node].expands.isEmpty() &&
                           expanderRect(scene.nodes[node]).adjusted(-3, -3, 3, 3).contains(at);
        return {glyph ? Hit::Kind::Expander : Hit::Kind::Node, node};
    }
    for (std::size_t i = 0; i < scene.stubs.size(); ++i)
        if (scene.stubs[i].textRect.united({scene.stubs[i].from, scene.stubs[i].to}).contains(at))
            return {Hit::Kind::Stub, static_cast<int>(i)};
    if (const int edge = scene.edgeAt(at, edgeDistance / scale); edge >= 0) return {Hit::Kind::Edge, edge};
    if (const int frame = scene.frameTitleAt(at); frame >= 0) return {Hit::Kind::Frame, frame};
    return {};
}

bool isMovable(const Scene& scene, const Hit& hit)
{
    return hit.kind == Hit::Kind::Store && scene.stores[hit.index].count == 1;
}

QString tipAt(const Scene& scene, const PaintState& state, const Hit& hit, QPointF at)
{
    if (hit.kind == Hit::Kind::Nothing) return bandTip(scene, state, at);
    if (hit.kind == Hit::Kind::Store) return storeTip(scene.stores[hit.index]);
    if (hit.kind == Hit::Kind::Stub) return scene.stubs[hit.index].tip;
    if (hit.kind == Hit::Kind::Edge) return edgeTip(scene.edges[hit.index]);
    if (!hit.onNode()) return {};
    const QString breakpoints = state.breakpointTips.value(hit.index);
    return nodeTip(scene, hit.index) + (breakpoints.isEmpty() ? QString() : QLatin1Char('\n') + breakpoints);
}

}  // namespace hopscope::graphview
