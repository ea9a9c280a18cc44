#pragma once

// Arranges the widgets around the graph: the strip below it with the legend, the minimap in a free corner over it, and
// the search field above. If there is little room, the graph takes precedence over them.

#include "graphview/view/overlays.h"
#include "graphview/view/tool_strip.h"

namespace hopscope::graphview {

class GraphOverlays {
public:
    explicit GraphOverlays(GraphView& view);

    void setTheme(const style::Theme& theme);
    // Sets the contents of the legend and the minimap for a scene.
    void display(const ScenePtr& scene, const Colouring& colouring, const style::Theme& theme, Legend::Signs signs);
    void hide();   // when nothing is open
    void place();  // call after every change of the view's size or camera, or of an overlay's size

    [[nodiscard]] SearchBar& searchBar() { return *m_searchBar; }
    [[nodiscard]] Minimap& minimap() { return *m_minimap; }
    [[nodiscard]] ToolStrip& strip() { return *m_strip; }  // the layout of the view places it

private:
    void placeMinimap();
    [[nodiscard]] bool isFree(const QRect& place) const;  // no part of the drawing is behind it

    GraphView& m_view;
    // Children of the view.
    Minimap* m_minimap;
    SearchBar* m_searchBar;
    ToolStrip* m_strip;  // next to the view
};

}  // namespace hopscope::graphview
