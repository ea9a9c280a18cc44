#include "graphview/view/checkpoint_drag.h"

#include "graphview/scene/scene_painter.h"

namespace hopscope::graphview {

namespace {

void paintTarget(QPainter& painter, const Scene& scene, const Camera& camera, const style::Theme& theme, const Hit& hit)
{
    if (hit.onNode()) {
        painter.setPen(QPen(theme.checkpoint, 3));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(camera.toScreen(scene.nodes[hit.index]).adjusted(-4, -4, 4, 4), 9, 9);
    } else if (hit.kind == Hit::Kind::Edge) {
        painter.save();
        painter.translate(camera.offset);
        painter.scale(camera.scale, camera.scale);
        painter.setPen(QPen(theme.checkpoint, 4));
        painter.drawPath(edgePath(scene.edges[hit.index].path));
        painter.restore();
    }
}

}  // namespace

void CheckpointDrag::prepare(protocol::ValueId value)
{
    m_value = value;
    m_over = {};
}

void CheckpointDrag::moveOver(const Hit& hit, QPointF at)
{
    m_at = at;
    m_moving = true;
    if (hit == m_over) return;
    m_over = hit;
    emit movedOver(m_value, hit);
}

void CheckpointDrag::drop(const Hit& hit, QPointF at)
{
    m_at = at;
    m_moving = false;
    emit dropped(m_value, hit);
    end();
}

void CheckpointDrag::end()
{
    m_moving = false;
    setNote({});
    emit ended();
}

void CheckpointDrag::forgetPlaces() { m_over = {}; }

void CheckpointDrag::setNote(const QString& note)
{
    m_note = note;
    emit noteChanged();
}

void CheckpointDrag::paint(QPainter& painter, const Scene& scene, const Camera& camera, const style::Theme& theme,
                           QPointF pointer, const QRectF& screen) const
{
    painter.setRenderHint(QPainter::Antialiasing);
    paintTarget(painter, scene, camera, theme, hitBelowStores(scene, camera.toScene(pointer), camera.scale));
    painter.setOpacity(0.75);
    paintCylinder(painter, QRectF(pointer - QPointF(14, 12), QSizeF(28, 24)), theme);
    painter.setOpacity(1);
    if (!m_note.isEmpty()) paintNote(painter, theme, pointer, screen);
}

// Next to the pointer, on the side with room.
void CheckpointDrag::paintNote(QPainter& painter, const style::Theme& theme, QPointF pointer,
                               const QRectF& screen) const
{
    constexpr int away = 22, margin = 8;
    painter.setFont(detailFont());
    const QRectF room = screen.adjusted(margin, margin, -margin, -margin);
    QRectF card = painter.fontMetrics().boundingRect(QRect(0, 0, 360, 200), Qt::TextWordWrap, m_note);
    card.adjust(-margin, -margin, margin, margin);
    card.moveTopLeft(pointer + QPointF(away, away));
    if (card.right() > room.right()) card.moveRight(std::max(pointer.x() - away, card.width() + margin));
    if (card.bottom() > room.bottom()) card.moveBottom(pointer.y() - away);
    painter.setPen(QPen(theme.border, 1));
    painter.setBrush(theme.raised);
    painter.drawRoundedRect(card, 6, 6);
    painter.setPen(theme.text);
    painter.drawText(card.adjusted(margin, margin, -margin, -margin), Qt::TextWordWrap, m_note);
}

}  // namespace hopscope::graphview
