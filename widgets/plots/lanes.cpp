#include "plots/lanes.h"

#include <algorithm>
#include <cmath>

namespace hopscope::plots {

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
