#pragma once

// Routes an edge around the obstacles between its ends if the direct route is blocked.

#include <QByteArray>
#include <QHash>
#include <QPointF>
#include <QRectF>
#include <array>
#include <optional>
#include <vector>

namespace hopscope::graphview {

// Everything that a route depends on. Coordinates are relative to the middle of the source's lower side, so that equal
// surroundings have equal routes wherever they are.
struct Surroundings {
    // A frame or a label that does not contain the source.
    struct Obstacle {
        QRectF rect;
        bool aroundEnd = false;  // contains an end of the edge, so it blocks no lane
    };
    QRectF source, target;
    std::vector<QRectF> nodes;  // beside the ends and between them
    std::vector<Obstacle> obstacles;
    std::vector<qreal> lanes;  // positions of edges parallel to this one; ascending
};

struct Detour {
    std::vector<QPointF> path;  // the start and three points for every curve; empty: no route was found
    qreal lane = 0;             // the lane that the path uses
};

inline constexpr qreal edgeMargin = 4;  // an edge closer than this seems to touch a node

// Returns the shortest of the routes that it tries. The function is pure.
Detour findDetour(const Surroundings& around);

// Returns a curve that leaves one point straight down and enters the other straight from above.
std::array<QPointF, 4> bend(QPointF from, QPointF to);
// Returns the point at which an edge enters its target: on the upper side, near the middle, shifted slightly towards
// the source.
QPointF entry(const QRectF& to, qreal fromX);

// A cache of the detours of the current scene and of the one before it.
class DetourMemory {
public:
    const Detour& find(const Surroundings& around);  // valid until the next call
    void endScene();                                 // forgets routes that this scene has not used

private:
    QHash<QByteArray, Detour> m_now, m_before;
};

}  // namespace hopscope::graphview
