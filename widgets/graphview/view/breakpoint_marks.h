#pragma once

// Shows the breakpoints of the document in the graph, and offers menu entries that change them.

#include <QMenu>

#include "graphview/view/scene_targets.h"

namespace hopscope::graphview {

class BreakpointMarks {
    Q_DECLARE_TR_FUNCTIONS(BreakpointMarks)
public:
    BreakpointMarks(const GraphParts& parts, const SceneTargets& targets) : m_parts(parts), m_targets(targets) {}

    // Marks operators with a breakpoint, and boxes and bands that hold one, in the current scene. Returns true if any
    // mark has changed.
    bool mark();
    void addToMenu(QMenu& menu, int node);

private:
    void markNodes(const models::Breakpoint& breakpoint);
    void markBands(const models::Breakpoint& breakpoint);
    void set(const models::Breakpoint& breakpoint);  // replaces the existing one
    void askRange(models::Breakpoint breakpoint);
    void askNode(models::Breakpoint breakpoint);

    const GraphParts& m_parts;
    const SceneTargets& m_targets;
};

}  // namespace hopscope::graphview
