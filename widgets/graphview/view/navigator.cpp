#include "graphview/view/navigator.h"

namespace hopscope::graphview {

using models::Target;

Navigator::Navigator(const GraphParts& parts, const SceneTargets& targets, FoldControl& folds)
    : m_parts(parts),
      m_targets(targets),
      m_folds(folds)
{}

void Navigator::step(Step direction)
{
    const ScenePtr& scene = m_parts.view.scene();
    if (!scene) return;
    const int next = walk(*scene, m_targets.selectedNode(), direction);
    if (next < 0) return;
    m_parts.selection.select(m_targets.targetOf({Hit::Kind::Node, next}));
    m_parts.view.viewport().scrollTo(scene->nodes[next]);
}

void Navigator::reveal(const Target& target)
{
    const bool onItsWay = m_parts.maker.busy() || !m_parts.view.scene();
    if (onItsWay || (m_folds.openAround(target) && m_parts.maker.busy())) {
        m_next = target;
        return;
    }
    const ScenePtr& scene = m_parts.view.scene();
    if (target.kind == Target::Kind::Stage) {
        if (const Band* band = scene->bandOf(target.stageId()))
            m_parts.view.viewport().scrollTo(
                QRectF(scene->bounds.center().x() - 1, band->top, 2, band->bottom - band->top));
    } else if (const int node = m_targets.nodeOf(target); node >= 0) {
        m_parts.view.viewport().scrollTo(scene->nodes[node], true);
    }
}

void Navigator::resume()
{
    if (m_next) reveal(*std::exchange(m_next, std::nullopt));
}

}  // namespace hopscope::graphview
