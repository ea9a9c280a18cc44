#include "executor/loop/batch_order.h"

#include <algorithm>

#include "executor/loop/loop_work.h"

namespace hopscope::executor {

namespace {

constexpr std::int64_t piecesEach = 32;  // of a GPU: enough for equal work, and few copies from one GPU to another

}  // namespace

BatchOrder::BatchOrder(Session& session, LoopBooks& books, Ranges ranges)
    : m_session(session),
      m_books(books),
      m_left(std::move(ranges))
{}

void BatchOrder::finished(BatchFigures figures, Contributions contributions)
{
    const std::lock_guard lock(m_session.mutex());
    const std::int64_t first = figures.first;
    m_waiting.emplace(first, Waiting{std::move(figures), std::move(contributions)});
    while (!m_waiting.empty() && m_range < m_left.size() && m_waiting.begin()->first == m_left[m_range].first) {
        const Waiting next = std::move(m_waiting.extract(m_waiting.begin()).mapped());
        if (!next.contributions.empty()) mergeInto(m_session, next.contributions);
        m_books.account(next.figures);
        advance(next.figures.destinations);
    }
}

void BatchOrder::advance(std::int64_t destinations)
{
    Destinations& range = m_left[m_range];
    range.first += destinations;
    range.count -= destinations;
    if (range.count == 0) ++m_range;
}

void BatchOrder::tooLarge(LoopSizer& sizer, const Destinations& destinations)
{
    const std::lock_guard lock(m_session.mutex());
    m_books.tooLarge(sizer, destinations);
}

void BatchOrder::numbered(std::int64_t count)
{
    const std::lock_guard lock(m_session.mutex());
    m_session.report.rowNumbers += count;
}

std::vector<Ranges> dealTiles(Session& session, const LoopProgram& program, const Ranges& ranges, std::size_t gpus)
{
    LoopSizer sizer(session, program, 1);
    const std::int64_t tile = program.gpuTile.value(), pieces = piecesEach * static_cast<std::int64_t>(gpus);
    const std::int64_t piece = tile * std::max<std::int64_t>(sizeOf(ranges) / (tile * pieces), 1);
    std::vector<Ranges> dealt(gpus);
    std::vector<double> work(gpus, 0);
    for (const Destinations& range : ranges)
        for (std::int64_t first = range.first, end = first + range.count; first < end;) {
            const Destinations next{first, std::min(piece - first % piece, end - first)};
            const auto least = static_cast<std::size_t>(std::ranges::min_element(work) - work.begin());
            dealt[least].push_back(next);
            work[least] += workOf(sizer, next);
            first += next.count;
        }
    return dealt;
}

}  // namespace hopscope::executor
