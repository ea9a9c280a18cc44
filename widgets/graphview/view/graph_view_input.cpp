#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <cmath>

#include "graphview/view/graph_view.h"

namespace hopscope::graphview {

namespace {

constexpr qreal wheelStep = 1.0015;  // per unit of angle: a notch of 120 is about 20 %
constexpr qreal dragThreshold = 4;

}  // namespace

void GraphView::wheelEvent(QWheelEvent* event)
{
    const QPoint pixels = event->pixelDelta(), angle = event->angleDelta();
    const bool pan = event->modifiers() & Qt::ShiftModifier;
    if (pan) {
        Camera next = m_camera;
        next.offset += QPointF(angle.x() + angle.y(), 0) * 0.5;
        setCamera(next);
    } else {
        const int delta = angle.y() != 0 ? angle.y() : pixels.y() * 2;
        setCamera(m_camera.zoomed(std::pow(wheelStep, delta), event->position()));
    }
    event->accept();
}

void GraphView::setDrag(Drag drag)
{
    m_drag = drag;
    refreshCursor();
}

void GraphView::refreshCursor()
{
    if (m_drag == Drag::Pan) setCursor(Qt::ClosedHandCursor);
    else if (m_drag == Drag::Store) setCursor(Qt::DragMoveCursor);
    else if (m_space || movable(m_hit)) setCursor(Qt::OpenHandCursor);
    else if (m_hit.kind == Hit::Kind::Nothing) unsetCursor();
    else setCursor(Qt::PointingHandCursor);
}

// Of many stores drawn as one it would not be clear which is meant.
bool GraphView::movable(const Hit& hit) const
{
    return hit.kind == Hit::Kind::Store && m_scene->stores[hit.index].count == 1;
}

void GraphView::mousePressEvent(QMouseEvent* event)
{
    m_pressed = m_pointer = event->position();
    m_pressedCamera = m_camera;
    m_moved = false;
    m_pressedHit = m_space ? Hit{} : hitAt(m_pressed);
    if (event->button() == Qt::MiddleButton) return setDrag(Drag::Pan);
    if (event->button() != Qt::LeftButton) return;
    m_dragged = movable(m_pressedHit) ? m_scene->stores[m_pressedHit.index].value : -1;
    m_over = {};
    setDrag(m_dragged >= 0 ? Drag::Store : Drag::Pan);
}

void GraphView::mouseMoveEvent(QMouseEvent* event)
{
    m_pointer = event->position();
    if (m_drag == Drag::None) return hover(m_pointer);
    const QPointF moved = m_pointer - m_pressed;
    if (!m_moved && std::hypot(moved.x(), moved.y()) < dragThreshold) return;
    m_moved = true;
    if (m_drag == Drag::Pan) {
        Camera next = m_pressedCamera;
        next.offset += moved;
        setCamera(next);
    }
    if (m_drag == Drag::Store) dragStore();
    update();
}

void GraphView::dragStore()
{
    const Hit over = hitBelowStores(m_camera.toScene(m_pointer));
    if (over == m_over) return;
    m_over = over;
    emit storeDragged(m_dragged, over);
}

void GraphView::endDrag()
{
    setDrag(Drag::None);
    setNote({});
    emit dragEnded();
}

void GraphView::mouseReleaseEvent(QMouseEvent* event)
{
    const Drag drag = m_drag;
    setDrag(Drag::None);
    m_pointer = event->position();
    if (drag == Drag::Store && m_moved) {
        emit storeDropped(m_dragged, hitBelowStores(m_camera.toScene(m_pointer)));
        endDrag();
    } else if (!m_moved && event->button() == Qt::LeftButton && !m_space) {
        const bool opens = m_pressedHit.kind == Hit::Kind::Expander;
        if (opens) emit activated(m_pressedHit);
        else emit clicked(m_pressedHit);
    }
    m_moved = false;
    update();
}

void GraphView::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton) return;
    const Hit hit = hitAt(event->position());
    if (hit.kind == Hit::Kind::Expander) return mousePressEvent(event);  // the second click of two quick ones
    m_moved = true;                                                      // its release is no click
    emit activated(hit);
}

void GraphView::hover(QPointF at)
{
    const Hit hit = hitAt(at);
    if (hit == m_hit) return;
    m_hit = hit;
    const bool node = hit.kind == Hit::Kind::Node || hit.kind == Hit::Kind::Expander;
    m_state.hoveredNode = node ? hit.index : -1;
    m_state.hoveredEdge = hit.kind == Hit::Kind::Edge ? hit.index : -1;
    refreshCursor();
    emit hovered(hit);
    update();
}

void GraphView::leaveEvent(QEvent*) { hover(QPointF(-1e6, -1e6)); }

// Space held down: the left button pans, whatever is below it. Escape gives a drag up. All other keys are actions of the
// panel.
void GraphView::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape && dragging()) return endDrag();
    if (event->key() != Qt::Key_Space) return QWidget::keyPressEvent(event);
    m_space = true;
    refreshCursor();
}

void GraphView::keyReleaseEvent(QKeyEvent* event)
{
    if (event->key() != Qt::Key_Space || event->isAutoRepeat()) return QWidget::keyReleaseEvent(event);
    m_space = false;
    refreshCursor();
}

void GraphView::focusOutEvent(QFocusEvent* event)
{
    m_space = false;
    refreshCursor();
    QWidget::focusOutEvent(event);
}

void GraphView::contextMenuEvent(QContextMenuEvent* event)
{
    if (event->reason() == QContextMenuEvent::Keyboard) return emit menuRequested({}, event->globalPos());
    const Hit hit = hitAt(event->pos());
    emit clicked(hit);
    emit menuRequested(hit, event->globalPos());
}

}  // namespace hopscope::graphview
