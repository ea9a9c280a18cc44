#pragma once

// Handles the dragging of a stored value: the hit below it, the note next to it, and the painting of both. Its hits
// skip stored values and refer to the item below them.

#include <QObject>
#include <QPainter>

#include "graphview/scene/camera.h"
#include "graphview/view/hit.h"
#include "style/theme.h"

namespace hopscope::graphview {

class CheckpointDrag : public QObject {
    Q_OBJECT
public:
    void prepare(protocol::ValueId value);      // for the pressed stored value; the drag starts once the pointer moves
    void moveOver(const Hit& hit, QPointF at);  // `at`: the pointer, in pixels of the view
    void drop(const Hit& hit, QPointF at);
    void end();                                        // without a drop
    void forgetPlaces();                               // call for a new scene, to which old hits do not apply
    [[nodiscard]] QPointF at() const { return m_at; }  // the last position of the pointer, also after the drop
    [[nodiscard]] bool moving() const { return m_moving; }
    void forbid() { m_forbidden = true; }  // for a view of a plan that cannot be changed
    [[nodiscard]] bool forbidden() const { return m_forbidden; }
    void setNote(const QString& note);  // next to the dragged value

    // Paints the stored value at `pointer`, and marks the place where it would be dropped. Everything but the scene is
    // in pixels of the screen.
    void paint(QPainter& painter, const Scene& scene, const Camera& camera, const style::Theme& theme, QPointF pointer,
               const QRectF& screen) const;

signals:
    void movedOver(hopscope::protocol::ValueId value, hopscope::graphview::Hit hit);  // emitted when the hit changes
    void dropped(hopscope::protocol::ValueId value, hopscope::graphview::Hit hit);
    void ended();  // with or without a drop
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
