#include "plots/label_place.h"

#include <algorithm>

namespace hopscope::plots {

bool crosses(const QLineF& line, const QRectF& words)
{
    if (words.contains(line.p1()) || words.contains(line.p2())) return true;
    const QLineF sides[] = {{words.topLeft(), words.topRight()},
                            {words.topRight(), words.bottomRight()},
                            {words.bottomRight(), words.bottomLeft()},
                            {words.bottomLeft(), words.topLeft()}};
    return std::ranges::any_of(
        sides, [&](const QLineF& side) { return line.intersects(side, nullptr) == QLineF::BoundedIntersection; });
}

QRectF clearPlace(const QList<QRectF>& places, const QList<QLineF>& lines, const QList<QRectF>& taken)
{
    const auto clear = [&](const QRectF& place) {
        return std::ranges::none_of(lines, [&](const QLineF& line) { return crosses(line, place); }) &&
               std::ranges::none_of(taken, [&](const QRectF& other) { return other.intersects(place); });
    };
    const auto found = std::ranges::find_if(places, clear);
    return found == places.end() ? places.front() : *found;
}

QList<QLineF> linesBetween(const QList<QPointF>& points)
{
    QList<QLineF> lines;
    for (qsizetype at = 1; at < points.size(); ++at) lines.append({points[at - 1], points[at]});
    return lines;
}

}  // namespace hopscope::plots
