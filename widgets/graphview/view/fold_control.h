#pragma once

// Opens and closes modules: requests a new fold, and chooses the item that keeps its position on the screen meanwhile.

#include <QCoreApplication>

#include "graphview/view/scene_placement.h"
#include "graphview/view/scene_targets.h"

namespace hopscope::graphview {

class FoldControl {
    Q_DECLARE_TR_FUNCTIONS(FoldControl)
public:
    FoldControl(const GraphParts& parts, const SceneTargets& targets, ScenePlacement& placement);

    void open(int node);                            // does nothing for -1 or if there is nothing to open
    void close(int frame);                          // the module of the frame
    void closeAround(int node);                     // the module around the node
    [[nodiscard]] bool isInModule(int node) const;  // true if closeAround() has something to close
    void openAll();
    void closeAll();
    void foldToLayers();  // the fold that a model is opened with
    void showEveryOperator(bool shown);
    // Opens the modules that hide the target. Returns true if any was closed, so that a new scene will follow.
    [[nodiscard]] bool openAround(const models::Target& target);

private:
    void toggle(const QString& path, const QPointF& anchor, const QString& keyAfter, const QString& frameAfter);

    const GraphParts& m_parts;
    const SceneTargets& m_targets;
    ScenePlacement& m_placement;
};

}  // namespace hopscope::graphview
