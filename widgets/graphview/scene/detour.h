#pragma once

// The route of an edge around the obstacles between its ends, if the direct route is blocked.

#include <QByteArray>
#include <QHash>
#include <QPointF>
#include <QRectF>
#include <array>
#include <optional>
#include <vector>

namespace hopscope::graphview {

// Everything that a route depends on. Coordinates are relative to the middle of the source's lower side: equal surroundings
// have equal routes, wherever they are.
struct Surroundings {
    // A frame or a label that is not around the source.
    struct Obstacle {
        QRectF rect;
        bool aroundEnd = false;  // one end is inside: no lane is blocked by it
    };
    QRectF source, target;
    std::vector<QRectF> nodes;  // next to the ends and between them
    std::vector<Obstacle> obstacles;
    std::vector<qreal> lanes;  // positions of edges parallel to it; ascending
};

struct Detour {
    std::vector<QPointF> path;  // the start and three points for every curve; empty: no route was found
    qreal lane = 0;             // the lane that it uses
};

inline constexpr qreal edgeMargin = 4;  // closer than that, an edge seems to touch a node

// The shortest of the routes that it tries. Pure.
Detour findDetour(const Surroundings& around);

// A curve that leaves one point straight down and enters the other one straight from above.
std::array<QPointF, 4> bend(QPointF from, QPointF to);
// The point at which an edge enters its target: on the upper side, near the middle, shifted a little towards its source.
QPointF entry(const QRectF& to, qreal fromX);

// The detours of the scene that is being built and of the one before it.
class DetourMemory {
public:
    const Detour& find(const Surroundings& around);  // valid until the next call
    void endScene();                                 // forgets routes that this scene has not used

private:
    QHash<QByteArray, Detour> m_now, m_before;
};

}  // namespace hopscope::graphview
