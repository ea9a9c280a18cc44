#include "graphview/scene/detour.h"

#include <algorithm>
#include <cmath>

#include "graphview/layout/small_layout.h"
#include "graphview/scene/grid_index.h"
#include "graphview/scene/scene.h"

namespace hopscope::graphview {

namespace {

constexpr qreal margin = 11;                        // between an edge and the nodes that it passes
constexpr qreal laneStep = 10;                      // between edges that run side by side
constexpr int lanesBetween = 4, lanesOutside = 60;  // tried side by side

void append(std::vector<QPointF>& path, const std::array<QPointF, 4>& next)
{
    path.insert(path.end(), next.begin() + 1, next.end());
}

QRectF spotAt(QPointF point, qreal reach) { return {point - QPointF(reach, reach), QSizeF(2 * reach, 2 * reach)}; }

QRectF boundsOf(const std::vector<QPointF>& path)
{
    const auto [left, right] = std::ranges::minmax(path, {}, &QPointF::x);
    const auto [top, bottom] = std::ranges::minmax(path, {}, &QPointF::y);
    return {QPointF(left.x(), top.y()), QPointF(right.x(), bottom.y())};
}

class Finder {
public:
    explicit Finder(const Surroundings& surroundings) : m_around(surroundings) {}
    [[nodiscard]] Detour find() const;

private:
    [[nodiscard]] std::vector<const QRectF*> nodesNear(const std::vector<QPointF>& path, bool toTarget) const;
    [[nodiscard]] bool clear(const std::vector<QPointF>& path, bool toTarget) const;
    [[nodiscard]] bool touchesObstacle(const std::vector<QPointF>& path) const;
    [[nodiscard]] std::vector<std::pair<qreal, qreal>> blocked() const;
    [[nodiscard]] std::vector<qreal> freeLanes() const;
    [[nodiscard]] bool taken(qreal lane) const;
    [[nodiscard]] std::vector<QPointF> wayOut(qreal lane, qreal low) const;
    [[nodiscard]] std::vector<QPointF> alongLane(QPointF target, qreal lane, qreal turn) const;
    [[nodiscard]] std::vector<QPointF> onLane(qreal lane) const;

