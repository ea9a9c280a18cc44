#include "executor/structure/adjacencies.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include <ATen/Parallel.h>

#include "executor/failure.h"

namespace hopscope::executor {

namespace {

constexpr std::int64_t grain = 1 << 16;
constexpr std::int64_t mostNarrow = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t rowsLookedAt = 1 << 14;

// Whether the first rows of the keys ascend: then all of them, or nearly all, are in order, and no sorting is needed.
bool looksSorted(const Column& keys)
{
    for (std::int64_t row = 1; row < std::min(keys.rows, rowsLookedAt); ++row)
        if (keys[row] < keys[row - 1]) return false;
    return true;
}

}  // namespace

bool Adjacencies::isWide(ir::SpaceId space, ir::KeyId key) const
{
    return m_size(m_tables.target(space, key)) > mostNarrow;
}

// ---- the cache

void Adjacencies::cacheIn(const std::string& folder)
{
    if (!m_cache) m_cache.emplace(folder, m_tables, m_columns, m_size, m_threads);
}

bool Adjacencies::caches(ir::SpaceId space) const { return m_cache && m_cache->keeps(space); }

// ---- adjacencies

const graph::Adjacency& Adjacencies::adjacency(ir::SpaceId space, ir::KeyId key)
{
    if (const graph::Adjacency* const made = known(space, key)) return *made;
    m_checkStop();
    return m_adjacencies.emplace(Name{space, key}, built(space, key)).first->second;
}

const graph::Adjacency* Adjacencies::known(ir::SpaceId space, ir::KeyId key) const
{
    const auto it = m_adjacencies.find({space, key});
    return it == m_adjacencies.end() ? nullptr : &it->second;
}

graph::Adjacency Adjacencies::built(ir::SpaceId space, ir::KeyId key)
{
    const Column keys = m_columns.checked(space, key);
    const ir::SpaceId target = m_tables.target(space, key);
    const std::int64_t* const order = nodeAt(target);
    const auto make = [&] {
        graph::Adjacency made = builtFrom(keys, target);
        return order ? unwrap(made.arranged(order, m_scratch, m_threads)) : made;
    };
    const bool slow = order || !looksSorted(keys);
    const auto targetOf = [&, places = placeOf(target)](std::int64_t row) {
        return places ? places[keys[row]] : keys[row];
    };
    return slow && caches(space) ? m_cache->adjacency(space, key, targetOf, make) : make();
}

graph::Adjacency Adjacencies::builtFrom(const Column& keys, ir::SpaceId target)
{
    const std::int64_t targets = m_size(target);
    return unwrap(keys.narrow
                      ? graph::Adjacency::build(keys.narrow, 1, keys.rows, targets, m_scratch, m_threads)
                      : graph::Adjacency::build(keys.data, keys.stride, keys.rows, targets, m_scratch, m_threads));
}

const std::vector<kernels::HubPiece>& Adjacencies::hubPieces(ir::SpaceId space, ir::KeyId key)
{
    const auto it = m_pieces.find({space, key});
    if (it != m_pieces.end()) return it->second;
    const graph::Adjacency& rows = adjacency(space, key);
    return m_pieces.emplace(Name{space, key}, kernels::hubPieces(rows.offsets(), rows.targets())).first->second;
}

// ---- columns

const OwnedColumn& Adjacencies::column(const EdgeKeys& keys, Numbers numbers)
{
    const std::int64_t* const places = placeOf(m_tables.target(keys.table, keys.key));
    const ColumnName name{keys.table, keys.owner, keys.key, places ? numbers : Numbers::Input};
    const auto it = m_owned.find(name);
    if (it != m_owned.end()) return it->second;
    OwnedColumn made = std::get<Numbers>(name) == Numbers::Input ? along(keys) : inPlacesAlong(keys, places);
    return m_owned.emplace(name, std::move(made)).first->second;
}

OwnedColumn Adjacencies::along(const EdgeKeys& keys)
{
    const graph::Adjacency& order = adjacency(keys.table, keys.owner);
    m_checkStop();
    const auto make = [&] { return copiedAlong(order, keys); };
    const bool slow = order.numbered() || nodeAt(m_tables.target(keys.table, keys.owner));
    return slow && caches(keys.table) ? m_cache->column(keys, Numbers::Input, order, nullptr, make) : make();
}

OwnedColumn Adjacencies::copiedAlong(const graph::Adjacency& order, const EdgeKeys& keys)
{
    const Column column = m_columns.passing(keys.table, keys.key);
    if (auto given = m_columnsInPlace ? OwnedColumn::inPlace(column, order) : std::nullopt) return std::move(*given);
    OwnedColumn made = OwnedColumn::ofSize(order.rows(), isWide(keys.table, keys.key), m_scratch);
    made.with([&](auto* to) {
        using Kept = std::remove_pointer_t<decltype(to)>;
        column.with([&](auto keyOf) {
            at::parallel_for(0, order.rows(), grain, [&](std::int64_t first, std::int64_t last) {
                order.eachRow(first, last,
                              [&](std::int64_t p, std::int64_t row) { to[p] = static_cast<Kept>(keyOf(row)); });
            });
        });
    });
    return made;
}

OwnedColumn Adjacencies::inPlacesAlong(const EdgeKeys& keys, const std::int64_t* places)
{
    const auto make = [&] {
        const OwnedColumn& input = column(keys, Numbers::Input);
        return inPlaces(input, adjacency(keys.table, keys.owner).rows(), places, isWide(keys.table, keys.key),
                        m_scratch, m_threads);
    };
    return caches(keys.table) ? m_cache->column(keys, Numbers::Places, adjacency(keys.table, keys.owner), places, make)
                              : make();
}

// ---- orders of nodes

const std::int64_t* Adjacencies::nodeAt(ir::SpaceId type) const
{
    const auto it = m_nodeAt.find(type);
    return it == m_nodeAt.end() ? nullptr : it->second.data();
}

const std::int64_t* Adjacencies::placeOf(ir::SpaceId type) const
{
    const auto it = m_placeOf.find(type);
    return it == m_placeOf.end() ? nullptr : it->second.data();
}

void Adjacencies::arrangeNodes(ir::SpaceId type, graph::NodeOrder order)
{
    graph::NodeOrder places(order.size());
    at::parallel_for(0, static_cast<std::int64_t>(order.size()), grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t p = first; p < last; ++p)
            places[static_cast<std::size_t>(order[static_cast<std::size_t>(p)])] = p;
    });
    if (m_cache) m_cache->arrange(type, order);
    m_nodeAt.emplace(type, std::move(order));
    m_placeOf.emplace(type, std::move(places));
    m_pieces.clear();
    for (auto& [name, adjacency] : m_adjacencies) {
        if (m_tables.target(name.first, name.second) != type) continue;
        graph::Adjacency next = arrangedFrom(name, adjacency);
        arrangeColumns(name, adjacency, next);
        adjacency = std::move(next);
    }
}

