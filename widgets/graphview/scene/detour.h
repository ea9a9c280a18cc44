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

// All that a way depends on. Coordinates are seen from the middle of the source's lower side: equal surroundings have equal
// ways, wherever they are.
struct Surroundings {
    // A frame or a label that is not around the source.
    struct Obstacle {
        QRectF rect;
        bool aroundEnd = false;  // one end is inside: no lane is blocked by it
    };
    QRectF source, target;
    std::vector<QRectF> nodes;  // beside and between the ends
    std::vector<Obstacle> obstacles;
    std::vector<qreal> lanes;  // positions of edges parallel to it; ascending
};

struct Detour {
    std::vector<QPointF> path;  // the start and three points for every curve; empty: there is no way around
    qreal lane = 0;             // that it takes
};

inline constexpr qreal edgeMargin = 4;  // nearer to a node an edge seems to touch it

// The shortest of the ways that are tried. Pure.
Detour findDetour(const Surroundings& around);

// From a point straight down, into another one straight from above.
std::array<QPointF, 4> bend(QPointF from, QPointF to);
// Where an edge enters its target: above the middle, a little towards where it comes from.
QPointF entry(const QRectF& to, qreal fromX);

// The detours of the scene that is being built and of the one before it.
class DetourMemory {
public:
    const Detour& find(const Surroundings& around);  // valid until the next call
    void endScene();                                 // forgets routes that it has not asked for

private:
    QHash<QByteArray, Detour> m_now, m_before;
};

}  // namespace hopscope::graphview
