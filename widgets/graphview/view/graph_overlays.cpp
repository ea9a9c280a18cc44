#include "graphview/view/graph_overlays.h"

namespace hopscope::graphview {

namespace {

constexpr int gap = 14;
constexpr int narrow = 420, low = 340;  // less room than this is left to the graph

}  // namespace

GraphOverlays::GraphOverlays(GraphView& view)
    : m_view(view),
      m_minimap(new Minimap(&view)),
      m_searchBar(new SearchBar(&view)),
      m_strip(new ToolStrip(view, view.parentWidget()))
{
    hide();
}

void GraphOverlays::setTheme(const style::Theme& theme)
{
    m_strip->setTheme(theme);
    m_searchBar->setTheme(theme);
}

void GraphOverlays::hide()
{
    m_strip->legend().clear();
    m_minimap->hide();
}

void GraphOverlays::display(const ScenePtr& scene, const Colouring& colouring, const style::Theme& theme,
                            Legend::Signs signs)
{
    m_strip->legend().display(colouring, theme, signs);
    m_strip->arrange();
    m_minimap->display(scene, colouring, theme);
}

void GraphOverlays::place()
{
    m_searchBar->move(m_view.width() - m_searchBar->width() - gap, gap);
    m_minimap->follow(m_view.camera().toScene(QRectF(m_view.rect())));
    m_strip->showZoom(m_view.camera().scale);
    placeMinimap();
}

bool GraphOverlays::isFree(const QRect& place) const
{
    const Scene& scene = *m_view.scene();
    const QRectF behind = m_view.camera().toScene(QRectF(place).adjusted(-gap, -gap, gap, gap));
    const auto beside = [&](const auto& item) { return !item.rect.intersects(behind); };
    const auto unread = [&](const SceneStub& stub) { return !stub.textRect.intersects(behind); };
    return scene.nodeIndex.count(behind, 1) == 0 && scene.edgesInside(behind).empty() &&
           std::ranges::all_of(scene.stores, beside) && std::ranges::all_of(scene.stubs, unread);
}

// Useful only if part of the graph is out of sight. It may cover nodes only once the user has scrolled or zoomed.
void GraphOverlays::placeMinimap()
{
    const QSize room = m_view.size();
    const bool whole =
        m_view.scene() && m_view.camera().toScene(QRectF(m_view.rect())).contains(m_view.scene()->bounds);
    QRect place(QPoint(room.width() - m_minimap->width() - gap, room.height() - m_minimap->height() - gap),
                m_minimap->size());
    bool shown = m_view.scene() && !whole && room.width() >= narrow && room.height() >= low;
    if (shown && !m_view.viewport().touched() && !isFree(place)) {
        place.moveTop(gap);
        shown = isFree(place);
    }
    m_minimap->move(place.topLeft());
    m_minimap->setVisible(shown);
}

}  // namespace hopscope::graphview
