#include "plots/lanes.h"

#include <algorithm>
#include <cmath>

namespace hopscope::plots {

namespace {

constexpr double gapFrom = 4;  // pixels: narrower bars get no gap

}  // namespace

void Lane::append(const Interval& interval)
{
    if (m_intervals.empty() || m_intervals.back().start <= interval.start) {
        m_intervals.push_back(interval);
        return;
    }
    const auto later = [](const Interval& left, const Interval& right) { return left.start < right.start; };
    m_intervals.insert(std::upper_bound(m_intervals.begin(), m_intervals.end(), interval, later), interval);
}

std::pair<std::size_t, std::size_t> Lane::within(double from, double to) const
{
    const auto before = [](const Interval& interval, double moment) { return interval.end < moment; };
    const auto after = [](double moment, const Interval& interval) { return moment < interval.start; };
    const auto first = std::lower_bound(m_intervals.begin(), m_intervals.end(), from, before);
    const auto last = std::upper_bound(first, m_intervals.end(), to, after);
    return {static_cast<std::size_t>(first - m_intervals.begin()),
            static_cast<std::size_t>(last - m_intervals.begin())};
}

const Interval* Lane::at(double seconds) const
{
    const auto [first, last] = within(seconds, seconds);
    return first < last ? &m_intervals[first] : nullptr;
}

std::vector<Bar> barsOf(const Lane& lane, double from, double to, double left, double pixels)
{
    const double scale = pixels / (to - from);
    const auto [first, last] = lane.within(from, to);
    std::vector<Bar> bars;
    bars.reserve(last - first);
    for (std::size_t at = first; at < last; ++at) {
        const Interval& interval = lane.intervals()[at];
        const double begin = left + (interval.start - from) * scale;
        const double end = left + (interval.end - from) * scale;
        if (!bars.empty()) {
            Bar& before = bars.back();
            const bool wide = before.width >= gapFrom && end - begin >= gapFrom;
            if (wide) before.width = std::min(before.width, std::max(begin - 1 - before.left, gapFrom - 1));
        }
        bars.push_back({.left = begin, .width = std::max(end - begin, 1.0), .interval = &interval});
    }
    return bars;
}

std::vector<std::pair<std::size_t, const Interval*>> atOnce(std::span<const Lane* const> lanes, double seconds,
                                                            std::size_t besides)
{
    std::vector<std::pair<std::size_t, const Interval*>> found;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        if (lane == besides) continue;
        if (const Interval* interval = lanes[lane]->at(seconds)) found.emplace_back(lane, interval);
    }
    return found;
}

void Coverage::reset(double from, double to, int pixels)
{
    m_from = from;
    m_to = to;
    m_pixels.assign(static_cast<std::size_t>(std::max(pixels, 0)), 0.0F);
}

bool Coverage::covers(double from, double to, int pixels) const
{
    return from == m_from && to == m_to && static_cast<std::size_t>(std::max(pixels, 0)) == m_pixels.size();
}

void Coverage::add(const Interval& interval)
{
    const double scale = static_cast<double>(m_pixels.size()) / (m_to - m_from);
    const double left = std::max((interval.start - m_from) * scale, 0.0);
    const double right = std::min((interval.end - m_from) * scale, static_cast<double>(m_pixels.size()));
    for (double at = std::floor(left); at < right; at += 1) {
        const double part = std::min(right, at + 1) - std::max(left, at);
        float& pixel = m_pixels[static_cast<std::size_t>(at)];
        pixel = std::min(1.0F, pixel + static_cast<float>(part));
    }
}

}  // namespace hopscope::plots
