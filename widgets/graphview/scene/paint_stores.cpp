#include <QFontMetricsF>

#include "graphview/scene/paint_parts.h"

namespace hopscope::graphview {

namespace {

QRectF cylinderOf(const SceneStore& store) { return {store.rect.left() + 5, store.rect.center().y() - 11, 25, 22}; }

// "×40" on the glyph of a store that stands for several.
void paintCount(const PaintContext& c, const QRectF& store, int count)
{
    const QString text = QStringLiteral("\u00d7%1").arg(count);
    const qreal width = QFontMetricsF(legibleFont(c, smallFont())).horizontalAdvance(text) + 6;
    const QRectF chip(store.left() + 17 - width / 2, store.bottom() - 9, width, 14);
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
    const QString name =
        QFontMetricsF(legibleFont(c, smallFont())).elidedText(store.name, Qt::ElideMiddle, text.width() - 6);
    c.painter.drawText(QRectF(text.topLeft(), QSizeF(text.width(), line + 4)), Qt::AlignVCenter, name);
    c.painter.setPen(c.theme.warning);
    return text.adjusted(0, line, 0, 0);
}

void paintStoreText(const PaintContext& c, const SceneStore& store, const QFont& font, QRectF text)
{
    c.painter.setFont(font);
    if (store.count > 1) paintCount(c, store.rect, store.count);
    c.painter.setPen(c.theme.warning);
    const bool both = !store.up.isEmpty() && !store.down.isEmpty();
    if (store.named) text = paintOwner(c, store, text);
    c.painter.drawText(both ? text.adjusted(0, 0, 0, -text.height() / 2) : text, Qt::AlignVCenter, store.down);
    c.painter.drawText(both ? text.adjusted(0, text.height() / 2, 0, 0) : text, Qt::AlignVCenter, store.up);
}

}  // namespace

// Clipped to the visible part: dots outside cost as much as those inside.
void paintStoreLine(const PaintContext& c, const SceneStore& store, const QRectF& exposed)
{
    const qreal end = c.state.scale >= detailScale ? store.rect.right() : cylinderOf(store).right();
    const qreal near = store.rect.left() > store.anchor.x() ? store.rect.left() + 4 : end;
    const auto [left, right] = std::minmax({store.anchor.x(), near});
    const qreal begin = std::max(left, exposed.left()), last = std::min(right, exposed.right());
    if (begin >= last) return;
    c.painter.setPen(QPen(c.theme.cut, 1.2, Qt::DotLine));
    c.painter.drawLine(QPointF(begin, store.anchor.y()), QPointF(last, store.anchor.y()));
}

void paintStore(const PaintContext& c, const SceneStore& store)
{
    const bool lit = c.state.selectedStore == store.value, words = c.state.scale >= detailScale;
    const QFont font = legibleFont(c, smallFont());
    const QRectF cylinder = cylinderOf(store);
    const qreal room = (store.rect.width() - 37) * font.pixelSize() / smallFont().pixelSize();
    const QRectF rect =
        words ? QRectF(store.rect.topLeft(), QSizeF(37 + room, store.rect.height())) : cylinder.adjusted(-3, -5, 3, 5);
    // Lines of other stores do not run through its text.
    c.painter.setPen(lit ? QPen(c.theme.accent, 1.6) : words ? QPen(c.theme.border, 1) : QPen(Qt::NoPen));
    c.painter.setBrush(words || lit ? QBrush(c.theme.panel) : QBrush(Qt::NoBrush));
    c.painter.drawRoundedRect(rect.adjusted(0, 2, 0, -2), 6, 6);
    paintCylinder(c.painter, cylinder, c.theme);
    if (store.pinned) {
        c.painter.setPen(QPen(c.theme.panel, 1));
        c.painter.setBrush(c.theme.accent);
        c.painter.drawEllipse(cylinder.topRight() + QPointF(-1, 1), 4, 4);
    }
    if (words) paintStoreText(c, store, font, QRectF(rect.left() + 37, rect.top(), room, rect.height()));
}

}  // namespace hopscope::graphview
