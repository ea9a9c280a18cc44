#pragma once

// Between the picture and the model: what a hit means, which node shows a target, which value a node hands on. Asks the
// scene of now; keeps nothing.

#include "graphview/view/graph_parts.h"

namespace hopscope::graphview {

class SceneTargets {
public:
    explicit SceneTargets(const GraphParts& parts) : m_parts(parts) {}

    [[nodiscard]] models::Target targetOf(const Hit& hit) const;
    [[nodiscard]] int nodeOf(const models::Target& target) const;  // -1: nothing shows it
    [[nodiscard]] int selectedNode() const { return nodeOf(m_parts.selection.current()); }
    // The value that a checkpoint there would store; may be none.
    [[nodiscard]] ValueId valueOf(const Hit& hit) const;
    [[nodiscard]] ValueId valueOfNode(int node) const;
    [[nodiscard]] ValueId selectedValue() const;

private:
    const GraphParts& m_parts;
};

}  // namespace hopscope::graphview
