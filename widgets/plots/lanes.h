#pragma once

// Computes intervals in lanes over time, and their appearance on a row of pixels: geometry without painting.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "plan/stage_id.h"

namespace hopscope::plots {

struct Interval {
    double start = 0, end = 0;  // seconds
    plan::StageId stage{1};
    std::int64_t batch = 0;
};

// The intervals of a lane, ordered by start. They do not overlap by more than rounding.
class Lane {
public:
    void append(const Interval& interval);  // amortised constant time if in order of start
    void clear() { m_intervals.clear(); }
    [[nodiscard]] const std::vector<Interval>& intervals() const { return m_intervals; }
    // Returns the intervals that touch a range, as indices [first, last). O(log size).
    [[nodiscard]] std::pair<std::size_t, std::size_t> within(double from, double to) const;
    // Returns the interval at a point in time; null if there is none.
    [[nodiscard]] const Interval* at(double seconds) const;

private:
    std::vector<Interval> m_intervals;
};

// An interval as drawn.
struct Bar {
    double left = 0, width = 0;  // pixels
    const Interval* interval = nullptr;
};

// Returns bars for the intervals of a lane that touch the time from `from` to `to`, drawn over `pixels` pixels starting
// at `left`, at their true times. No bar is narrower than a pixel. Of two wide bars that touch, the first leaves a
// pixel free, so that batches stay distinguishable. Bars may extend beyond both ends. Linear in the number of returned
// bars.
std::vector<Bar> barsOf(const Lane& lane, double from, double to, double left, double pixels);

// Returns the intervals of other lanes at a point in time as (lane, interval), without the lane `besides`.
std::vector<std::pair<std::size_t, const Interval*>> atOnce(std::span<const Lane* const> lanes, double seconds,
                                                            std::size_t besides);

// The covered share of each pixel's time, 0..1, over a range of time; it is extended as its lane grows.
class Coverage {
public:
    void reset(double from, double to, int pixels);
    [[nodiscard]] bool covers(double from, double to, int pixels) const;
    void add(const Interval& interval);
    [[nodiscard]] const std::vector<float>& pixels() const { return m_pixels; }

private:
    double m_from = 0, m_to = 0;
    std::vector<float> m_pixels;
};

}  // namespace hopscope::plots
