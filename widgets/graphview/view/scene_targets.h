#pragma once

// Translates between the picture and the model: finds the target of a hit, the node that shows a target, and the value
// that a node passes on. Uses the current scene and keeps no state.

#include "graphview/view/graph_parts.h"

namespace hopscope::graphview {

class SceneTargets {
public:
    explicit SceneTargets(const GraphParts& parts) : m_parts(parts) {}

    [[nodiscard]] models::Target targetOf(const Hit& hit) const;
    [[nodiscard]] int nodeOf(const models::Target& target) const;  // -1: no node shows it
    [[nodiscard]] int selectedNode() const { return nodeOf(m_parts.selection.current()); }
    // Returns the value that a store at the hit would hold; there may be none.
    [[nodiscard]] ValueId valueOf(const Hit& hit) const;
    [[nodiscard]] ValueId valueOfNode(int node) const;
    [[nodiscard]] ValueId selectedValue() const;

private:
    const GraphParts& m_parts;
};

}  // namespace hopscope::graphview
