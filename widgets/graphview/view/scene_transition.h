#pragma once

// Animates the change from one scene to the next: existing nodes move from their old positions, new ones from the
// anchor.

#include <QVariantAnimation>

#include "graphview/scene/scene.h"

namespace hopscope::graphview {

class SceneTransition : public QObject {
    Q_OBJECT
public:
    SceneTransition();

    // Starts the animation. `shift` is the translation from points of the old scene to the same points of the new one;
    // `anchor` is in the new scene, or null for none. Does nothing if nothing moves, or if too many nodes would move.
    void start(const Scene& before, ScenePtr target, QPointF shift, QPointF anchor);
    void stop() { m_animation.stop(); }
    [[nodiscard]] bool running() const { return m_animation.state() == QAbstractAnimation::Running; }

signals:
    void stepped(const hopscope::graphview::ScenePtr& scene);  // with the target itself at the end

private:
    void step(qreal progress);

    ScenePtr m_target;
    std::vector<QPointF> m_displaced;  // by node: its start, relative to its position in m_target
    QVariantAnimation m_animation;
};

}  // namespace hopscope::graphview
