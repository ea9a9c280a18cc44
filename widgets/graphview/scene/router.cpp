#include "graphview/scene/router.h"

#include <algorithm>
#include <cmath>

#include "graphview/scene/scene.h"

namespace hopscope::graphview {

namespace {

constexpr qreal margin = 11;                        // between an edge and the nodes that it passes
constexpr qreal laneStep = 10;                      // between edges that run side by side
constexpr int lanesBetween = 4, lanesOutside = 60;  // tried side by side
constexpr int maxObstacles = 250;                   // with more nodes in its way an edge goes straight
constexpr std::size_t maxTaken = 600;

std::vector<QPointF> bend(QPointF from, QPointF to)
{
    const qreal pull = std::clamp((to.y() - from.y()) * 0.5, 8.0, 90.0);
    return {from, from + QPointF(0, pull), to - QPointF(0, pull), to};
}

void append(std::vector<QPointF>& path, const std::vector<QPointF>& next)
{
    path.insert(path.end(), next.begin() + 1, next.end());
}

// Where an edge enters its target: above the middle, a little towards where it comes from.
QPointF entry(const QRectF& to, qreal fromX)
{
    const qreal reach = to.width() * 0.3;
    const qreal dx = fromX - to.center().x();
    return {to.center().x() + (std::abs(dx) < 4 ? 0 : std::clamp(dx * 0.2, -reach, reach)), to.top()};
}

}  // namespace

// How many of its own two ends an area touches.
int Router::touching(const QRectF& area, int from, int to) const
{
    const auto touches = [&](int node) {
        if (node < 0) return 0;
        const QRectF& rect = m_nodes[node];
        return rect.left() <= area.right() && area.left() <= rect.right() && rect.top() <= area.bottom() &&
                       area.top() <= rect.bottom()
                   ? 1
                   : 0;
    };
    return touches(from) + touches(to);
}

bool Router::clear(const std::vector<QPointF>& path, int from, int to) const
{
    // Between neighbouring rows there is nothing at all: one question instead of many.
    QRectF box(path.front(), QSizeF(0, 0));
    for (const QPointF& point : path) box |= QRectF(point, QSizeF(0.1, 0.1));
    if (m_index.count(box.adjusted(-4, 1, 4, -1), 3) <= touching(box.adjusted(-4, 1, 4, -1), from, to)) return true;
    const QPointF span = path.back() - path.front();
    const int steps = std::clamp(static_cast<int>((std::abs(span.x()) + std::abs(span.y())) / 14), 6, 120);
    for (int i = 1; i < steps; ++i) {
        const QPointF point = pointOnPath(path, qreal(i) / steps);
        for (int node : m_index.inside(QRectF(point - QPointF(4, 4), QSizeF(8, 8))))
            if (node != from && node != to) return false;
    }
    return true;
}

// Of the way out of a node: labels beside it are not to be crossed.
bool Router::touchesObstacle(const std::vector<QPointF>& path) const
{
    constexpr int steps = 24;
    for (int i = 1; i <= steps; ++i) {
        const QPointF point = pointOnPath(path, qreal(i) / steps);
        for (int obstacle : m_obstacleIndex.inside(QRectF(point - QPointF(2, 2), QSizeF(4, 4))))
            if (!m_obstacles[obstacle].contains(path.front())) return true;
    }
    return false;
}

// Free columns between two nodes, the shortest way first.
std::vector<qreal> Router::lanes(int source, int target) const
{
    const QPointF start = m_nodes[source].center(), end = m_nodes[target].center();
    const qreal top = m_nodes[source].bottom() + 1, bottom = m_nodes[target].top() - 1;
    const QRectF area(m_bounds.left() - 400, top, m_bounds.width() + 800, bottom - top);
    if (m_index.count(area, maxObstacles) >= maxObstacles) return {};
    if (m_obstacleIndex.count(area, maxObstacles) >= maxObstacles) return {};
    std::vector<std::pair<qreal, qreal>> blocked;
    const auto block = [&](const QRectF& rect) { blocked.emplace_back(rect.left() - margin, rect.right() + margin); };
    for (int node : m_index.inside(area)) block(m_nodes[node]);
    for (int obstacle : m_obstacleIndex.inside(area))
        if (!m_obstacles[obstacle].contains(start) && !m_obstacles[obstacle].contains(end))
            block(m_obstacles[obstacle]);
    std::sort(blocked.begin(), blocked.end());
    std::vector<qreal> found{start.x(), end.x()};
    qreal reach = -1e12;
    for (const auto& [left, right] : blocked) {
        if (left > reach) found.insert(found.end(), {reach, left});
        reach = std::max(reach, right);
    }
    found.push_back(reach);
    const auto hit = [&](qreal x) {
        return std::any_of(blocked.begin(), blocked.end(), [&](auto& b) { return b.first < x && x < b.second; });
    };
    std::erase_if(found, [&](qreal x) { return x < -1e11 || hit(x); });
    const auto length = [&](qreal x) { return std::abs(x - start.x()) + 1.05 * std::abs(x - end.x()); };
    std::stable_sort(found.begin(), found.end(), [&](qreal a, qreal b) { return length(a) < length(b); });
    return found;
}

bool Router::taken(qreal x, qreal top, qreal bottom) const
{
    return std::any_of(m_taken.begin(), m_taken.end(), [&](const Lane& lane) {
        return std::abs(lane.x - x) < laneStep - 1 && lane.top < bottom && top < lane.bottom;
    });
}

// Out of the side that faces the lane, down along it, and in from above, turning `turn` above the target.
std::vector<QPointF> Router::alongLane(int from, QPointF target, qreal lane, qreal turn) const
{
    const QRectF& box = m_nodes[from];
    const bool beside = lane < box.left() - 4 || lane > box.right() + 4;
    const qreal low = std::max(box.bottom() + 6, target.y() - turn);
    std::vector<QPointF> path;
    if (beside) {
        const QPointF out(lane < box.left() ? box.left() : box.right(), box.center().y());
        const qreal bottom = std::min(low, out.y() + std::clamp(std::abs(lane - out.x()) * 0.8, 24.0, 70.0));
        path = {out,
                {out.x() + (lane - out.x()) * 0.6, out.y()},
                {lane, out.y() + (bottom - out.y()) * 0.4},
                {lane, bottom}};
        if (!clear(path, from, -1) || touchesObstacle(path)) path.clear();
    }
    if (path.empty()) {
        const QPointF out(box.center().x(), box.bottom());
        path = bend(out, {lane, std::min(low, out.y() + rankGap)});
    }
    const QPointF corner = path.back();
    if (low > corner.y() + 1) append(path, {corner, corner, {lane, low}, {lane, low}});
    append(path, bend({lane, low}, target));
    return path;
}

std::vector<QPointF> Router::onLane(int from, int to, qreal lane) const
{
    for (qreal turn : {60.0, 34.0, rankGap - 3}) {
        std::vector<QPointF> path = alongLane(from, entry(m_nodes[to], lane), lane, turn);
        if (clear(path, from, to)) return path;
    }
    return {};
}

std::vector<QPointF> Router::route(int from, int to)
{
    const QRectF& source = m_nodes[from];
    const QPointF out(source.center().x(), source.bottom());
    std::vector<QPointF> direct = bend(out, entry(m_nodes[to], out.x()));
    if (clear(direct, from, to)) return direct;
    const qreal top = source.bottom() + 1, bottom = m_nodes[to].top() - 1;
    const std::vector<qreal> free = lanes(from, to);
    const auto [first, last] = std::minmax_element(free.begin(), free.end());
    for (const qreal start : free) {
        const qreal away = start < out.x() ? -laneStep : laneStep;
        const bool outside = start == *first || start == *last;  // of everything: there is room for many
        qreal lane = start;
        for (int step = 0; step < (outside ? lanesOutside : lanesBetween); ++step, lane += away) {
            if (taken(lane, top, bottom)) continue;
            std::vector<QPointF> path = onLane(from, to, lane);
            if (path.empty()) continue;
            if (m_taken.size() < maxTaken) m_taken.push_back({.x = lane, .top = top, .bottom = bottom});
            return path;
        }
    }
    return direct;
}

std::vector<QPointF> Router::routeFlow(int from, int to) const
{
    const QRectF& a = m_nodes[from];
    const QRectF& b = m_nodes[to];
    if (b.left() < a.right()) return bend({a.center().x(), a.bottom()}, {b.center().x(), b.top()});
    const QPointF out(a.right(), a.center().y()), in(b.left(), b.center().y());
    const std::vector<QPointF> straight{out, out + (in - out) * 0.4, in - (in - out) * 0.4, in};
    if (clear(straight, from, to)) return straight;
    // Over the boxes between them.
    const QPointF up(0, -std::min(30.0, 12 + (in.x() - out.x()) * 0.03));
    const QPointF top(a.center().x(), a.top()), end(b.center().x(), b.top());
    return {top, top + up, end + up, end};
}

}  // namespace hopscope::graphview
