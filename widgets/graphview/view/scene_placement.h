#pragma once

// Decides where the next scene appears on the screen: fitted to the view, as it was left in a session, or so that the
// module that is opened or closed keeps its position.

#include "graphview/view/graph_parts.h"

namespace hopscope::graphview {

class ScenePlacement {
public:
    explicit ScenePlacement(GraphView& view) : m_view(view) {}

    // Overrides the default, by which the item below the pointer keeps its position. In the next scene, the top of
    // frame `frame` or, if there is none, of node `key` appears where the point `before` of the current scene is now.
    void keep(QPointF before, const QString& key, const QString& frame);
    void fit() { m_fit = true; }
    void restore(const std::optional<Camera>& camera);  // none: fit
    void reset();                                       // for another model: fits it

    void show(const ScenePtr& scene);
    // Moves the view into place, once the widgets around the scene have their final sizes.
    void settle();

private:
    [[nodiscard]] std::optional<GraphView::Anchor> anchorIn(const Scene& scene) const;
    [[nodiscard]] std::optional<GraphView::Anchor> anchorOfPointer(const Scene& scene) const;

    struct Keep {
        QPointF before;
        QString key, frame;
    };
    GraphView& m_view;
    std::optional<Keep> m_keep;
    std::optional<Camera> m_camera;
    bool m_fit = true;
};

}  // namespace hopscope::graphview
