#pragma once

// The animation from one scene to the next: existing nodes move from their old places, new ones from the anchor.

#include <QVariantAnimation>

#include "graphview/scene/scene.h"

namespace hopscope::graphview {

class SceneTransition : public QObject {
    Q_OBJECT
public:
    SceneTransition();

    // `shift`: the distance of places in the old scene from the same places in the new one. `anchor`: in the new scene,
    // null: none. Does nothing if nothing moves, or if too many nodes would move.
    void start(const Scene& before, ScenePtr target, QPointF shift, QPointF anchor);
    void stop() { m_animation.stop(); }
    [[nodiscard]] bool running() const { return m_animation.state() == QAbstractAnimation::Running; }

signals:
    void stepped(const hopscope::graphview::ScenePtr& scene);  // finally the target itself

private:
    void step(qreal progress);

    ScenePtr m_target;
    std::vector<QPointF> m_displaced;  // by node: where it starts, relative to its place in m_target
    QVariantAnimation m_animation;
};

}  // namespace hopscope::graphview
