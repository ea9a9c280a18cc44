#include "graphview/view/scene_placement.h"

namespace hopscope::graphview {

void ScenePlacement::keep(QPointF before, const QString& key, const QString& frame)
{
    m_keep = Keep{.before = before, .key = key, .frame = frame};
}

void ScenePlacement::restore(const std::optional<Camera>& camera)
{
    m_camera = camera;
    m_fit = !camera;
}

void ScenePlacement::reset()
{
    m_keep.reset();
    restore(std::nullopt);
}

std::optional<GraphView::Anchor> ScenePlacement::anchorIn(const Scene& scene) const
{
    if (!m_keep) return std::nullopt;
    const auto topOf = [](const QRectF& rect) { return QPointF(rect.center().x(), rect.top()); };
    std::optional<GraphView::Anchor> anchor;
    for (std::size_t i = 0; i < scene.frames.size(); ++i)
        if (scene.graph->frames[i].path == m_keep->frame && !scene.frames[i].isNull())
            anchor = {m_keep->before, topOf(scene.frames[i])};
    const int node = scene.graph->nodeByKey(m_keep->key);
    if (!anchor && node >= 0) anchor = {m_keep->before, topOf(scene.nodes[node])};
    return anchor;
}

namespace {

int edgeBetween(const Scene& scene, const QString& from, const QString& to)
{
    for (std::size_t i = 0; i < scene.edges.size(); ++i)
        if (scene.graph->nodes[scene.edges[i].from].key == from && scene.graph->nodes[scene.edges[i].to].key == to)
            return static_cast<int>(i);
    return -1;
}

int nearestNode(const Scene& scene, QPointF at)
{
    int nearest = -1;
    qreal least = 0;
    for (std::size_t i = 0; i < scene.nodes.size(); ++i) {
        const QRectF& box = scene.nodes[i];
        const QPointF on(std::clamp(at.x(), box.left(), box.right()), std::clamp(at.y(), box.top(), box.bottom()));
        const qreal away = (on - at).manhattanLength();
        if (nearest < 0 || away < least) nearest = static_cast<int>(i), least = away;
    }
    return nearest;
}

// The place at the same share of an edge's height.
QPointF alongEdge(const SceneEdge& before, const SceneEdge& after, QPointF at)
{
    const qreal top = before.path.front().y(), height = before.path.back().y() - top;
    const qreal share = height > 0 ? std::clamp((at.y() - top) / height, 0.0, 1.0) : 0;
    const qreal y = after.path.front().y() + share * (after.path.back().y() - after.path.front().y());
    return {pathAtHeight(after.path, y).x() + at.x() - pathAtHeight(before.path, at.y()).x(), y};
}

}  // namespace

std::optional<GraphView::Anchor> ScenePlacement::anchorOfPointer(const Scene& scene) const
{
    const ScenePtr& now = m_view.scene();
    if (!now || now->nodes.empty() || !QRectF(m_view.rect()).contains(m_view.viewport().pointer())) return std::nullopt;
    const QPointF at = m_view.camera().toScene(m_view.viewport().pointer());
    const Hit hit = hitBelowStores(*now, at, m_view.camera().scale);
    if (hit.kind == Hit::Kind::Edge) {
        const SceneEdge& edge = now->edges[hit.index];
        const int same = edgeBetween(scene, now->graph->nodes[edge.from].key, now->graph->nodes[edge.to].key);
        if (same >= 0) return GraphView::Anchor{at, alongEdge(edge, scene.edges[same], at)};
    }
    const int node = nearestNode(*now, at);
    const int same = scene.graph->nodeByKey(now->graph->nodes[node].key);
    if (same < 0) return std::nullopt;
    return GraphView::Anchor{now->nodes[node].center(), scene.nodes[same].center()};
}

void ScenePlacement::show(const ScenePtr& scene)
{
    std::optional<GraphView::Anchor> anchor;
    if (scene) anchor = m_keep ? anchorIn(*scene) : anchorOfPointer(*scene);
    m_keep.reset();
    m_view.setScene(scene, anchor, !m_fit);
}

void ScenePlacement::settle()
{
    const bool untouched = m_view.viewport().atStart();
    if (m_view.scene() && (std::exchange(m_fit, false) || untouched)) m_view.viewport().showStart();
    if (m_camera) m_view.viewport().setCamera(*std::exchange(m_camera, std::nullopt));
}

}  // namespace hopscope::graphview
