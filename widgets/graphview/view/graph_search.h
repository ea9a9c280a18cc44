#pragma once

// Searches the graph: matches are marked in the scene, and one of them is the current match.

#include "graphview/view/graph_overlays.h"
#include "graphview/view/scene_targets.h"

namespace hopscope::graphview {

class GraphSearch {
public:
    GraphSearch(const GraphParts& parts, const SceneTargets& targets, GraphOverlays& overlays);

    void open();  // opens the search field
    void find(const QString& query);
    void step(int direction);  // +1, -1: selects the next or the previous match
    void close();
    void forget();  // for a new model, to which old matches do not apply
    void mark();    // marks the matches in the current scene

private:
    const GraphParts& m_parts;
    const SceneTargets& m_targets;
    GraphOverlays& m_overlays;
    std::vector<protocol::OpId> m_found;
    int m_at = -1;  // the current match; -1: none
};

}  // namespace hopscope::graphview
