// Structure: table sizes, key columns and adjacencies.

#include <algorithm>
#include <numeric>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "analysis/naming/table_labels.h"
#include "analysis/naming/value_names.h"
#include "executor/structure.h"

namespace hopscope::executor {

using analysis::KeyKind;
using analysis::SpaceKind;
using base::ErrorCode;

namespace {

constexpr std::int64_t grain = 1 << 16;

std::int64_t largest(const Column& column)
{
    std::int64_t most = -1;
    for (std::int64_t i = 0; i < column.rows; ++i) most = std::max(most, column[i]);
    return most;
}

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
    case SpaceKind::Filter: return value(s.selector).sum().item<std::int64_t>();
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
    const auto it = m_columns.find({space, key});
    if (it != m_columns.end()) return it->second;
    checkStop();
    Column made = makeColumn(space, key);
    return m_columns[{space, key}] = std::move(made);
}

Column Structure::makeColumn(ir::SpaceId space, ir::KeyId key)
{
    const analysis::Space& s = m_analysis.tables.space(space);
    const analysis::Key& k = m_analysis.tables.key(key);
    if (k.kind == KeyKind::Of)
        return compose(column(m_analysis.tables.target(space, k.first), k.second), column(space, k.first));
    if (s.kind == SpaceKind::Filter || s.kind == SpaceKind::Perm) {
        if (k.kind == KeyKind::Pos) return parentRows(space);
        return compose(column(s.parent, key), parentRows(space));
    }
    switch (k.kind) {
    case KeyKind::Id:
    case KeyKind::Pos: return Column{nullptr, 1, size(space), nullptr};
    case KeyKind::End: {
        if (s.columns[k.end].valid()) return fromTensor(value(s.columns[k.end]));
        const int pairDim = m_analysis.rowDim(s.index) == 0 ? 1 : 0;
        return fromTensor(value(s.index).select(pairDim, k.end));
    }
    case KeyKind::Foreign: return fromTensor(value(k.column).reshape({-1}));
    case KeyKind::Parts: return concatenate(s, k);
    case KeyKind::Of: break;
    }
    raise(ErrorCode::Internal, "the table " + analysis::tableLabel(m_analysis.tables, space) + " has no column " +
                                   analysis::nameOfKey(m_analysis, key));
}

Column Structure::fromTensor(at::Tensor tensor)
{
    if (tensor.scalar_type() != at::kLong) tensor = tensor.to(at::kLong);
    require(tensor.dim() == 1, "a key column has more than one dimension");
    Column column;
    column.stride = tensor.stride(0);
    column.rows = tensor.size(0);
    // An empty tensor may have no address; a column without an address means row numbers.
    static const std::int64_t nothing = 0;
    column.data = column.rows ? tensor.const_data_ptr<std::int64_t>() : &nothing;
    column.owner = std::make_shared<at::Tensor>(std::move(tensor));
    return column;
}

Column Structure::ownColumn(std::int64_t rows)
{
    auto bytes = unwrap(m_scratch.allocate(std::max<std::int64_t>(rows, 1) * 8));
    return Column{reinterpret_cast<const std::int64_t*>(bytes.get()), 1, rows, bytes};
}

std::int64_t* Structure::writable(const Column& column) const { return const_cast<std::int64_t*>(column.data); }

// outer[inner[row]] for every row.
Column Structure::compose(const Column& outer, const Column& inner)
{
    if (outer.identity()) return inner;
    if (inner.identity()) return outer;
    Column result = ownColumn(inner.rows);
    std::int64_t* to = writable(result);
    at::parallel_for(0, inner.rows, grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) to[i] = outer[inner[i]];
    });
    return result;
}

Column Structure::concatenate(const analysis::Space& space, const analysis::Key& key)
{
    std::int64_t rows = 0;
    for (ir::SpaceId part : space.parts) rows += size(part);
    Column result = ownColumn(rows);
    std::int64_t* to = writable(result);
    for (std::size_t p = 0; p < space.parts.size(); ++p) {
        const Column& part = column(space.parts[p], key.parts.at(p));
        for (std::int64_t i = 0; i < part.rows; ++i) *to++ = part[i];
    }
    return result;
}

const Column& Structure::parentRows(ir::SpaceId space)
{
    const std::lock_guard lock(m_mutex);
    const auto it = m_parents.find(space);
    if (it != m_parents.end()) return it->second;
    Column made = makeParentRows(space);
    return m_parents[space] = std::move(made);
}

Column Structure::makeParentRows(ir::SpaceId space)
{
    const analysis::Space& s = m_analysis.tables.space(space);
    const at::Tensor selector = value(s.selector);
    if (s.kind == SpaceKind::Perm) return fromTensor(selector);
    const at::Tensor mask = selector.contiguous();
    const bool* selected = mask.const_data_ptr<bool>();
    Column result = ownColumn(size(space));
    std::int64_t* to = writable(result);
    for (std::int64_t i = 0; i < mask.numel(); ++i)
        if (selected[i]) *to++ = i;
    return result;
}

const graph::Adjacency& Structure::adjacency(ir::SpaceId space, ir::KeyId key)
{
    const std::lock_guard lock(m_mutex);
    const auto it = m_adjacencies.find({space, key});
    if (it != m_adjacencies.end()) return it->second;
    checkStop();
    Column keys = column(space, key);
    const std::int64_t targets = size(m_analysis.tables.target(space, key));
    if (keys.identity()) {
        Column written = ownColumn(keys.rows);
        std::iota(writable(written), writable(written) + keys.rows, std::int64_t{0});
        keys = written;
    }
    std::int64_t least = 0;
    for (std::int64_t i = 0; i < keys.rows; ++i) least = std::min(least, keys[i]);
    if (least < 0 || largest(keys) >= targets)
        raise(ErrorCode::Input, "a row number lies outside its table of " + std::to_string(targets) + " rows", {},
              analysis::tableLabel(m_analysis.tables, space) + ", " + analysis::nameOfKey(m_analysis, key));
    auto built = unwrap(graph::Adjacency::build(keys.data, keys.stride, keys.rows, targets, m_scratch, m_threads));
    return m_adjacencies.emplace(std::pair{space, key}, std::move(built)).first->second;
}

const OwnedColumn& Structure::ownedColumn(ir::SpaceId space, ir::KeyId owner, ir::KeyId key)
{
    const std::lock_guard lock(m_mutex);
    const auto it = m_owned.find({space, owner, key});
    if (it != m_owned.end()) return it->second;
    const graph::Adjacency& order = adjacency(space, owner);
    const Column& keys = column(space, key);
    const std::int64_t rows = order.targets() ? order.end(order.targets() - 1) : 0;
    OwnedColumn made;
    made.wide = size(m_analysis.tables.target(space, key)) > std::numeric_limits<std::int32_t>::max();
    made.bytes = unwrap(m_scratch.allocate(std::max<std::int64_t>(rows, 1) * (made.wide ? 8 : 4)));
    at::parallel_for(0, rows, grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t p = first; p < last; ++p) {
            const std::int64_t k = keys[order.row(p)];
            if (made.wide) reinterpret_cast<std::int64_t*>(made.bytes.get())[p] = k;
            else reinterpret_cast<std::int32_t*>(made.bytes.get())[p] = static_cast<std::int32_t>(k);
        }
    });
    return m_owned.emplace(std::tuple{space, owner, key}, std::move(made)).first->second;
}

}  // namespace hopscope::executor
