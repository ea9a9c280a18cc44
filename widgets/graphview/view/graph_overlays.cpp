#include "graphview/view/graph_overlays.h"

namespace hopscope::graphview {

namespace {

constexpr int gap = 14;
constexpr int narrow = 420, low = 340;  // less room than this is left to the graph

}  // namespace

GraphOverlays::GraphOverlays(GraphView& view)
    : m_view(view),
      m_legend(new Legend(&view)),
      m_minimap(new Minimap(&view)),
      m_searchBar(new SearchBar(&view)),
      m_strip(new ToolStrip(view))
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
    m_legend->hide();
    m_minimap->hide();
}

void GraphOverlays::display(const ScenePtr& scene, const Colouring& colouring, const style::Theme& theme,
                            Legend::Signs signs)
{
    m_legend->display(colouring, theme, signs);
    m_minimap->display(scene, colouring, theme);
}

void GraphOverlays::place()
{
    const QSize room = m_view.size();
    m_minimap->move(room.width() - m_minimap->width() - gap, room.height() - m_minimap->height() - gap);
    m_searchBar->move(room.width() - m_searchBar->width() - gap, gap);
    m_minimap->follow(m_view.camera().toScene(QRectF(m_view.rect())));
    m_minimap->setVisible(m_view.scene() && room.width() >= narrow && room.height() >= low);
    m_strip->setVisible(m_view.scene() != nullptr);
    m_strip->showZoom(m_view.camera().scale);
    placeStrip(placeLegend());
}

bool GraphOverlays::placeLegend()
{
    const QSize room = m_view.size();
    m_legend->move(gap, room.height() - m_legend->height() - gap);
    const bool fits = room.height() >= low && m_legend->width() + 2 * gap <= room.width();
    m_legend->setVisible(m_view.scene() && fits);
    return m_view.scene() && fits;
}

// Between legend and minimap; where it does not fit, above the legend.
void GraphOverlays::placeStrip(bool legend)
{
    const QSize room = m_view.size();
    const int free = legend ? m_legend->width() + 2 * gap : gap;
    const int left = std::max(free, (room.width() - m_strip->width()) / 2);
    const bool fits = left + m_strip->width() + m_minimap->width() + 2 * gap < room.width();
    const int above = room.height() - (legend ? m_legend->height() + gap : 0) - m_strip->height() - gap;
    m_strip->move(fits ? left : gap, fits ? room.height() - m_strip->height() - gap : above);
    m_view.viewport().setReserved(room.height() - (fits ? m_legend->y() : above));
    // Not over the legend, nor over the strip above it.
    const bool beside = free + m_minimap->width() + gap <= room.width();
    if (!beside) m_minimap->move(m_minimap->x(), above - m_minimap->height() - gap);
}

}  // namespace hopscope::graphview
