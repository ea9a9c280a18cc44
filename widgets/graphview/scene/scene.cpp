#include "graphview/scene/scene.h"

#include <algorithm>
#include <cmath>

#include "graphview/scene/scene_builder.h"

namespace hopscope::graphview {

namespace {

qreal distanceToSegment(QPointF p, QPointF a, QPointF b)
{
    const QPointF ab = b - a;
    const qreal length = QPointF::dotProduct(ab, ab);
    const qreal t = length > 0 ? std::clamp(QPointF::dotProduct(p - a, ab) / length, 0.0, 1.0) : 0;
    const QPointF d = p - (a + ab * t);
    return std::hypot(d.x(), d.y());
}

QPointF cubic(const QPointF* p, qreal t)
{
    const qreal u = 1 - t;
    return p[0] * (u * u * u) + p[1] * (3 * u * u * t) + p[2] * (3 * u * t * t) + p[3] * (t * t * t);
}

qreal distanceToPath(std::span<const QPointF> path, QPointF point)
{
    constexpr int stepsPerCurve = 16;
    qreal best = 1e12;
    for (std::size_t i = 0; i + 3 < path.size(); i += 3) {
        QPointF last = path[i];
        for (int step = 1; step <= stepsPerCurve; ++step) {
            const QPointF next = cubic(&path[i], qreal(step) / stepsPerCurve);
            best = std::min(best, distanceToSegment(point, last, next));
            last = next;
        }
    }
    return best;
}

}  // namespace

std::vector<QSizeF> nodeSizes(const VisibleGraph& graph, TextMemory& memory)
{
    std::vector<QSizeF> sizes;
    sizes.reserve(graph.nodes.size());
    TextMeasure measure(memory);
    for (const VisibleNode& node : graph.nodes) sizes.push_back(measure.nodeSize(node));
    return sizes;
}

QPainterPath edgePath(std::span<const QPointF> points)
{
    QPainterPath path;
    if (points.empty()) return path;
    path.moveTo(points.front());
    for (std::size_t i = 1; i + 2 < points.size(); i += 3) path.cubicTo(points[i], points[i + 1], points[i + 2]);
    return path;
}

QPointF pointOnPath(std::span<const QPointF> points, qreal t)
{
    const auto curves = static_cast<int>((points.size() - 1) / 3);
    const int curve = std::clamp(static_cast<int>(t * curves), 0, curves - 1);
    return cubic(&points[static_cast<std::size_t>(curve) * 3], t * curves - curve);
}

QPointF pathAtHeight(std::span<const QPointF> points, qreal y)
{
    QPointF best = points.front();
    constexpr int steps = 60;
    for (int i = 0; i <= steps; ++i) {
        const QPointF point = pointOnPath(points, qreal(i) / steps);
        if (std::abs(point.y() - y) < std::abs(best.y() - y)) best = point;
    }
    return {best.x(), y};
}

int Scene::nodeAt(QPointF point) const { return nodeIndex.at(point); }

int Scene::edgeAt(QPointF point, qreal distance) const
{
    int best = -1;
    qreal nearest = distance;
    for (int edge : edgesInside(QRectF(point - QPointF(distance, distance), QSizeF(2 * distance, 2 * distance)))) {
        const qreal away = distanceToPath(edges[edge].path, point);
        if (away <= nearest) nearest = away, best = edge;
    }
    return best;
}

int Scene::storeAt(QPointF point) const
{
    for (std::size_t i = 0; i < stores.size(); ++i)
        if (stores[i].rect.adjusted(-3, -3, 3, 3).contains(point)) return static_cast<int>(i);
    return -1;
}

int Scene::frameTitleAt(QPointF point) const
{
    for (std::size_t i = frames.size(); i-- > 0;)
        if (!frames[i].isNull() && QRectF(frames[i].topLeft(), QSizeF(frames[i].width(), frameTitle)).contains(point))
            return static_cast<int>(i);
    return -1;
}

std::vector<int> Scene::edgesInside(const QRectF& area) const
{
    std::vector<int> found = edgeIndex.inside(area);
    for (int& piece : found) piece = edgeOfPiece[piece];
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

const Band* Scene::bandOf(StageId stage) const
{
    const auto found = std::lower_bound(bands.begin(), bands.end(), stage,
                                        [](const Band& band, StageId wanted) { return band.last < wanted; });
    return found != bands.end() && found->stage <= stage ? &*found : nullptr;
}

ScenePtr buildScene(SceneInput input) { return SceneBuilder(std::move(input)).build(); }

ScenePtr previewScene(const Scene& scene, const protocol::ModelRecord& model, const protocol::PlanRecord& plan)
{
    SceneInput input;
    input.model = &model;
    input.plan = &plan;
    return SceneBuilder(std::move(input)).buildOver(scene);
}

}  // namespace hopscope::graphview
