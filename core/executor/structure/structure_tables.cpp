// Structure: table sizes, key columns, adjacencies and orders of nodes.

#include <algorithm>
#include <numeric>

#include <ATen/ATen.h>

#include "analysis/naming/table_labels.h"
#include "analysis/naming/value_names.h"
#include "executor/structure.h"

namespace hopscope::executor {

using analysis::SpaceKind;
using base::ErrorCode;

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
    case SpaceKind::Graph: return s.isAdded() ? s.rows : std::max(s.rows, largestKey(space) + 1);
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
        if (info.role && info.role->target == target) include(value(in.value));
        for (std::size_t i = 0; i < info.pairRoles.size(); ++i)
            if (info.pairRoles[i].target == target)
                include(value(in.value).select(m_analysis.rowDim(in.value) == 0 ? 1 : 0, static_cast<std::int64_t>(i)));
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
    return m_adjacencies.adjacency(space, key);
}

const std::vector<kernels::HubPiece>& Structure::hubPieces(ir::SpaceId space, ir::KeyId key)
{
    const std::lock_guard lock(m_mutex);
    return m_adjacencies.hubPieces(space, key);
}

const OwnedColumn& Structure::ownedColumn(ir::SpaceId space, ir::KeyId owner, ir::KeyId key, Numbers numbers)
{
    const std::lock_guard lock(m_mutex);
    return m_adjacencies.column({space, owner, key}, numbers);
}

std::int64_t Structure::numberBytes(ir::SpaceId space, ir::KeyId key)
{
    const std::lock_guard lock(m_mutex);
    return m_adjacencies.isWide(space, key) ? 8 : 4;
}

void Structure::arrangeNodes(ir::SpaceId type, graph::NodeOrder order)
{
    const std::lock_guard lock(m_mutex);
    m_adjacencies.arrangeNodes(type, std::move(order));
    std::erase_if(m_ownedValues, [&](const auto& made) {
        const ir::RowClass& rows = made.first.second;
        return m_analysis.tables.target(rows.table, rows.key) == type;
    });
}

}  // namespace hopscope::executor
