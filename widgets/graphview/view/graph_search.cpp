#include "graphview/view/graph_search.h"

namespace hopscope::graphview {

using models::Target;

GraphSearch::GraphSearch(const GraphParts& parts, const SceneTargets& targets, GraphOverlays& overlays)
    : m_parts(parts),
      m_targets(targets),
      m_overlays(overlays)
{}

void GraphSearch::open()
{
    m_overlays.searchBar().open();
    m_overlays.place();
}

void GraphSearch::find(const QString& query)
{
    const models::PartsPtr& known = m_parts.document.parts();
    m_found = known ? known->search.find(query) : std::vector<protocol::OpId>();
    m_at = m_found.empty() ? -1 : 0;
    mark();
    if (m_at < 0) return;
    const int node = m_targets.nodeOf(Target::op(m_found.front()));
    if (node >= 0) m_parts.view.viewport().scrollTo(m_parts.view.scene()->nodes[node]);
}

void GraphSearch::mark()
{
    GraphView& view = m_parts.view;
    std::vector<char>& found = view.state().found;
    found.clear();
    m_overlays.searchBar().setResult(m_at + 1, static_cast<int>(m_found.size()));
    if (view.scene() && !m_found.empty() && m_overlays.searchBar().isVisible()) {
        found.assign(view.scene()->nodes.size(), 0);
        for (const protocol::OpId op : m_found)
            if (const int node = view.scene()->graph->nodeOf[op.at()]; node >= 0) found[node] = 1;
    }
    m_overlays.place();
    view.update();
}

void GraphSearch::step(int direction)
{
    if (m_found.empty()) return;
    const int count = static_cast<int>(m_found.size());
    m_at = (m_at + direction + count) % count;
    m_overlays.searchBar().setResult(m_at + 1, count);
    m_parts.selection.reveal(Target::op(m_found[m_at]));
}

void GraphSearch::close()
{
    m_overlays.searchBar().hide();
    m_found.clear();
    m_at = -1;
    mark();
    m_parts.view.setFocus();
}

void GraphSearch::forget() { m_found.clear(); }

}  // namespace hopscope::graphview
