#pragma once

// Curves between nodes, around the nodes between them.

#include <QPointF>
#include <QRectF>
#include <vector>

#include "graphview/fold/fold.h"
#include "graphview/scene/grid_index.h"

namespace hopscope::graphview {

class Router {
public:
    // `obstacles`: what long edges keep away from besides nodes; one that holds an end of an edge does not count for it.
    Router(const std::vector<QRectF>& nodes, const GridIndex& index, std::vector<QRectF> obstacles, QRectF bounds)
        : m_nodes(nodes),
          m_index(index),
          m_obstacles(std::move(obstacles)),
          m_obstacleIndex(m_obstacles),
          m_bounds(bounds)
    {}
    // The start and three points for every curve. Short edges first give the calmest picture.
    std::vector<QPointF> route(int from, int to);
    // Of edges inside of the prologue: sideways within a row.
    std::vector<QPointF> routeFlow(int from, int to) const;

private:
    struct Lane {
        qreal x, top, bottom;
    };
    [[nodiscard]] int touching(const QRectF& area, int from, int to) const;
    [[nodiscard]] bool clear(const std::vector<QPointF>& path, int from, int to) const;
    [[nodiscard]] bool touchesObstacle(const std::vector<QPointF>& path) const;
    [[nodiscard]] std::vector<qreal> lanes(int from, int to) const;
    [[nodiscard]] bool taken(qreal x, qreal top, qreal bottom) const;
    std::vector<QPointF> alongLane(int from, QPointF target, qreal lane, qreal turn) const;
    std::vector<QPointF> onLane(int from, int to, qreal lane) const;

    const std::vector<QRectF>& m_nodes;
    const GridIndex& m_index;
    std::vector<QRectF> m_obstacles;
    GridIndex m_obstacleIndex;
    QRectF m_bounds;
    std::vector<Lane> m_taken;
};

}  // namespace hopscope::graphview
