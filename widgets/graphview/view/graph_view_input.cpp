#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>
#include <cmath>

#include "graphview/view/graph_view.h"

namespace hopscope::graphview {

namespace {

constexpr qreal wheelStep = 1.0015;  // per unit of angle: a notch of 120 is about 20 %
constexpr qreal dragThreshold = 4;

bool cameByKeyboard(const QFocusEvent& event)
{
    const Qt::FocusReason reason = event.reason();
    return reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason || reason == Qt::ShortcutFocusReason;
}

}  // namespace

bool GraphView::event(QEvent* event)
{
    if (event->type() == QEvent::ShortcutOverride) m_viewport.touch();
    // During a drag, keys are not shortcuts: Escape cancels the drag, whatever else it is for.
    if (event->type() == QEvent::ShortcutOverride && m_checkpoint.moving()) return event->accept(), true;
    if (event->type() == QEvent::FocusIn) m_framed = cameByKeyboard(*static_cast<QFocusEvent*>(event));
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString tip =
        m_scene ? tipAt(*m_scene, m_state, hitAt(help->pos()), camera().toScene(help->pos())) : QString();
    if (tip.isEmpty()) QToolTip::hideText();
    else QToolTip::showText(help->globalPos(), tip, this);
    return true;
}

void GraphView::wheelEvent(QWheelEvent* event)
{
    m_viewport.touch();
    const QPoint pixels = event->pixelDelta(), angle = event->angleDelta();
    const bool pan = event->modifiers() & Qt::ShiftModifier;
    if (pan) {
        Camera next = camera();
        next.offset += QPointF(angle.x() + angle.y(), 0) * 0.5;
        m_viewport.setCamera(next);
    } else {
        const int delta = angle.y() != 0 ? angle.y() : pixels.y() * 2;
        m_viewport.setCamera(camera().zoomed(std::pow(wheelStep, delta), event->position()));
    }
    event->accept();
}

void GraphView::setGesture(Gesture gesture)
{
    m_gesture = gesture;
    refreshCursor();
}

void GraphView::refreshCursor()
{
    if (m_gesture == Gesture::Pan) setCursor(Qt::ClosedHandCursor);
    else if (m_gesture == Gesture::Checkpoint) setCursor(Qt::DragMoveCursor);
    else if (m_space || onCheckpoint(m_hit)) setCursor(Qt::OpenHandCursor);
    else if (m_hit.kind == Hit::Kind::Nothing) unsetCursor();
    else setCursor(Qt::PointingHandCursor);
}

bool GraphView::onCheckpoint(const Hit& hit) const
{
    return m_scene && !m_checkpoint.forbidden() && isMovable(*m_scene, hit);
}

Hit GraphView::placeBelow() const
{
    return m_scene ? hitBelowStores(*m_scene, camera().toScene(m_pointer), camera().scale) : Hit{};
}

void GraphView::mousePressEvent(QMouseEvent* event)
{
    m_pressed = m_pointer = event->position();
    m_viewport.setPointer(m_pointer);
    m_viewport.touch();
    m_pressedCamera = camera();
    m_moved = false;
    m_pressedHit = m_space ? Hit{} : hitAt(m_pressed);
    if (event->button() == Qt::MiddleButton) return setGesture(Gesture::Pan);
    if (event->button() != Qt::LeftButton) return;
    if (!onCheckpoint(m_pressedHit)) return setGesture(Gesture::Pan);
    m_checkpoint.prepare(m_scene->stores[m_pressedHit.index].value);
    setGesture(Gesture::Checkpoint);
}

void GraphView::mouseMoveEvent(QMouseEvent* event)
{
    m_pointer = event->position();
    m_viewport.setPointer(m_pointer);
    if (m_gesture == Gesture::None) return hover(m_pointer);
    const QPointF moved = m_pointer - m_pressed;
    if (!m_moved && std::hypot(moved.x(), moved.y()) < dragThreshold) return;
    m_moved = true;
    if (m_gesture == Gesture::Pan) {
        Camera next = m_pressedCamera;
        next.offset += moved;
        m_viewport.setCamera(next);
    } else m_checkpoint.moveOver(placeBelow(), m_pointer);
    update();
}

void GraphView::mouseReleaseEvent(QMouseEvent* event)
{
    setGesture(Gesture::None);
    m_pointer = event->position();
    if (m_checkpoint.moving()) {
        if (m_moved) m_checkpoint.drop(placeBelow(), m_pointer);
        else m_checkpoint.end();  // another button has been pressed meanwhile
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
    m_viewport.touch();
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
    m_state.hoveredNode = hit.onNode() ? hit.index : -1;
    m_state.hoveredEdge = hit.kind == Hit::Kind::Edge ? hit.index : -1;
    refreshCursor();
    emit hovered(hit);
    update();
}

void GraphView::leaveEvent(QEvent*)
{
    const QPointF outside(-1e6, -1e6);
    m_viewport.setPointer(outside);
    hover(outside);
}

// While Space is held down, the left button pans, whatever is below it. Escape cancels a drag. All other keys are
// actions of the panel.
void GraphView::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape && m_checkpoint.moving()) {
        setGesture(Gesture::None);
        return m_checkpoint.end();
    }
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
    m_framed = false;
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
