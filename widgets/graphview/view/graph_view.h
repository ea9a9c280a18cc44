#pragma once

// Shows one scene: zoom, pan, what is under the pointer, dragging of checkpoints. It knows nothing of documents: what the
// user does comes out as hits, what is to be seen goes in as a scene, colours and a paint state.

#include <QVariantAnimation>
#include <QWidget>

#include "graphview/scene/camera.h"
#include "graphview/scene/colours.h"
#include "graphview/scene/scene.h"
#include "graphview/scene/scene_painter.h"

namespace hopscope::graphview {

struct Hit {
    enum class Kind { Nothing, Node, Expander, Frame, Edge, Store, Stub };
    Kind kind = Kind::Nothing;
    int index = -1;  // into the scene's list of that kind
    bool operator==(const Hit&) const = default;
};

class GraphView : public QWidget {
    Q_OBJECT
public:
    explicit GraphView(QWidget* parent = nullptr);

    // `anchor`: a place in the old scene and the one in the new scene that is to be at the same place of the screen.
    struct Anchor {
        QPointF before, after;
    };
    void setScene(ScenePtr scene, std::optional<Anchor> anchor = {}, bool animated = false);
    void setColouring(Colouring colouring);
    // Another scene with the same nodes at the same places, while a checkpoint is dragged; null: the scene itself again.
    void setPreview(ScenePtr preview);
    void setNote(const QString& note);  // beside what is dragged
    [[nodiscard]] bool dragging() const { return m_drag == Drag::Store && m_moved; }
    void setTheme(const style::Theme& theme);
    void setReserved(int pixels) { m_reserved = pixels; }  // at the lower edge, for what floats there
    void setReducedMotion(bool reduced) { m_reducedMotion = reduced; }
    void setMessage(const QString& message);  // shown where there is no scene

    [[nodiscard]] const ScenePtr& scene() const { return m_target; }
    [[nodiscard]] const Colouring& colouring() const { return m_colouring; }
    [[nodiscard]] const style::Theme& theme() const { return m_theme; }
    [[nodiscard]] const Camera& camera() const { return m_camera; }
    [[nodiscard]] PaintState& state() { return m_state; }  // call update() after changes
    [[nodiscard]] Hit hitAt(QPointF screen) const;
    [[nodiscard]] bool animating() const;

    void setCamera(const Camera& camera);
    void fit();
    void showStart();           // all of it where it can be read so, else its upper end
    void zoomBy(qreal factor);  // about the middle
    void scrollTo(const QRectF& sceneRect, bool centre = false);

signals:
    void hovered(hopscope::graphview::Hit hit);
    void clicked(hopscope::graphview::Hit hit);
    void activated(hopscope::graphview::Hit hit);  // double-click, or a click on a glyph that opens and closes
    void menuRequested(hopscope::graphview::Hit hit, QPoint global);
    void storeDragged(int value, hopscope::graphview::Hit hit);  // over something else than before
    void storeDropped(int value, hopscope::graphview::Hit hit);
    void dragEnded();  // after the drop, or without one
    void cameraChanged();

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
    enum class Drag { None, Pan, Store };

    void setupWidget();
    void paintFromAfar(QPainter& painter);
    void paintNear(QPainter& painter);
    void paintGhost(QPainter& painter);
    void paintNote(QPainter& painter);
    void paintNothing(QPainter& painter);
    void hover(QPointF at);
    [[nodiscard]] bool movable(const Hit& hit) const;
    void setDrag(Drag drag);
    void dragStore();
    void endDrag();
    [[nodiscard]] Hit hitBelowStores(QPointF scene) const;
    void startAnimation(const Scene& before, QPointF shift, QPointF anchor);
    void animationStep(qreal progress);
    void refreshCursor();
    void showTip(QPoint global, QPointF at);

    ScenePtr m_target;  // what the scene will be when the animation ends
    std::shared_ptr<const Scene> m_scene;
    std::vector<QPointF> m_displaced;  // by node: where it starts from, seen from its place in m_target
    QVariantAnimation m_animation;
    Colouring m_colouring;
    style::Theme m_theme;
    PaintState m_state;
    Camera m_camera;
    QString m_message;
    QImage m_far;  // kept between frames: allocation costs more than drawing
    int m_reserved = 0;
    Drag m_drag = Drag::None;
    QPointF m_pressed, m_pointer;
    Camera m_pressedCamera;
    Hit m_pressedHit, m_hit, m_over;
    int m_dragged = -1;  // the value of the checkpoint that is dragged
    QString m_note;
    bool m_moved = false, m_space = false, m_fitted = false, m_reducedMotion = false;
};

// `scene` with every node `displaced[node] * share` away from its place, and edges following.
std::shared_ptr<const Scene> displacedScene(const Scene& scene, const std::vector<QPointF>& displaced, qreal share);

}  // namespace hopscope::graphview
