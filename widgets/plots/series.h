#pragma once

// A growing curve that is drawn in time proportional to the pixels it covers, however many points it has. For this
// purpose, it also keeps the smallest and largest of every 4, 16, 64, ... points.

#include <cstdint>
#include <vector>

namespace hopscope::plots {

struct Point {
    double x = 0, y = 0;
    bool operator==(const Point&) const = default;
};

class Series {
public:
    // Appends a point in amortised constant time. An x below the last one is replaced by the last one.
    void append(double x, double y);
    void clear();

    [[nodiscard]] std::size_t size() const { return m_points.size(); }
    [[nodiscard]] const std::vector<Point>& points() const { return m_points; }
    [[nodiscard]] double lastX() const { return m_points.empty() ? 0 : m_points.back().x; }
    [[nodiscard]] double largest() const { return m_largest; }

    // Returns the points to draw between two x, with one point beyond either end: all points if there are at most
    // `limit`, otherwise the smallest and largest of each of at most `limit` groups, in order of x. O(limit + log
    // size).
    [[nodiscard]] std::vector<Point> thinned(double from, double to, std::size_t limit) const;
    // Returns the point nearest to an x; null if there is none. O(log size).
    [[nodiscard]] const Point* nearest(double x) const;

private:
    struct Extremes {
        std::uint32_t least = 0, most = 0;  // indices of points
    };

    void group(std::uint32_t point);

    std::vector<Point> m_points;
    std::vector<std::vector<Extremes>> m_levels;
    double m_largest = 0;
};

}  // namespace hopscope::plots
