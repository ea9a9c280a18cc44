#include "receptive/levels.h"

#include <algorithm>
#include <cstring>
#include <ranges>

#include "analysis/naming/table_labels.h"
#include "executor/input_rows.h"

namespace hopscope::receptive {

using analysis::Analysis;
using ir::KeyId;
using ir::SpaceId;
using Ids = std::vector<std::int64_t>;

namespace {

// The rows of declared tables behind some rows, ascending.
std::map<SpaceId, Ids> inputRows(executor::Structure& structure, const Analysis& analysis, SpaceId table,
                                 const Ids& rows)
{
    std::map<SpaceId, Ids> found;
    for (const std::int64_t row : rows) {
        const executor::InputRow input = executor::inputRow(structure, analysis, table, row);
        found[input.table].push_back(input.row);
    }
    for (auto& [space, ids] : found) std::ranges::sort(ids);
    return found;
}

base::TensorView tensorOf(const Ids& ids)
{
    base::OwnedTensor tensor = base::allocate(base::DType::Int64, {static_cast<std::int64_t>(ids.size())});
    std::memcpy(tensor.bytes, ids.data(), ids.size() * sizeof(std::int64_t));
    return tensor.view;
}

}  // namespace

std::int64_t idCount(const Demand& demand)
{
    std::int64_t count = 0;
    for (const auto& [needed, rows] : demand.rows) count += rows->count;
    for (const auto& [depth, edges] : demand.edges)
        for (const auto& [key, rows] : edges) count += 3 * rows->count;
    return count;
}

Levels::Levels(executor::Structure& structure, const Analysis& analysis, RowMoves& moves, const Backtrack& backtrack)
    : m_structure(structure),
      m_analysis(analysis),
      m_moves(moves),
      m_rowBytes(backtrack.rowBytes()),
      m_sources(backtrack.sources())
{}

schema::FieldRows Levels::rowsOf(const Needed& needed, const Rows& rows, bool listed)
{
    const auto bytes = m_rowBytes.find(needed);
    return {.table = analysis::tableLabel(m_analysis.tables, needed.table),
            .rows = rows.count,
            .of = m_structure.size(needed.table),
            .rowBytes = bytes == m_rowBytes.end() ? 0 : bytes->second,
            .ids = listed ? m_moves.listed(rows) : Ids{}};
}

void Levels::listEnds(schema::FieldEdges& edges, SpaceId space, KeyId owner, KeyId source, const Ids& rows)
{
    const executor::Column &to = m_structure.column(space, owner), &from = m_structure.column(space, source);
    for (const std::int64_t row : rows) {
        edges.toIds.push_back(to[row]);
        edges.fromIds.push_back(from[row]);
    }
}

schema::FieldEdges Levels::edgesOf(int depth, SpaceId space, KeyId owner, const Rows& rows, bool listed)
{
    const KeyId source = m_sources[depth][{space, owner}];
    const auto label = [&](KeyId key) {
        return key.valid() ? analysis::tableLabel(m_analysis.tables, m_analysis.tables.target(space, key))
                           : std::string();
    };
    schema::FieldEdges edges{.table = analysis::tableLabel(m_analysis.tables, space),
                             .from = label(source),
                             .to = label(owner),
                             .edges = rows.count,
                             .of = m_structure.size(space)};
    if (!listed) return edges;
    const Ids numbers = m_moves.listed(rows);
    for (auto& [table, ids] : inputRows(m_structure, m_analysis, space, numbers)) {
        const auto count = static_cast<std::int64_t>(ids.size());
        edges.parents.push_back(
            {.table = analysis::tableLabel(m_analysis.tables, table), .rows = count, .ids = std::move(ids)});
    }
    if (source.valid()) listEnds(edges, space, owner, source, numbers);
    return edges;
}

std::vector<schema::FieldLevel> Levels::describe(const Demand& demand, bool listed)
{
    std::map<int, schema::FieldLevel, std::greater<>> levels;
    const auto at = [&](int depth) -> schema::FieldLevel& {
        levels[depth].depth = depth;
        return levels[depth];
    };
    for (const auto& [needed, rows] : demand.rows) at(needed.depth).rows.push_back(rowsOf(needed, *rows, listed));
    for (const auto& [depth, edges] : demand.edges)
        for (const auto& [key, rows] : edges)
            at(depth).edges.push_back(edgesOf(depth, key.first, key.second, *rows, listed));
    std::vector<schema::FieldLevel> list;
    for (auto& [depth, level] : levels) list.push_back(std::move(level));
    return list;
}

std::vector<schema::FieldBlock> Levels::blocks(SpaceId table, std::int64_t row)
{
    std::vector<schema::FieldBlock> list;
    const RowsPtr start = m_moves.one(table, row);
    for (const auto& [depth, edges] : m_sources) {
        for (const auto& [key, source] : edges) {
            if (m_analysis.tables.target(key.first, key.second) != table) continue;
            const RowsPtr messages = m_moves.owned(key.first, key.second, start);
            const std::int64_t sources =
                source.valid() ? m_moves.targets(key.first, source, messages)->count : messages->count;
            list.push_back({.depth = depth,
                            .table = analysis::tableLabel(m_analysis.tables, key.first),
                            .edges = messages->count,
                            .sources = sources});
        }
    }
    std::ranges::reverse(list);
    return list;
}

std::vector<schema::FieldRead> Levels::reads(int depth, const Demand& demand) const
{
    std::vector<schema::FieldRead> list;
    for (const auto& [needed, rows] : std::views::reverse(demand.rows))
        list.push_back({.depth = depth,
                        .from = needed.depth,
                        .table = analysis::tableLabel(m_analysis.tables, needed.table),
                        .rows = rows->count});
    return list;
}

base::TensorMap Levels::ids(const std::vector<schema::FieldLevel>& levels) const
{
    base::TensorMap tensors;
    for (const schema::FieldLevel& level : levels) {
        const std::string prefix = "depth" + std::to_string(level.depth) + ".";
        for (const schema::FieldRows& rows : level.rows) tensors[prefix + rows.table] = tensorOf(rows.ids);
        for (const schema::FieldEdges& edges : level.edges) {
            const std::string name = prefix + edges.table;
            for (const schema::FieldParent& parent : edges.parents)
                tensors[name + " of " + parent.table] = tensorOf(parent.ids);
            tensors[name + " from"] = tensorOf(edges.fromIds);
            tensors[name + " to"] = tensorOf(edges.toIds);
        }
    }
    return tensors;
}

}  // namespace hopscope::receptive
