#include "executor/owned_ranges.h"

#include <algorithm>

namespace hopscope::executor {

OwnedRanges::OwnedRanges(Session& session, const StagePrograms& programs, double budget, int count) : m_count(count)
{
    std::map<ir::SpaceId, std::vector<LoopNumber>> byType;
    for (std::size_t s = 0; s < programs.size(); ++s)
        for (std::size_t l = 0; l < programs[s].size(); ++l) {
            const LoopNumber number{plan::StageId::at(s), static_cast<int>(l) + 1};
            m_work.try_emplace(number, session, programs[s][l], budget);
            byType[programs[s][l].loop->destination].push_back(number);
        }
    for (const auto& [type, loops] : byType) cut(loops);
}

// Loops over one type.
void OwnedRanges::cut(const std::vector<LoopNumber>& loops)
{
    std::vector<std::int64_t> places;
    double total = 0;
    for (const LoopNumber& loop : loops) {
        const std::vector<std::int64_t>& own = work(loop).places();
        places.insert(places.end(), own.begin(), own.end());
        total += work(loop).total();
        m_cuts[loop] = {0};
    }
    std::ranges::sort(places);
    const auto before = [&](std::int64_t place) {
        double sum = 0;
        for (const LoopNumber& loop : loops) sum += work(loop).before(place);
        return sum;
    };
    for (int i = 1; i < m_count; ++i) {
        const std::int64_t place = *std::ranges::lower_bound(places, total * i / m_count, {}, before);
        for (const LoopNumber& loop : loops) m_cuts[loop].push_back(work(loop).nearest(place));
    }
    for (const LoopNumber& loop : loops) m_cuts[loop].push_back(work(loop).places().back());
}

Destinations OwnedRanges::of(const LoopNumber& loop, int owner) const
{
    if (owner == 0) return {};
    const std::vector<std::int64_t>& cuts = m_cuts.at(loop);
    const auto at = static_cast<std::size_t>(owner);
    return {cuts[at - 1], cuts[at] - cuts[at - 1]};
}

}  // namespace hopscope::executor
