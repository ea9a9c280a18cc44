#pragma once

// Paints a lane bar by bar while it has few intervals, otherwise as the load of each pixel's time.

#include <QPainter>

#include "plots/lanes.h"
#include "style/theme.h"

namespace hopscope::plots {

using TimeRange = std::pair<double, double>;

class PaintedLane {
public:
    void append(const Interval& interval);  // amortised constant time if in order of start
    void clear();
    [[nodiscard]] const Lane& lane() const { return m_lane; }
    // Returns true if the intervals of a range are distinguishable on so many pixels.
    [[nodiscard]] bool isSparse(const TimeRange& range, int pixels) const;
    // Paints the load of each pixel's time, and reuses earlier work for the same range and width.
    void paintCoverage(QPainter& painter, const QRect& rect, const TimeRange& range, const QColor& colour);

private:
    Lane m_lane;
    Coverage m_coverage;
    std::size_t m_counted = 0;  // intervals that are in the coverage
};

// Paints a number in the middle of a bar, if there is room.
void paintNumber(QPainter& painter, const QRectF& bar, const QColor& colour, std::int64_t number,
                 const style::Theme& theme);

}  // namespace hopscope::plots
