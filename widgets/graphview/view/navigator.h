#pragma once

// Moves the selection and the view: to producers and consumers, back and forth, and to targets from other panels.

#include "graphview/view/fold_control.h"
#include "graphview/view/navigation.h"

namespace hopscope::graphview {

class Navigator {
public:
    Navigator(const GraphParts& parts, const SceneTargets& targets, FoldControl& folds);

    void step(Step direction);
    // Opens the modules that hide the target and scrolls to it, at once or when the pending scene is ready.
    void reveal(const models::Target& target);
    void revealSelection() { reveal(m_parts.selection.current()); }
    void resume();  // call when a new scene is ready
    void forget() { m_next.reset(); }

private:
    const GraphParts& m_parts;
    const SceneTargets& m_targets;
    FoldControl& m_folds;
    std::optional<models::Target> m_next;
};

}  // namespace hopscope::graphview
