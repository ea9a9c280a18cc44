#include "executor/loop/loop_work.h"

#include <algorithm>
#include <cmath>

namespace hopscope::executor {

namespace {

constexpr double workOfRow = 8;  // in edges: a product of a row against a gather

}  // namespace

double workOf(LoopSizer& sizer, const Destinations& destinations)
{
    return static_cast<double>(sizer.ownedRows(destinations)) + workOfRow * static_cast<double>(destinations.count);
}

LoopWork::LoopWork(Session& session, const LoopProgram& program, double budget) : m_ends{0}, m_work{0}
{
    LoopSizer sizer(session, program, budget, true);
    const std::int64_t count = session.structure.size(program.loop->destination);
    for (std::int64_t first = 0; first < count; first = m_ends.back()) {
        const std::int64_t left = count - first;
        const Destinations unit{first, program.tiling ? std::min(program.tiling->rows, left)
                                                      : sizer.next(first, left, nullptr)};
        m_ends.push_back(first + unit.count);
        m_work.push_back(m_work.back() + workOf(sizer, unit));
    }
}

bool LoopWork::mayCutAt(std::int64_t destination) const { return std::ranges::binary_search(m_ends, destination); }

double LoopWork::before(std::int64_t destination) const
{
    return m_work[static_cast<std::size_t>(std::ranges::lower_bound(m_ends, destination) - m_ends.begin())];
}

std::int64_t LoopWork::cutAfter(double work) const
{
    const auto at = std::ranges::lower_bound(m_work, work) - m_work.begin();
    return m_ends[std::min(static_cast<std::size_t>(at), m_ends.size() - 1)];
}

std::vector<std::int64_t> LoopWork::cuts(int parts) const
{
    std::vector<std::int64_t> cuts{0};
    for (int i = 1; i < parts; ++i) cuts.push_back(cutAfter(total() * i / parts));
    cuts.push_back(m_ends.back());
    return cuts;
}

std::vector<ShardRange> LoopWork::pieces(const Destinations& range, int loop, double each) const
{
    const std::int64_t end = range.first + range.count;
    const double begin = before(range.first), all = before(end) - begin;
    const int parts = static_cast<int>(std::max(std::round(all / std::max(each, 1.0)), 1.0));
    std::vector<ShardRange> made;
    std::int64_t first = range.first;
    for (int i = 1; i <= parts; ++i) {
        const std::int64_t cut = i == parts ? end : std::min(cutAfter(begin + all * i / parts), end);
        if (cut == first) continue;
        made.push_back({.loop = loop, .first = first, .count = cut - first, .work = before(cut) - before(first)});
        first = cut;
    }
    return made;
}

}  // namespace hopscope::executor
