#pragma once

// The widgets around the graph: the strip with the legend below it, the minimap in a free corner over it, and the search
// field above. If there is little room, the graph takes precedence over them.

#include "graphview/view/overlays.h"
#include "graphview/view/tool_strip.h"

namespace hopscope::graphview {

class GraphOverlays {
public:
    explicit GraphOverlays(GraphView& view);

    void setTheme(const style::Theme& theme);
    // Sets the contents of legend and minimap for a scene.
    void display(const ScenePtr& scene, const Colouring& colouring, const style::Theme& theme, Legend::Signs signs);
    void hide();   // nothing is open
    void place();  // after every change of the view's size or camera, or of an overlay's size

    [[nodiscard]] SearchBar& searchBar() { return *m_searchBar; }
    [[nodiscard]] Minimap& minimap() { return *m_minimap; }
    [[nodiscard]] ToolStrip& strip() { return *m_strip; }  // to be placed by the layout of the view

private:
    void placeMinimap();
    [[nodiscard]] bool isFree(const QRect& place) const;  // nothing of the drawing is behind it

    GraphView& m_view;
    // Children of the view.
    Minimap* m_minimap;
    SearchBar* m_searchBar;
    ToolStrip* m_strip;  // next to the view
};

}  // namespace hopscope::graphview
