#include "graphview/view/scene_transition.h"

namespace hopscope::graphview {

namespace {

constexpr int milliseconds = 200;
constexpr std::size_t maxNodes = 1500;  // of both scenes

void moveEdges(Scene& scene, const std::vector<QPointF>& displaced, qreal share)
{
    auto points = std::make_shared<std::vector<QPointF>>(*scene.points);
    for (SceneEdge& edge : scene.edges) {
        const QPointF from = displaced[edge.from] * share, to = displaced[edge.to] * share;
        const auto last = static_cast<qreal>(edge.path.size() - 1);
        const std::span path(points->data() + (edge.path.data() - scene.points->data()), edge.path.size());
        for (std::size_t i = 0; i < path.size(); ++i) path[i] += from + (to - from) * (static_cast<qreal>(i) / last);
        edge.path = path;
    }
    scene.points = std::move(points);
}

// `scene` with every node `displaced[node] * share` away from its place, and edges following.
ScenePtr displacedScene(const Scene& scene, const std::vector<QPointF>& displaced, qreal share)
{
    auto moved = std::make_shared<Scene>(scene);
    for (std::size_t i = 0; i < moved->nodes.size(); ++i) moved->nodes[i].translate(displaced[i] * share);
    moved->frames = frameRects(*moved->graph, moved->nodes);
    for (std::size_t i = 0; i < moved->frames.size(); ++i)
        if (scene.frames[i].isNull()) moved->frames[i] = {};
    moveEdges(*moved, displaced, share);
    for (SceneStub& stub : moved->stubs) {
        const QPointF by = displaced[stub.node] * share;
        stub.from += by, stub.to += by, stub.textRect.translate(by);
    }
    moved->nodeIndex = GridIndex(moved->nodes);
    return moved;
}

}  // namespace

SceneTransition::SceneTransition()
{
    m_animation.setDuration(milliseconds);
    m_animation.setStartValue(0.0);
    m_animation.setEndValue(1.0);
    m_animation.setEasingCurve(QEasingCurve::OutCubic);
    connect(&m_animation, &QVariantAnimation::valueChanged, this,
            [this](const QVariant& value) { step(value.toReal()); });
}

void SceneTransition::start(const Scene& before, ScenePtr target, QPointF shift, QPointF anchor)
{
    if (target->nodes.size() + before.nodes.size() > maxNodes) return;
    m_target = std::move(target);
    QHash<QString, QPointF> places;
    for (std::size_t i = 0; i < before.nodes.size(); ++i)
        places.insert(before.graph->nodes[i].key, before.nodes[i].center() + shift);
    m_displaced.assign(m_target->nodes.size(), {});
    bool any = false;
    for (std::size_t i = 0; i < m_displaced.size(); ++i) {
        const QPointF centre = m_target->nodes[i].center();
        const auto known = places.constFind(m_target->graph->nodes[i].key);
        m_displaced[i] = (known != places.constEnd() ? *known : anchor.isNull() ? centre : anchor) - centre;
        any = any || !m_displaced[i].isNull();
    }
    if (any) m_animation.start();
}

void SceneTransition::step(qreal progress)
{
    emit stepped(progress < 1 ? displacedScene(*m_target, m_displaced, 1 - progress) : m_target);
}

}  // namespace hopscope::graphview
