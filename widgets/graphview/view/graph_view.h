#pragma once

// Shows one scene and handles hovering, clicks, panning and dragging of stored values. It does not depend on documents:
// it takes a scene, colours and a paint state, and reports user actions as hits.

#include <QWidget>

#include "graphview/scene/colours.h"
#include "graphview/scene/scene.h"
#include "graphview/scene/scene_painter.h"
#include "graphview/view/checkpoint_drag.h"
#include "graphview/view/hit.h"
#include "graphview/view/scene_transition.h"
#include "graphview/view/viewport.h"

namespace hopscope::graphview {

class GraphView : public QWidget {
    Q_OBJECT
public:
    explicit GraphView(QWidget* parent = nullptr);

    // A point of the old scene, and the point of the new scene that takes its position on the screen.
    struct Anchor {
        QPointF before, after;
    };
    void setScene(ScenePtr scene, std::optional<Anchor> anchor = {}, bool animated = false);
    void setColouring(Colouring colouring);
    // Shows a different scene with the same nodes at the same positions while a stored value is dragged. Null shows the
    // scene itself again.
    void setPreview(ScenePtr preview);
    void setTheme(const style::Theme& theme);
    void setReducedMotion(bool reduced) { m_reducedMotion = reduced; }
    void setMessage(const QString& message);  // shown if there is no scene

    [[nodiscard]] const ScenePtr& scene() const { return m_target; }
    [[nodiscard]] const Colouring& colouring() const { return m_colouring; }
    [[nodiscard]] const style::Theme& theme() const { return m_theme; }
    [[nodiscard]] const Camera& camera() const { return m_viewport.camera(); }
    [[nodiscard]] Viewport& viewport() { return m_viewport; }
    [[nodiscard]] CheckpointDrag& drag() { return m_checkpoint; }
    [[nodiscard]] PaintState& state() { return m_state; }  // call update() after changes
    [[nodiscard]] Hit hitAt(QPointF screen) const;
    [[nodiscard]] bool animating() const { return m_transition.running(); }

signals:
    void hovered(hopscope::graphview::Hit hit);
    void clicked(hopscope::graphview::Hit hit);
    void activated(hopscope::graphview::Hit hit);  // double-click, or a click on a glyph that opens and closes
    void menuRequested(hopscope::graphview::Hit hit, QPoint global);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void keyReleaseEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void leaveEvent(QEvent* event) override;
    bool event(QEvent* event) override;

private:
    enum class Gesture { None, Pan, Checkpoint };

    void setupWidget();
    void paintFromAfar(QPainter& painter);
    void paintNear(QPainter& painter);
    void hover(QPointF at);
    [[nodiscard]] bool onCheckpoint(const Hit& hit) const;  // on a stored value that can be dragged
    [[nodiscard]] Hit placeBelow() const;                   // at the pointer, below the stored values
    void setGesture(Gesture gesture);
    void refreshCursor();

    ScenePtr m_target;  // the scene at the end of the transition
    ScenePtr m_scene;
    SceneTransition m_transition;
    Viewport m_viewport;
    CheckpointDrag m_checkpoint;
    Colouring m_colouring;
    style::Theme m_theme;
    PaintState m_state;
    QString m_message;
    QImage m_far;  // kept between frames: allocation costs more than drawing
    Gesture m_gesture = Gesture::None;
    QPointF m_pressed, m_pointer;
    Camera m_pressedCamera;
    Hit m_pressedHit, m_hit;
    bool m_moved = false;   // the pointer has moved since the button was pressed, so releasing it is not a click
    bool m_space = false;   // the space bar is held down
    bool m_framed = false;  // has received the focus by keyboard and shows a frame
    bool m_reducedMotion = false;
};

}  // namespace hopscope::graphview
