#pragma once

// A stored value that is being dragged: the hit below it, the note next to it, and their painting. Its hits skip stored
// values and refer to the item below them.

#include <QObject>
#include <QPainter>

#include "graphview/scene/camera.h"
#include "graphview/view/hit.h"
#include "style/theme.h"

namespace hopscope::graphview {

class CheckpointDrag : public QObject {
    Q_OBJECT
public:
    void prepare(protocol::ValueId value);      // of the stored value that is pressed; it is dragged once it is moved
    void moveOver(const Hit& hit, QPointF at);  // `at`: the pointer, in pixels of the view
    void drop(const Hit& hit, QPointF at);
    void end();                                        // without a drop
    void forgetPlaces();                               // another scene: old hits no longer apply
    [[nodiscard]] QPointF at() const { return m_at; }  // where the pointer was last, also after the drop
    [[nodiscard]] bool moving() const { return m_moving; }
    void forbid() { m_forbidden = true; }  // in a view of a plan that cannot be changed
    [[nodiscard]] bool forbidden() const { return m_forbidden; }
    void setNote(const QString& note);  // next to the dragged value

    // The stored value at `pointer`, with the place that it would be dropped on; all but the scene in pixels of the
    // screen.
    void paint(QPainter& painter, const Scene& scene, const Camera& camera, const style::Theme& theme, QPointF pointer,
               const QRectF& screen) const;

signals:
    void movedOver(hopscope::protocol::ValueId value, hopscope::graphview::Hit hit);  // something else than before
    void dropped(hopscope::protocol::ValueId value, hopscope::graphview::Hit hit);
    void ended();  // after the drop, or without one
    void noteChanged();

private:
    void paintNote(QPainter& painter, const style::Theme& theme, QPointF pointer, const QRectF& screen) const;

    protocol::ValueId m_value;
    Hit m_over;
    QPointF m_at;
    QString m_note;
    bool m_moving = false;
    bool m_forbidden = false;
};

}  // namespace hopscope::graphview
