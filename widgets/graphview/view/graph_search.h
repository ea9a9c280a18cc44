#pragma once

// Search in the graph: matches are marked in the scene, and one of them is the current match.

#include "graphview/view/graph_overlays.h"
#include "graphview/view/scene_targets.h"

namespace hopscope::graphview {

class GraphSearch {
public:
    GraphSearch(const GraphParts& parts, const SceneTargets& targets, GraphOverlays& overlays);

    void open();  // the search field
    void find(const QString& query);
    void step(int direction);  // +1, -1: selects the next or the previous one
    void close();
    void forget();  // another model: old matches no longer apply
    void mark();    // in the current scene

private:
    const GraphParts& m_parts;
    const SceneTargets& m_targets;
    GraphOverlays& m_overlays;
    std::vector<protocol::OpId> m_found;
    int m_at = -1;  // the current one; -1: none
};

}  // namespace hopscope::graphview
