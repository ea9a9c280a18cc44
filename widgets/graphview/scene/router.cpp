#include "graphview/scene/router.h"

#include <algorithm>
#include <cmath>

#include "graphview/scene/scene.h"

namespace hopscope::graphview {

namespace {

constexpr int maxObstacles = 250;  // with more nodes in its way an edge goes straight
constexpr qreal laneRow = 512;     // lanes are looked for by height

int rowOf(qreal y) { return static_cast<int>(std::floor(y / laneRow)); }

// The start of an edge; the coordinates of its surroundings are relative to it.
QPointF lowerMiddle(const QRectF& node) { return {node.center().x(), node.bottom()}; }

}  // namespace

void Lanes::take(qreal x, qreal top, qreal bottom)
{
    for (int row = rowOf(top); row <= rowOf(bottom); ++row)
        m_rows[row].push_back({.x = x, .top = top, .bottom = bottom});
}

std::vector<qreal> Lanes::beside(qreal top, qreal bottom) const
{
    std::vector<qreal> found;
    for (int row = rowOf(top); row <= rowOf(bottom); ++row) {
        const auto lanes = m_rows.find(row);
        if (lanes == m_rows.end()) continue;
        for (const Lane& lane : lanes->second)
            if (lane.top < bottom && top < lane.bottom) found.push_back(lane.x);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

// The number of the edge's own two ends that an area touches.
int Router::touching(const QRectF& area, int from, int to) const
{
    return (touch(m_nodes[from], area) ? 1 : 0) + (touch(m_nodes[to], area) ? 1 : 0);
}

bool Router::clear(std::span<const QPointF> path, int from, int to) const
{
    // There is nothing at all between neighbouring rows: one query replaces many.
    QRectF box(path.front(), QSizeF(0, 0));
    for (const QPointF& point : path) box |= QRectF(point, QSizeF(0.1, 0.1));
    const QRectF between = box.adjusted(-edgeMargin, 1, edgeMargin, -1);
    if (m_index.count(between, 3) <= touching(between, from, to)) return true;
    const QPointF span = path.back() - path.front(), reach(edgeMargin, edgeMargin);
    const int steps = std::clamp(static_cast<int>((std::abs(span.x()) + std::abs(span.y())) / 14), 6, 120);
    for (int i = 1; i < steps; ++i) {
        const QPointF point = pointOnPath(path, qreal(i) / steps);
        for (int node : m_index.inside(QRectF(point - reach, point + reach)))
            if (node != from && node != to) return false;
    }
    return true;
}

bool Router::crowded(const QRectF& rows) const
{
    return m_index.count(rows, maxObstacles) >= maxObstacles ||
           m_obstacleIndex.count(rows, maxObstacles) >= maxObstacles;
}

// The obstacles in these rows, across the whole picture, clipped to the rows, because an edge meets no other part.
Surroundings Router::surroundings(int from, int to, const QRectF& rows) const
{
    const QRectF &source = m_nodes[from], &target = m_nodes[to];
    const QPointF origin = lowerMiddle(source);
    Surroundings around{.source = source.translated(-origin),
                        .target = target.translated(-origin),
                        .nodes = {},
                        .obstacles = {},
                        .lanes = {}};
    for (int node : m_index.inside(rows))
        if (node != from && node != to) around.nodes.push_back(m_nodes[node].translated(-origin));
    for (int obstacle : m_obstacleIndex.inside(rows)) {
        QRectF rect = m_obstacles[obstacle];
        if (rect.contains(source)) continue;
        const bool aroundEnd = rect.contains(source.center()) || rect.contains(target.center());
        rect.setTop(std::max(rect.top(), rows.top()));
        rect.setBottom(std::min(rect.bottom(), rows.bottom()));
        around.obstacles.push_back({.rect = rect.translated(-origin), .aroundEnd = aroundEnd});
    }
    for (qreal lane : m_lanes.beside(source.bottom() + 1, target.top() - 1)) around.lanes.push_back(lane - origin.x());
    return around;
}

void Router::route(int from, int to, std::vector<QPointF>& points)
{
    const QRectF &source = m_nodes[from], &target = m_nodes[to];
    const QPointF origin = lowerMiddle(source);
    const auto direct = bend(origin, entry(target, origin.x()));
    const qreal top = source.center().y() - 2 * edgeMargin, bottom = target.top() + 2 * edgeMargin;
    const QRectF rows(m_bounds.left() - 400, top, m_bounds.width() + 800, bottom - top);
    const auto goDirect = [&] { points.insert(points.end(), direct.begin(), direct.end()); };
    if (clear(direct, from, to) || crowded(rows)) return goDirect();
    const Detour& detour = m_memory.find(surroundings(from, to, rows));
    if (detour.path.empty()) return goDirect();
    m_lanes.take(detour.lane + origin.x(), source.bottom() + 1, target.top() - 1);
    for (const QPointF& point : detour.path) points.push_back(point + origin);
}

void Router::routeFlow(int from, int to, std::vector<QPointF>& points) const
{
    const QRectF& a = m_nodes[from];
    const QRectF& b = m_nodes[to];
    const auto add = [&](const std::array<QPointF, 4>& path) { points.insert(points.end(), path.begin(), path.end()); };
    if (b.left() < a.right()) return add(bend({a.center().x(), a.bottom()}, {b.center().x(), b.top()}));
    const QPointF out(a.right(), a.center().y()), in(b.left(), b.center().y());
    const std::array<QPointF, 4> straight{out, out + (in - out) * 0.4, in - (in - out) * 0.4, in};
    if (clear(straight, from, to)) return add(straight);
    // Over the boxes between them.
    const QPointF up(0, -std::min(30.0, 12 + (in.x() - out.x()) * 0.03));
    const QPointF top(a.center().x(), a.top()), end(b.center().x(), b.top());
    add({top, top + up, end + up, end});
}

}  // namespace hopscope::graphview
