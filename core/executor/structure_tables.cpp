// Structure: table sizes, key columns and adjacencies.

#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "analysis/naming/table_labels.h"
#include "analysis/naming/value_names.h"
#include "executor/structure.h"

namespace hopscope::executor {

using analysis::SpaceKind;
using base::ErrorCode;

namespace {

constexpr std::int64_t grain = 1 << 16;
constexpr std::int64_t mostNarrow = std::numeric_limits<std::int32_t>::max();

}  // namespace

std::int64_t Structure::size(ir::SpaceId space)
{
    const std::lock_guard lock(m_mutex);
    const auto it = m_sizes.find(space);
    if (it != m_sizes.end()) return it->second;
    const std::int64_t rows = countRows(space);
    m_sizes[space] = rows;
    return rows;
}

std::int64_t Structure::countRows(ir::SpaceId space)
{
    const analysis::Space& s = m_analysis.tables.space(space);
    switch (s.kind) {
    case SpaceKind::Filter: return m_columns.selected(space);
    case SpaceKind::Perm: return size(s.parent);
    case SpaceKind::Cat:
        return std::accumulate(s.parts.begin(), s.parts.end(), std::int64_t{0},
                               [this](std::int64_t sum, ir::SpaceId part) { return sum + size(part); });
    case SpaceKind::Edge: return column(space, m_analysis.tables.endKey(0)).rows;
    case SpaceKind::Node:
    case SpaceKind::Graph: return largestKey(space) + 1;
    case SpaceKind::Opaque: break;
    }
    raise(ErrorCode::Internal, "unknown number of rows: " + analysis::tableLabel(m_analysis.tables, space));
}

// The largest number that any input column holds as a row of `target`, or -1.
std::int64_t Structure::largestKey(ir::SpaceId target)
{
    std::int64_t most = -1;
    const auto include = [&](const at::Tensor& t) {
        if (t.numel()) most = std::max(most, t.max().item<std::int64_t>());
    };
    for (const ir::NamedValue& in : m_analysis.program.inputs) {
        const analysis::ValueInfo& info = m_analysis.info(in.value);
        const at::Tensor t = value(in.value);
        if (info.role && info.role->target == target) include(t);
        for (std::size_t i = 0; i < info.pairRoles.size(); ++i)
            if (info.pairRoles[i].target == target)
                include(t.select(m_analysis.rowDim(in.value) == 0 ? 1 : 0, static_cast<std::int64_t>(i)));
    }
    return most;
}

const Column& Structure::column(ir::SpaceId space, ir::KeyId key)
{
    const std::lock_guard lock(m_mutex);
    checkStop();
    return m_columns.column(space, key);
}

const Column& Structure::parentRows(ir::SpaceId space)
{
    const std::lock_guard lock(m_mutex);
    checkStop();
    return m_columns.parentRows(space);
}

const graph::Adjacency& Structure::adjacency(ir::SpaceId space, ir::KeyId key)
{
    const std::lock_guard lock(m_mutex);
    const auto it = m_adjacencies.find({space, key});
    if (it != m_adjacencies.end()) return it->second;
    checkStop();
    return m_adjacencies.emplace(std::pair{space, key}, built(space, key)).first->second;
}

graph::Adjacency Structure::built(ir::SpaceId space, ir::KeyId key)
{
    const Column keys = m_columns.checked(space, key);
    const ir::SpaceId target = m_analysis.tables.target(space, key);
    const std::int64_t targets = size(target);
    graph::Adjacency made =
        unwrap(keys.narrow ? graph::Adjacency::build(keys.narrow, 1, keys.rows, targets, m_scratch, m_threads)
                           : graph::Adjacency::build(keys.data, keys.stride, keys.rows, targets, m_scratch, m_threads));
    const std::int64_t* const order = nodeAt(target);
    return order ? unwrap(made.arranged(order, m_scratch, m_threads)) : made;
}

const std::int64_t* Structure::nodeAt(ir::SpaceId type) const
{
    const auto it = m_nodeAt.find(type);
    return it == m_nodeAt.end() ? nullptr : it->second.data();
}

const std::int64_t* Structure::placeOf(ir::SpaceId type) const
{
    const auto it = m_placeOf.find(type);
    return it == m_placeOf.end() ? nullptr : it->second.data();
}

void Structure::arrangeNodes(ir::SpaceId type, graph::NodeOrder order)
{
    const std::lock_guard lock(m_mutex);
    graph::NodeOrder places(order.size());
    at::parallel_for(0, static_cast<std::int64_t>(order.size()), grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t p = first; p < last; ++p)
            places[static_cast<std::size_t>(order[static_cast<std::size_t>(p)])] = p;
    });
    for (auto& [table, adjacency] : m_adjacencies) {
        if (m_analysis.tables.target(table.first, table.second) != type) continue;
        graph::Adjacency next = unwrap(adjacency.arranged(order.data(), m_scratch, m_threads));
        for (auto& [key, column] : m_owned)
            if (std::get<0>(key) == table.first && std::get<1>(key) == table.second)
                column = arranged(column, adjacency, next, order, isWide(std::get<0>(key), std::get<2>(key)), m_scratch,
                                  m_threads);
        adjacency = std::move(next);
    }
    std::erase_if(m_ownedValues, [&](const auto& made) {
        const ir::RowClass& rows = made.first.second;
        return m_analysis.tables.target(rows.table, rows.key) == type;
    });
    m_nodeAt.emplace(type, std::move(order));
    m_placeOf.emplace(type, std::move(places));
}

const OwnedColumn& Structure::ownedColumn(ir::SpaceId space, ir::KeyId owner, ir::KeyId key, Numbers numbers)
{
    const std::lock_guard lock(m_mutex);
    const std::int64_t* const places = placeOf(m_analysis.tables.target(space, key));
    const std::tuple name{space, owner, key, places ? numbers : Numbers::Input};
    const auto it = m_owned.find(name);
    if (it != m_owned.end()) return it->second;
    if (std::get<3>(name) == Numbers::Input)
        return m_owned.emplace(name, alongAdjacency(space, owner, key)).first->second;
    const OwnedColumn& input = ownedColumn(space, owner, key);
    OwnedColumn made =
        inPlaces(input, adjacency(space, owner).rows(), places, isWide(space, key), m_scratch, m_threads);
    return m_owned.emplace(name, std::move(made)).first->second;
}

bool Structure::isWide(ir::SpaceId space, ir::KeyId key)
{
    return size(m_analysis.tables.target(space, key)) > mostNarrow;
}

OwnedColumn Structure::alongAdjacency(ir::SpaceId space, ir::KeyId owner, ir::KeyId key)
{
    const graph::Adjacency& order = adjacency(space, owner);
    checkStop();
    const Column keys = m_columns.passing(space, key);
    const std::int64_t rows = order.rows();
    if (auto given = m_columnsInPlace ? OwnedColumn::inPlace(keys, order) : std::nullopt) return std::move(*given);
    OwnedColumn made = OwnedColumn::ofSize(rows, isWide(space, key), m_scratch);
    made.with([&](auto* to) {
        using Kept = std::remove_pointer_t<decltype(to)>;
        keys.with([&](auto keyOf) {
            at::parallel_for(0, rows, grain, [&](std::int64_t first, std::int64_t last) {
                order.eachRow(first, last,
                              [&](std::int64_t p, std::int64_t row) { to[p] = static_cast<Kept>(keyOf(row)); });
            });
        });
    });
    return made;
}

}  // namespace hopscope::executor
