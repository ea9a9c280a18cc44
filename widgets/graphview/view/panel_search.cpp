#include "graphview/view/graph_controller.h"

namespace hopscope::graphview {

void GraphController::search(const QString& query)
{
    m_found = m_document.parts() ? m_document.parts()->search.find(query) : std::vector<protocol::OpId>();
    m_foundAt = m_found.empty() ? -1 : 0;
    markFound();
    if (m_foundAt >= 0) {
        const int node = nodeOf(models::Target::op(m_found.front()));
        if (node >= 0) m_view->scrollTo(m_view->scene()->nodes[node]);
    }
}

void GraphController::markFound()
{
    const ScenePtr& scene = m_view->scene();
    std::vector<char>& found = m_view->state().found;
    found.clear();
    m_searchBar->setResult(m_foundAt + 1, static_cast<int>(m_found.size()));
    if (scene && !m_found.empty() && m_searchBar->isVisible()) {
        found.assign(scene->nodes.size(), 0);
        for (const protocol::OpId op : m_found)
            if (const int node = scene->graph.nodeOf[op.at()]; node >= 0) found[node] = 1;
    }
    placeOverlays();
    m_view->update();
}

void GraphController::searchStep(int direction)
{
    if (m_found.empty()) return;
    const int count = static_cast<int>(m_found.size());
    m_foundAt = (m_foundAt + direction + count) % count;
    m_searchBar->setResult(m_foundAt + 1, count);
    const models::Target target = models::Target::op(m_found[m_foundAt]);
    m_selection.select(target);
    reveal(target);
}

void GraphController::closeSearch()
{
    m_searchBar->hide();
    m_found.clear();
    m_foundAt = -1;
    markFound();
    m_view->setFocus();
}

}  // namespace hopscope::graphview
