#include <QFontMetricsF>

#include "graphview/scene/paint_parts.h"

namespace hopscope::graphview {

namespace {

// "×40" on the glyph of a store that stands for several.
void paintCount(const PaintContext& c, const QRectF& store, int count)
{
    const QString text = QStringLiteral("\u00d7%1").arg(count);
    const qreal width = QFontMetricsF(smallFont()).horizontalAdvance(text) + 6;
    const QRectF chip(store.left() + 17 - width / 2, store.bottom() - 9, width, 13);
    c.painter.setPen(QPen(c.theme.border, 1));
    c.painter.setBrush(c.theme.panel);
    c.painter.drawRoundedRect(chip, 4, 4);
    c.painter.setPen(c.theme.warning);
    c.painter.drawText(chip, Qt::AlignCenter, text);
}

// Above its bytes; returns the room for these.
QRectF paintOwner(const PaintContext& c, const SceneStore& store, const QRectF& text)
{
    const qreal line = text.height() / 3;
    c.painter.setPen(c.theme.text);
    const QString name = QFontMetricsF(smallFont()).elidedText(store.name, Qt::ElideMiddle, text.width() - 6);
    c.painter.drawText(QRectF(text.topLeft(), QSizeF(text.width(), line + 4)), Qt::AlignVCenter, name);
    c.painter.setPen(c.theme.warning);
    return text.adjusted(0, line, 0, 0);
}

}  // namespace

// No further than it is seen: dots beyond cost as much as those in the picture.
void paintStoreLine(const PaintContext& c, const SceneStore& store, const QRectF& exposed)
{
    const qreal near = store.rect.left() > store.anchor.x() ? store.rect.left() + 4 : store.rect.right();
    const auto [left, right] = std::minmax({store.anchor.x(), near});
    const qreal begin = std::max(left, exposed.left()), end = std::min(right, exposed.right());
    if (begin >= end) return;
    c.painter.setPen(QPen(c.theme.cut, 1.2, Qt::DotLine));
    c.painter.drawLine(QPointF(begin, store.anchor.y()), QPointF(end, store.anchor.y()));
}

void paintStore(const PaintContext& c, const SceneStore& store)
{
    const bool lit = c.state.selectedStore == store.value;
    const QRectF& rect = store.rect;
    // Lines of other stores do not run through its text.
    c.painter.setPen(lit ? QPen(c.theme.accent, 1.6) : QPen(c.theme.border, 1));
    c.painter.setBrush(c.theme.panel);
    c.painter.drawRoundedRect(rect.adjusted(0, 2, 0, -2), 6, 6);
    paintCylinder(c.painter, QRectF(rect.left() + 5, rect.center().y() - 11, 25, 22), c.theme);
    if (store.pinned) {
        c.painter.setPen(QPen(c.theme.panel, 1));
        c.painter.setBrush(c.theme.accent);
        c.painter.drawEllipse(QPointF(rect.left() + 29, rect.center().y() - 10), 4, 4);
    }
    if (c.state.scale < textScale) return;
    c.painter.setFont(smallFont());
    if (store.count > 1) paintCount(c, rect, store.count);
    c.painter.setPen(c.theme.warning);
    const bool both = !store.up.isEmpty() && !store.down.isEmpty();
    QRectF text(rect.left() + 37, rect.top(), rect.width() - 37, rect.height());
    if (store.named) text = paintOwner(c, store, text);
    c.painter.drawText(both ? text.adjusted(0, 0, 0, -text.height() / 2) : text, Qt::AlignVCenter, store.down);
    c.painter.drawText(both ? text.adjusted(0, text.height() / 2, 0, 0) : text, Qt::AlignVCenter, store.up);
}

}  // namespace hopscope::graphview
