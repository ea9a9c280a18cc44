#pragma once

// The position and zoom of a view: screen = scene * scale + offset.

#include <QPointF>
#include <QRectF>
#include <QSizeF>
#include <algorithm>

namespace hopscope::graphview {

inline constexpr qreal minScale = 0.0005, maxScale = 4, fitScale = 1.25;

struct Camera {
    qreal scale = 1;
    QPointF offset;
    bool operator==(const Camera&) const = default;

    [[nodiscard]] QPointF toScreen(QPointF point) const { return point * scale + offset; }
    [[nodiscard]] QPointF toScene(QPointF point) const { return (point - offset) / scale; }
    [[nodiscard]] QRectF toScreen(const QRectF& r) const { return {toScreen(r.topLeft()), r.size() * scale}; }
    [[nodiscard]] QRectF toScene(const QRectF& r) const { return {toScene(r.topLeft()), r.size() / scale}; }

    // Returns the camera zoomed by `factor`; the point under `pointer` stays where it is.
    [[nodiscard]] Camera zoomed(qreal factor, QPointF pointer) const
    {
        Camera next;
        next.scale = std::clamp(scale * factor, minScale, maxScale);
        next.offset = pointer - toScene(pointer) * next.scale;
        return next;
    }
    // Returns a camera that shows all of `content`, horizontally centred at the upper edge and magnified to fitScale at
    // most.
    [[nodiscard]] static Camera fitting(const QRectF& content, const QSizeF& screen, qreal margin = 24)
    {
        if (content.isEmpty() || screen.isEmpty()) return {};
        Camera next;
        const qreal horizontal = (screen.width() - 2 * margin) / content.width();
        const qreal vertical = (screen.height() - margin) / content.height();
        next.scale = std::clamp(std::min({horizontal, vertical, fitScale}), minScale, maxScale);
        next.offset = QPointF(screen.width() / 2, 0) - QPointF(content.center().x(), content.top()) * next.scale;
        return next;
    }
};

}  // namespace hopscope::graphview