graph::Adjacency Adjacencies::arrangedFrom(const Name& name, const graph::Adjacency& adjacency)
{
    const auto [space, key] = name;
    const std::int64_t* const order = nodeAt(m_tables.target(space, key));
    const auto make = [&] { return unwrap(adjacency.arranged(order, m_scratch, m_threads)); };
    if (!caches(space)) return make();
    const Column keys = m_columns.passing(space, key);
    const auto targetOf = [&, places = placeOf(m_tables.target(space, key))](std::int64_t row) {
        return places[keys[row]];
    };
    return m_cache->adjacency(space, key, targetOf, make);
}

// Columns along `from` that are there already, along `to`.
void Adjacencies::arrangeColumns(const Name& name, const graph::Adjacency& from, const graph::Adjacency& to)
{
    const std::int64_t* const order = nodeAt(m_tables.target(name.first, name.second));
    for (auto& [key, column] : m_owned) {
        const EdgeKeys keys{std::get<0>(key), std::get<1>(key), std::get<2>(key)};
        if (keys.table != name.first || keys.owner != name.second) continue;
        const auto make = [&, &old = column] {
            return arranged(old, from, to, order, isWide(keys.table, keys.key), m_scratch, m_threads);
        };
        const std::int64_t* const places = placeOf(m_tables.target(keys.table, keys.key));
        column = caches(keys.table) ? m_cache->column(keys, std::get<Numbers>(key), to, places, make) : make();
    }
}

}  // namespace hopscope::executor