    const Surroundings& m_around;
};

// There is nothing at all between neighbouring rows: one query replaces many.
std::vector<const QRectF*> Finder::nodesNear(const std::vector<QPointF>& path, bool toTarget) const
{
    const QRectF box = boundsOf(path);
    const QRectF between = box.adjusted(-edgeMargin, 1, edgeMargin, -1);
    const QRectF near = box.adjusted(-edgeMargin, -edgeMargin, edgeMargin, edgeMargin);
    std::vector<const QRectF*> found;
    bool inside = false;
    const auto look = [&](const QRectF& node) {
        inside = inside || touch(node, between);
        if (touch(node, near)) found.push_back(&node);
    };
    for (const QRectF& node : m_around.nodes) look(node);
    if (!toTarget) look(m_around.target);
    return inside ? found : std::vector<const QRectF*>();
}

bool Finder::clear(const std::vector<QPointF>& path, bool toTarget) const
{
    const std::vector<const QRectF*> near = nodesNear(path, toTarget);
    if (near.empty()) return true;
    const QPointF span = path.back() - path.front();
    const int steps = std::clamp(static_cast<int>((std::abs(span.x()) + std::abs(span.y())) / 14), 6, 120);
    for (int i = 1; i < steps; ++i) {
        const QRectF spot = spotAt(pointOnPath(path, qreal(i) / steps), edgeMargin);
        if (std::ranges::any_of(near, [&](const QRectF* node) { return touch(*node, spot); })) return false;
    }
    return true;
}

// For the path out of a node, which must not cross the labels around it.
bool Finder::touchesObstacle(const std::vector<QPointF>& path) const
{
    constexpr int steps = 24;
    for (int i = 1; i <= steps; ++i) {
        const QRectF spot = spotAt(pointOnPath(path, qreal(i) / steps), 2);
        for (const Surroundings::Obstacle& obstacle : m_around.obstacles)
            if (touch(obstacle.rect, spot) && !obstacle.rect.contains(path.front())) return true;
    }
    return false;
}

// Columns with an obstacle between the ends, ascending.
std::vector<std::pair<qreal, qreal>> Finder::blocked() const
{
    const qreal top = m_around.source.bottom() + 1, bottom = m_around.target.top() - 1;
    std::vector<std::pair<qreal, qreal>> columns;
    const auto block = [&](const QRectF& rect) {
        if (rect.top() <= bottom && top <= rect.bottom())
            columns.emplace_back(rect.left() - margin, rect.right() + margin);
    };
    for (const QRectF& node : m_around.nodes) block(node);
    for (const Surroundings::Obstacle& obstacle : m_around.obstacles)
        if (!obstacle.aroundEnd) block(obstacle.rect);
    std::sort(columns.begin(), columns.end());
    return columns;
}

// Free lanes among the middles of the ends and the sides of the blocked columns, the shortest way first.
std::vector<qreal> Finder::freeLanes() const
{
    constexpr qreal nowhere = -1e12;
    const std::vector<std::pair<qreal, qreal>> columns = blocked();
    const qreal start = m_around.source.center().x(), end = m_around.target.center().x();
    std::vector<qreal> found{start, end};
    qreal reach = nowhere;
    for (const auto& [left, right] : columns) {
        if (left > reach) found.insert(found.end(), {reach, left});
        reach = std::max(reach, right);
    }
    found.push_back(reach);
    const auto hits = [](qreal x) { return [x](const auto& column) { return column.first < x && x < column.second; }; };
    std::erase_if(found, [&](qreal x) { return x == nowhere || std::ranges::any_of(columns, hits(x)); });
    const auto length = [&](qreal x) { return std::abs(x - start) + 1.05 * std::abs(x - end); };
    std::stable_sort(found.begin(), found.end(), [&](qreal a, qreal b) { return length(a) < length(b); });
    return found;
}

bool Finder::taken(qreal lane) const
{
    const auto next = std::ranges::upper_bound(m_around.lanes, lane - (laneStep - 1));
    return next != m_around.lanes.end() && *next < lane + (laneStep - 1);
}

// Leaves by the side that faces the lane, or by the lower side if that one is not free.
std::vector<QPointF> Finder::wayOut(qreal lane, qreal low) const
{
    const QRectF& box = m_around.source;
    if (lane < box.left() - 4 || lane > box.right() + 4) {
        const QPointF out(lane < box.left() ? box.left() : box.right(), box.center().y());
        const qreal bottom = std::min(low, out.y() + std::clamp(std::abs(lane - out.x()) * 0.8, 24.0, 70.0));
        std::vector<QPointF> path{out,
                                  {out.x() + (lane - out.x()) * 0.6, out.y()},
                                  {lane, out.y() + (bottom - out.y()) * 0.4},
                                  {lane, bottom}};
        if (clear(path, false) && !touchesObstacle(path)) return path;
    }
    const QPointF out(box.center().x(), box.bottom());
    const auto down = bend(out, {lane, std::min(low, out.y() + rankGap)});
    return {down.begin(), down.end()};
}

// Down along the lane, and in from above, turning `turn` above the target.
std::vector<QPointF> Finder::alongLane(QPointF target, qreal lane, qreal turn) const
{
    const qreal low = std::max(m_around.source.bottom() + 6, target.y() - turn);
    std::vector<QPointF> path = wayOut(lane, low);
    const QPointF corner = path.back();
    if (low > corner.y() + 1) append(path, {corner, corner, QPointF(lane, low), QPointF(lane, low)});
    append(path, bend({lane, low}, target));
    return path;
}

std::vector<QPointF> Finder::onLane(qreal lane) const
{
    for (qreal turn : {60.0, 34.0, rankGap - 3}) {
        std::vector<QPointF> path = alongLane(entry(m_around.target, lane), lane, turn);
        if (clear(path, true)) return path;
    }
    return {};
}

Detour Finder::find() const
{
    const std::vector<qreal> free = freeLanes();
    const auto [first, last] = std::minmax_element(free.begin(), free.end());
    for (const qreal start : free) {
        const qreal away = start < m_around.source.center().x() ? -laneStep : laneStep;
        const bool outside = start == *first || start == *last;  // of everything: there is room for many
        qreal lane = start;
        for (int step = 0; step < (outside ? lanesOutside : lanesBetween); ++step, lane += away) {
            if (taken(lane)) continue;
            std::vector<QPointF> path = onLane(lane);
            if (!path.empty()) return {.path = std::move(path), .lane = lane};
        }
    }
    return {};
}

void put(std::vector<double>& numbers, const QRectF& rect)
{
    numbers.insert(numbers.end(), {rect.left(), rect.top(), rect.width(), rect.height()});
}

QByteArray keyOf(const Surroundings& surroundings)
{
    std::vector<double> numbers{static_cast<double>(surroundings.nodes.size()),
                                static_cast<double>(surroundings.obstacles.size())};
    put(numbers, surroundings.source);
    put(numbers, surroundings.target);
    for (const QRectF& node : surroundings.nodes) put(numbers, node);
    for (const Surroundings::Obstacle& obstacle : surroundings.obstacles) {
        put(numbers, obstacle.rect);
        numbers.push_back(obstacle.aroundEnd ? 1 : 0);
    }
    numbers.insert(numbers.end(), surroundings.lanes.begin(), surroundings.lanes.end());
    return {reinterpret_cast<const char*>(numbers.data()), static_cast<qsizetype>(numbers.size() * sizeof(double))};
}

}  // namespace

std::array<QPointF, 4> bend(QPointF from, QPointF to)
{
    const qreal pull = std::clamp((to.y() - from.y()) * 0.5, 8.0, 90.0);
    return {from, from + QPointF(0, pull), to - QPointF(0, pull), to};
}

QPointF entry(const QRectF& to, qreal fromX)
{
    const qreal reach = to.width() * 0.3;
    const qreal dx = fromX - to.center().x();
    return {to.center().x() + (std::abs(dx) < 4 ? 0 : std::clamp(dx * 0.2, -reach, reach)), to.top()};
}

Detour findDetour(const Surroundings& around) { return Finder(around).find(); }

const Detour& DetourMemory::find(const Surroundings& around)
{
    const QByteArray key = keyOf(around);
    if (const auto known = m_now.constFind(key); known != m_now.constEnd()) return *known;
    const auto before = m_before.find(key);
    return *m_now.insert(key, before != m_before.end() ? std::move(*before) : findDetour(around));
}

void DetourMemory::endScene() { m_before = std::exchange(m_now, {}); }

}  // namespace hopscope::graphview
