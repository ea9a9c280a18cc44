#pragma once

// Opens and closes modules: requests another fold, and sets the item that keeps its place on the screen meanwhile.

#include <QCoreApplication>

#include "graphview/view/scene_placement.h"
#include "graphview/view/scene_targets.h"

namespace hopscope::graphview {

class FoldControl {
    Q_DECLARE_TR_FUNCTIONS(FoldControl)
public:
    FoldControl(const GraphParts& parts, const SceneTargets& targets, ScenePlacement& placement);

    void open(int node);                            // -1, or nothing to open: does nothing
    void close(int frame);                          // the module of the frame
    void closeAround(int node);                     // the module around the node
    [[nodiscard]] bool isInModule(int node) const;  // closeAround() has something to close
    void openAll();
    void closeAll();
    void foldToLayers();  // the fold that a model is opened with
    void showEveryOperator(bool shown);
    // Opens the modules that hide the target; true: at least one was closed, and a new scene will follow.
    [[nodiscard]] bool openAround(const models::Target& target);

private:
    void toggle(const QString& path, const QPointF& anchor, const QString& keyAfter, const QString& frameAfter);

    const GraphParts& m_parts;
    const SceneTargets& m_targets;
    ScenePlacement& m_placement;
};

}  // namespace hopscope::graphview
