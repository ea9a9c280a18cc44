#include "plots/series.h"

#include <algorithm>

namespace hopscope::plots {

namespace {

constexpr unsigned bitsPerLevel = 2;

}  // namespace

void Series::append(double x, double y)
{
    if (!m_points.empty()) x = std::max(x, m_points.back().x);
    m_points.push_back({x, y});
    m_largest = m_points.size() == 1 ? y : std::max(m_largest, y);
    group(static_cast<std::uint32_t>(m_points.size() - 1));
}

void Series::clear()
{
    m_points.clear();
    m_levels.clear();
    m_largest = 0;
}

// Adds the newest point to the last group of every level; a level begins when the one below has two groups.
void Series::group(std::uint32_t point)
{
    for (std::size_t level = 0;; ++level) {
        const std::uint32_t number = point >> (bitsPerLevel * (level + 1));
        if (level == m_levels.size()) {
            if (level > 0 && m_levels.back().size() < 2) return;
            m_levels.emplace_back();
            if (level > 0) m_levels[level].push_back(m_levels[level - 1].front());
        }
        std::vector<Extremes>& groups = m_levels[level];
        if (number >= groups.size()) groups.push_back({point, point});
        Extremes& extremes = groups[number];
        if (m_points[point].y < m_points[extremes.least].y) extremes.least = point;
        if (m_points[point].y > m_points[extremes.most].y) extremes.most = point;
    }
}

std::vector<Point> Series::thinned(double from, double to, std::size_t limit) const
{
    const auto before = [](const Point& point, double x) { return point.x < x; };
    const auto after = [](double x, const Point& point) { return x < point.x; };
    auto first =
        static_cast<std::size_t>(std::lower_bound(m_points.begin(), m_points.end(), from, before) - m_points.begin());
    auto last =
        static_cast<std::size_t>(std::upper_bound(m_points.begin(), m_points.end(), to, after) - m_points.begin());
    first -= first > 0 ? 1 : 0;
    last += last < m_points.size() ? 1 : 0;
    if (last <= first) return {};
    if (last - first <= limit || m_levels.empty())
        return {m_points.begin() + static_cast<std::ptrdiff_t>(first),
                m_points.begin() + static_cast<std::ptrdiff_t>(last)};
    std::size_t level = 0;
    while (level + 1 < m_levels.size() && ((last - first) >> (bitsPerLevel * (level + 1))) > limit) ++level;
    const unsigned shift = bitsPerLevel * static_cast<unsigned>(level + 1);
    std::vector<Point> found{m_points[first]};
    for (std::size_t number = first >> shift; number <= (last - 1) >> shift; ++number) {
        const auto [low, high] = std::minmax(m_levels[level][number].least, m_levels[level][number].most);
        if (low > first && low < last) found.push_back(m_points[low]);
        if (high != low && high > first && high < last) found.push_back(m_points[high]);
    }
    if (found.back().x < m_points[last - 1].x) found.push_back(m_points[last - 1]);
    return found;
}

const Point* Series::nearest(double x) const
{
    if (m_points.empty()) return nullptr;
    const auto at = std::lower_bound(m_points.begin(), m_points.end(), x,
                                     [](const Point& point, double wanted) { return point.x < wanted; });
    if (at == m_points.begin()) return &*at;
    if (at == m_points.end()) return &m_points.back();
    return at->x - x < x - (at - 1)->x ? &*at : &*(at - 1);
}

}  // namespace hopscope::plots
