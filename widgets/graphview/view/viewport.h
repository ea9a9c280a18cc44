#pragma once

// The visible area of a graph view: the camera, and its reaction to a new scene or widget size.

#include <QWidget>

#include "graphview/scene/camera.h"
#include "graphview/scene/scene.h"

namespace hopscope::graphview {

class Viewport : public QObject {
    Q_OBJECT
public:
    // The widget, which must outlive this object, gives the size and is asked to repaint.
    explicit Viewport(QWidget& widget) : m_widget(widget) {}

    // Sets a scene, or none if null. An item that has moved by `shift` in the scene keeps its position on the screen.
    void setScene(ScenePtr scene, QPointF shift);
    void holdStill(QPointF moved);  // keeps the scene in place after the widget has moved, even after a fit
    void resized();                 // fits again after a fit, unless the user has zoomed or panned since
    [[nodiscard]] const Camera& camera() const { return m_camera; }
    void setCamera(const Camera& camera);

    void fit();
    void showStart();  // shows the whole scene if it is legible then, otherwise its upper end
    void setPointer(QPointF pointer) { m_pointer = pointer; }
    [[nodiscard]] QPointF pointer() const { return m_pointer; }  // may be outside of the widget
    [[nodiscard]] int legibleRanks() const;  // the number of nodes that fit below each other and stay legible
    // Returns true if there has been no input since showStart(), so that another scene may also begin at its start.
    [[nodiscard]] bool atStart() const { return m_fitted == Fitted::Start && !m_touched; }
    void touch() { m_touched = true; }  // the user has panned or zoomed
    [[nodiscard]] bool touched() const { return m_touched; }
    void zoomBy(qreal factor);     // about the middle
    void centreOn(QPointF scene);  // with the current zoom
    void scrollTo(const QRectF& sceneRect, bool centre = false);

signals:
    void changed();  // camera or size

private:
    enum class Fitted { Nothing, Whole, Start };  // the part that stays in sight when the size changes

    void tell();
    [[nodiscard]] Camera wholeCamera() const;
    [[nodiscard]] Camera startCamera() const;
    [[nodiscard]] QRectF area() const { return m_widget.rect(); }

    QWidget& m_widget;
    ScenePtr m_scene;
    Camera m_camera;
    QPointF m_pointer{-1e6, -1e6};
    Fitted m_fitted = Fitted::Nothing;
    bool m_touched = false, m_held = false;
};

}  // namespace hopscope::graphview
