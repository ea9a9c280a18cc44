#include "executor/structure/use_order.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include <ATen/Parallel.h>

#include "executor/structure.h"

namespace hopscope::executor {

namespace {

constexpr std::int64_t grain = 1 << 16;
constexpr std::int32_t mostCounted = 1 << 20;

void count(const OwnedColumn& column, std::int64_t positions, std::vector<std::int32_t>& counts)
{
    at::parallel_for(0, positions, grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t p = first; p < last; ++p) {
            const std::atomic_ref<std::int32_t> uses(counts[static_cast<std::size_t>(column[p])]);
            if (uses.load(std::memory_order_relaxed) < mostCounted) uses.fetch_add(1, std::memory_order_relaxed);
        }
    });
}

// By counting: rows with many uses first.
void replaceByPlaces(std::vector<std::int32_t>& counts)
{
    for (std::int32_t& uses : counts) uses = std::min(uses, mostCounted);  // threads may have passed it together
    std::vector<std::int32_t> next(static_cast<std::size_t>(mostCounted) + 2, 0);  // by mostCounted - count
    for (const std::int32_t uses : counts) ++next[static_cast<std::size_t>(mostCounted - uses) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (std::int32_t& uses : counts) uses = next[static_cast<std::size_t>(mostCounted - uses)]++;
}

}  // namespace

const std::vector<std::int32_t>& UseOrders::places(ir::SpaceId table, const GatherColumns& columns)
{
    const std::lock_guard lock(m_mutex);
    const auto [known, fresh] = m_places.try_emplace(columns);
    std::vector<std::int32_t>& places = known->second;
    if (!fresh) return places;
    places.assign(static_cast<std::size_t>(m_structure.size(table)), 0);
    for (const GatherColumn& c : columns)
        count(m_structure.ownedColumn(c.space, c.owner, c.key), m_structure.adjacency(c.space, c.owner).rows(), places);
    replaceByPlaces(places);
    return places;
}

std::int64_t UseOrders::usesFrom(const GatherColumn& column, const std::vector<std::int32_t>& places,
                                 std::int64_t first, std::optional<PositionRange> positions)
{
    const std::lock_guard lock(m_mutex);
    const auto known = m_uses.find({column, &places, first});
    if (!positions && known != m_uses.end()) return known->second;
    const OwnedColumn& rows = m_structure.ownedColumn(column.space, column.owner, column.key);
    const PositionRange all{0, m_structure.adjacency(column.space, column.owner).rows()};
    const auto [from, to] = positions.value_or(all);
    std::atomic<std::int64_t> sum = 0;
    at::parallel_for(from, to, grain, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t here = 0;
        for (std::int64_t p = begin; p < end; ++p) here += places[static_cast<std::size_t>(rows[p])] >= first ? 1 : 0;
        sum += here;
    });
    if (!positions) m_uses[{column, &places, first}] = sum;
    return sum;
}

}  // namespace hopscope::executor
