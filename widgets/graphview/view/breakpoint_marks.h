#pragma once

// Breakpoints of the document in the graph: their marks, and what a menu offers to change.

#include <QMenu>

#include "graphview/view/scene_targets.h"

namespace hopscope::graphview {

class BreakpointMarks {
    Q_DECLARE_TR_FUNCTIONS(BreakpointMarks)
public:
    BreakpointMarks(const GraphParts& parts, const SceneTargets& targets) : m_parts(parts), m_targets(targets) {}

    void mark();  // in the scene of now
    void addToMenu(QMenu& menu, int node);

private:
    void set(const models::Breakpoint& breakpoint);  // instead of the one that is there
    void askRange(models::Breakpoint breakpoint);
    void askNode(models::Breakpoint breakpoint);

    const GraphParts& m_parts;
    const SceneTargets& m_targets;
};

}  // namespace hopscope::graphview
