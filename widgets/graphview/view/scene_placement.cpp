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
        if (scene.graph.frames[i].path == m_keep->frame && !scene.frames[i].isNull())
            anchor = {m_keep->before, topOf(scene.frames[i])};
    const int node = scene.graph.nodeByKey(m_keep->key);
    if (!anchor && node >= 0) anchor = {m_keep->before, topOf(scene.nodes[node])};
    return anchor;
}

void ScenePlacement::show(const ScenePtr& scene)
{
    const auto anchor = scene ? anchorIn(*scene) : std::nullopt;
    m_keep.reset();
    m_view.setScene(scene, anchor, !m_fit);
}

void ScenePlacement::settle()
{
    if (m_view.scene() && std::exchange(m_fit, false)) m_view.viewport().showStart();
    if (m_camera) m_view.viewport().setCamera(*std::exchange(m_camera, std::nullopt));
}

}  // namespace hopscope::graphview
