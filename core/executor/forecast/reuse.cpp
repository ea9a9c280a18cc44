#include "executor/forecast/reuse.h"

#include <algorithm>

namespace hopscope::forecast {

namespace {

constexpr int windows = 3;
constexpr std::int64_t mostSteps = 1 << 20;    // of a window
constexpr std::int64_t enoughSteps = 1 << 17;  // of a window that suffices alone
constexpr std::int64_t leastMeasured = 1 << 10;

}  // namespace

Reuse::Reuse(Row row, std::int64_t count, std::int64_t rows) : m_row(std::move(row)), m_count(count), m_rows(rows) {}

double Reuse::misses(double held)
{
    if (m_count == 0) return 0;
    if (m_marks.empty()) m_marks.assign(static_cast<std::size_t>(m_rows), -1);
    double sum = 0;
    for (int w = 0; w < windows; ++w) {
        const Share share = missesFrom(m_count / windows * w, held);
        if (share.reads >= enoughSteps) return share.misses;
        sum += share.misses;
    }
    return sum / windows;
}

// Windows wrap around to the beginning where the positions end.
Reuse::Share Reuse::missesFrom(std::int64_t first, double held)
{
    ++m_window;
    std::int64_t at = first, steps = 0, distinct = 0;
    const auto meet = [&] {
        std::int32_t& mark = m_marks[static_cast<std::size_t>(m_row(at))];
        const bool isNew = mark != m_window;
        mark = m_window;
        at = at + 1 == m_count ? 0 : at + 1;
        ++steps;
        return isNew;
    };
    const std::int64_t most = std::min(mostSteps, m_count);
    while (steps < most && static_cast<double>(distinct) < held) distinct += meet();
    if (static_cast<double>(distinct) < held && steps == m_count)  // all fits: each row is met once
        return {static_cast<double>(distinct) / static_cast<double>(m_count), steps};
    const std::int64_t until = steps + std::max(steps / 8, leastMeasured);
    const std::int64_t begin = steps;
    std::int64_t fresh = 0;
    while (steps < until) fresh += meet();
    return {static_cast<double>(fresh) / static_cast<double>(until - begin), steps};
}

}  // namespace hopscope::forecast
