#include "graphview/view/bookmarks.h"

namespace hopscope::graphview {

using models::Target;

void Bookmarks::toggle()
{
    const Target target = m_parts.selection.current();
    if (target.kind == Target::Kind::None) return emit m_parts.panel.contextHelpRequested(tr("Select a node first."));
    const bool removed = m_all.removeOne(target);
    if (!removed) m_all << target;
    mark();
    emit m_parts.panel.contextHelpRequested(removed ? tr("Bookmark removed.")
                                                    : tr("Bookmark set: B cycles through the bookmarks."));
}

void Bookmarks::mark()
{
    GraphView& view = m_parts.view;
    if (!view.scene()) return;
    std::vector<char>& marked = view.state().bookmarked;
    marked.assign(m_all.isEmpty() ? 0 : view.scene()->nodes.size(), 0);
    for (const Target& target : m_all)
        if (const int node = m_targets.nodeOf(target); node >= 0) marked[node] = 1;
    view.update();
}

void Bookmarks::next()
{
    if (m_all.isEmpty()) return emit m_parts.panel.contextHelpRequested(tr("No bookmarks yet: set one with Ctrl+B."));
    m_at = static_cast<int>((m_at + 1) % m_all.size());
    m_parts.selection.reveal(m_all[m_at]);
}

}  // namespace hopscope::graphview
