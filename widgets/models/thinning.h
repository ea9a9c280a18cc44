#pragma once

// Bounds series of points: a full series is halved, and keeps its first point, its last point and every peak.

#include <cstddef>
#include <vector>

namespace hopscope::models {

// Keeps the point with the larger weight of every two neighbours. Returns true if anything was removed.
template <class Point, class Weight>
bool thin(std::vector<Point>& points, std::size_t limit, Weight weight)
{
    if (points.size() < limit || points.size() < 4) return false;
    std::size_t kept = 1;
    const std::size_t last = points.size() - 1;
    for (std::size_t at = 1; at < last; at += 2) {
        const bool second = at + 1 < last && weight(points[at + 1]) > weight(points[at]);
        points[kept++] = points[second ? at + 1 : at];
    }
    points[kept++] = points[last];
    points.resize(kept);
    return true;
}

}  // namespace hopscope::models
