#pragma once

// Where the view of a graph looks: the camera, and how it follows the scene and the size of the widget.

#include <QWidget>

#include "graphview/scene/camera.h"
#include "graphview/scene/scene.h"

namespace hopscope::graphview {

class Viewport : public QObject {
    Q_OBJECT
public:
    // The widget outlives it; it gives the size, and is asked to repaint.
    explicit Viewport(QWidget& widget) : m_widget(widget) {}

    // Another scene, null: none; what was at `shift` from where it is now stays where it is on the screen.
    void setScene(ScenePtr scene, QPointF shift);
    void holdStill(QPointF moved);                         // the widget has moved: the scene has not
    void resized();                                        // what was fitted is fitted again
    void setReserved(int pixels) { m_reserved = pixels; }  // at the lower edge, for what floats there
    [[nodiscard]] const Camera& camera() const { return m_camera; }
    void setCamera(const Camera& camera);

    void fit();
    void showStart();              // all of it where it can be read so, else its upper end
    void zoomBy(qreal factor);     // about the middle
    void centreOn(QPointF scene);  // with the zoom of now
    void scrollTo(const QRectF& sceneRect, bool centre = false);

signals:
    void changed();  // camera or size

private:
    void tell();
    [[nodiscard]] QRectF area() const { return m_widget.rect(); }

    QWidget& m_widget;
    ScenePtr m_scene;
    Camera m_camera;
    int m_reserved = 0;
    bool m_fitted = false;
};

}  // namespace hopscope::graphview
