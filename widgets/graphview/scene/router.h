#pragma once

// Routes the curves between nodes around the nodes in their way.

#include <QPointF>
#include <QRectF>
#include <span>
#include <unordered_map>
#include <vector>

#include "graphview/scene/detour.h"
#include "graphview/scene/grid_index.h"

namespace hopscope::graphview {

// The vertical lanes that edges run along, indexed by height.
class Lanes {
public:
    void take(qreal x, qreal top, qreal bottom);
    [[nodiscard]] std::vector<qreal> beside(qreal top, qreal bottom) const;  // ascending, each once

private:
    struct Lane {
        qreal x, top, bottom;
    };
    std::unordered_map<int, std::vector<Lane>> m_rows;
};

class Router {
public:
    // Long edges avoid `obstacles` as well as nodes; an edge ignores obstacles that contain one of its ends. `memory`
    // caches detours and does not change routes. All arguments but `obstacles` must outlive the router.
    Router(const std::vector<QRectF>& nodes, const GridIndex& index, std::vector<QRectF> obstacles, QRectF bounds,
           DetourMemory& memory)
        : m_nodes(nodes),
          m_index(index),
          m_obstacles(std::move(obstacles)),
          m_obstacleIndex(m_obstacles),
          m_bounds(bounds),
          m_memory(memory)
    {}
    // Appends the start and three points for every curve. Routing short edges first gives the clearest picture.
    void route(int from, int to, std::vector<QPointF>& points);
    // Routes edges inside the prologue, sideways within a row.
    void routeFlow(int from, int to, std::vector<QPointF>& points) const;

private:
    [[nodiscard]] int touching(const QRectF& area, int from, int to) const;
    [[nodiscard]] bool clear(std::span<const QPointF> path, int from, int to) const;
    [[nodiscard]] bool crowded(const QRectF& rows) const;
    [[nodiscard]] Surroundings surroundings(int from, int to, const QRectF& rows) const;

    const std::vector<QRectF>& m_nodes;
    const GridIndex& m_index;
    std::vector<QRectF> m_obstacles;
    GridIndex m_obstacleIndex;
    QRectF m_bounds;
    DetourMemory& m_memory;
    Lanes m_lanes;
};

}  // namespace hopscope::graphview
