#include "graphview/scene/level_of_detail.h"

#include <algorithm>
#include <cmath>

namespace hopscope::graphview {

namespace {

class Canvas {
public:
    explicit Canvas(QImage& image)
        : m_bits(reinterpret_cast<QRgb*>(image.bits())),
          m_stride(image.bytesPerLine() / 4),
          m_width(image.width()),
          m_height(image.height())
    {}

    void fill(const QRectF& rect, QRgb colour)
    {
        const int left = std::max(0, static_cast<int>(rect.left())), top = std::max(0, static_cast<int>(rect.top()));
        const int right = std::min(m_width, std::max(left + 1, static_cast<int>(rect.right())));
        const int bottom = std::min(m_height, std::max(top + 1, static_cast<int>(rect.bottom())));
        for (int y = top; y < bottom; ++y) std::fill(row(y) + left, row(y) + std::max(left, right), colour);
    }

    // Cohen-Sutherland is not needed: lines that leave the picture are walked only where they cross it.
    void line(QPointF a, QPointF b, QRgb colour)
    {
        if (!clip(a, b)) return;
        const QPointF d = b - a;
        const int steps = std::max(1, static_cast<int>(std::max(std::abs(d.x()), std::abs(d.y()))));
        const QPointF step = d / steps;
        for (int i = 0; i <= steps; ++i, a += step) blend(static_cast<int>(a.x()), static_cast<int>(a.y()), colour);
    }

private:
    QRgb* row(int y) { return m_bits + static_cast<qsizetype>(y) * m_stride; }
    void blend(int x, int y, QRgb colour)
    {
        if (x < 0 || y < 0 || x >= m_width || y >= m_height) return;
        QRgb& pixel = row(y)[x];
        pixel = qRgb((qRed(pixel) + qRed(colour)) / 2, (qGreen(pixel) + qGreen(colour)) / 2,
                     (qBlue(pixel) + qBlue(colour)) / 2);
    }
    // Liang-Barsky; false: outside.
    bool clip(QPointF& a, QPointF& b) const
    {
        const QPointF d = b - a;
        qreal from = 0, to = 1;
        const qreal p[4] = {-d.x(), d.x(), -d.y(), d.y()};
        const qreal q[4] = {a.x(), m_width - 1 - a.x(), a.y(), m_height - 1 - a.y()};
        for (int i = 0; i < 4; ++i) {
            if (p[i] == 0 && q[i] < 0) return false;
            if (p[i] < 0) from = std::max(from, q[i] / p[i]);
            if (p[i] > 0) to = std::min(to, q[i] / p[i]);
        }
        if (from > to) return false;
        b = a + d * to;
        a += d * from;
        return true;
    }

    QRgb* m_bits;
    qsizetype m_stride;
    int m_width, m_height;
};

// Calls draw(item) for all that may be seen: by the index, or one after the other where nearly all is seen.
template <class Inside, class Draw>
void forSeen(std::size_t count, bool all, Inside inside, Draw draw)
{
    if (all)
        for (std::size_t item = 0; item < count; ++item) draw(static_cast<int>(item));
    else
        for (int item : inside()) draw(item);
}

constexpr qreal shortest = 1.5;  // shorter lines on the screen are hidden by their nodes

void drawEdge(Canvas& canvas, const SceneEdge& edge, const Camera& camera, QRgb colour)
{
    for (std::size_t i = 0; i + 3 < edge.path.size(); i += 3) {
        const QPointF from = camera.toScreen(edge.path[i]), to = camera.toScreen(edge.path[i + 3]);
        if (std::abs(to.x() - from.x()) + std::abs(to.y() - from.y()) >= shortest) canvas.line(from, to, colour);
    }
}

void drawNode(Canvas& canvas, const QRectF& box, QRgb fill, QRgb border)
{
    if (box.height() >= 4) {
        canvas.fill(box, border);
        canvas.fill(box.adjusted(1, 1, -1, -1), fill);
    } else {
        canvas.fill(box, fill);
    }
}

void drawBands(Canvas& canvas, const Scene& scene, const style::Theme& theme, const Camera& camera, const QSize& size)
{
    for (const Band& band : scene.bands) {
        const qreal top = camera.toScreen(QPointF(0, band.top)).y(),
                    bottom = camera.toScreen(QPointF(0, band.bottom)).y();
        if (bottom < 0 || top > size.height()) continue;
        const QColor& fill = !band.stage.valid()     ? theme.prologueBand
                             : band.stage.number % 2 ? theme.bandA
                                                     : theme.bandB;
        canvas.fill(QRectF(0, top, size.width(), bottom - top), fill.rgb());
    }
}

}  // namespace

void drawFromAfar(QImage& image, const Scene& scene, const Colouring& colouring, const style::Theme& theme,
                  const Camera& camera, const std::vector<char>& marked)
{
    const QRectF seen = camera.toScene(QRectF(image.rect()));
    const bool all = seen.height() > scene.bounds.height() / 2 && seen.width() > scene.bounds.width() / 2;
    Canvas canvas(image);
    drawBands(canvas, scene, theme, camera, image.size());
    const QRgb plain = theme.edgeMuted.rgb(), cut = theme.cut.rgb();
    forSeen(
        scene.edges.size(), all, [&] { return scene.edgesInside(seen); },
        [&](int edge) { drawEdge(canvas, scene.edges[edge], camera, scene.edges[edge].cut ? cut : plain); });
    const QRgb border = theme.nodeBorder.rgb(), accent = theme.accent.rgb();
    forSeen(
        scene.nodes.size(), all, [&] { return scene.nodeIndex.inside(seen); },
        [&](int node) {
            const QRectF box = camera.toScreen(scene.nodes[node]);
            if (box.bottom() < 0 || box.top() > image.height()) return;
            const bool lit = !marked.empty() && marked[node];
            drawNode(canvas, box, lit ? accent : colouring.fill[node].rgb(), lit ? accent : border);
        });
}

}  // namespace hopscope::graphview
