#pragma once

// Marks the selected and the hovered target in the graph, from this or another panel, and announces them to screen
// readers.

#include <QCoreApplication>

#include "graphview/view/scene_targets.h"

namespace hopscope::graphview {

class SelectionMarks {
    Q_DECLARE_TR_FUNCTIONS(SelectionMarks)
public:
    SelectionMarks(const GraphParts& parts, const SceneTargets& targets) : m_parts(parts), m_targets(targets) {}

    void showSelection();
    void showRefused();  // marks the operator that prevents a split, in every new scene
    void showHover(const models::Target& target);
    void toggleUses(int source);  // marks or unmarks all stubs of a node

private:
    void markModule(const QString& path);
    void markValue(ValueId value);
    [[nodiscard]] QString description(int node) const;  // -1: empty

    const GraphParts& m_parts;
    const SceneTargets& m_targets;
};

}  // namespace hopscope::graphview
