#pragma once

// Translates between the picture and the model: the target of a hit, the node that shows a target, the value that a
// node hands on. Uses the current scene; keeps no state.

#include "graphview/view/graph_parts.h"

namespace hopscope::graphview {

class SceneTargets {
public:
    explicit SceneTargets(const GraphParts& parts) : m_parts(parts) {}

    [[nodiscard]] models::Target targetOf(const Hit& hit) const;
    [[nodiscard]] int nodeOf(const models::Target& target) const;  // -1: nothing shows it
    [[nodiscard]] int selectedNode() const { return nodeOf(m_parts.selection.current()); }
    // The value that a store there would hold; may be none.
    [[nodiscard]] ValueId valueOf(const Hit& hit) const;
    [[nodiscard]] ValueId valueOfNode(int node) const;
    [[nodiscard]] ValueId selectedValue() const;

private:
    const GraphParts& m_parts;
};

}  // namespace hopscope::graphview
