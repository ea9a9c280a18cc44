#pragma once

// Intervals in lanes over time, and their appearance on a row of pixels: geometry without painting.

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

// Intervals by start; a lane's intervals do not overlap by more than rounding.
class Lane {
public:
    void append(const Interval& interval);  // amortised constant when in order of start
    void clear() { m_intervals.clear(); }
    [[nodiscard]] const std::vector<Interval>& intervals() const { return m_intervals; }
    // The intervals that touch a range: [first, last). O(log size).
    [[nodiscard]] std::pair<std::size_t, std::size_t> within(double from, double to) const;
    // The interval at a moment; null if there is none.
    [[nodiscard]] const Interval* at(double seconds) const;

private:
    std::vector<Interval> m_intervals;
};

// An interval as it is drawn.
struct Bar {
    double left = 0, width = 0;  // pixels
    const Interval* interval = nullptr;
};

// The intervals of a lane that touch the time from `from` to `to`, drawn over `pixels` pixels from `left` on, at their true
// times. None is narrower than a pixel; of two wide ones that touch, the first leaves a pixel free, so that batches stay
// distinguishable. They may reach beyond both ends. Linear in the number of returned bars.
std::vector<Bar> barsOf(const Lane& lane, double from, double to, double left, double pixels);

// The intervals of other lanes at a moment, each with its batch: (lane, interval), without the lane `besides`.
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
