// Structure: table sizes, key columns and adjacencies.

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

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
constexpr std::uint64_t mostNarrow = std::numeric_limits<std::int32_t>::max();

std::int64_t chunksOf(std::int64_t rows) { return (rows + grain - 1) / grain; }

// body(chunk, first, last) for each chunk of `grain` rows.
template <class Body>
void forEachChunk(std::int64_t rows, Body&& body)
{
    at::parallel_for(0, chunksOf(rows), 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t c = first; c < last; ++c) body(c, c * grain, std::min((c + 1) * grain, rows));
    });
}

template <class Number>
Number* writable(const Number* column)
{
    return const_cast<Number*>(column);
}

}  // namespace

const Structure::Selection& Structure::selection(ir::SpaceId filter)
{
    const auto it = m_selections.find(filter);
    if (it != m_selections.end()) return it->second;
    Selection made{value(m_analysis.tables.space(filter).selector).contiguous(), {}};
    made.starts.assign(static_cast<std::size_t>(chunksOf(made.mask.numel())) + 1, 0);
    const bool* const selected = made.mask.const_data_ptr<bool>();
    forEachChunk(made.mask.numel(), [&](std::int64_t c, std::int64_t first, std::int64_t last) {
        made.starts[static_cast<std::size_t>(c) + 1] = std::count(selected + first, selected + last, true);
    });
    std::partial_sum(made.starts.begin(), made.starts.end(), made.starts.begin());
    return m_selections.emplace(filter, std::move(made)).first->second;
}

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
    case SpaceKind::Filter: return selection(space).starts.back();
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
        return compose(column(m_analysis.tables.target(space, k.first), k.second), column(space, k.first),
                       fitsNarrow(space, key));
    if (s.kind == SpaceKind::Filter) return k.kind == KeyKind::Pos ? parentRows(space) : writtenColumn(space, key);
    if (s.kind == SpaceKind::Perm) {
        if (k.kind == KeyKind::Pos) return parentRows(space);
        return compose(column(s.parent, key), parentRows(space), fitsNarrow(space, key));
    }
    switch (k.kind) {
    case KeyKind::Id:
    case KeyKind::Pos: return Column{nullptr, nullptr, 1, size(space), nullptr};
    case KeyKind::End: {
        const int pairDim = m_analysis.rowDim(s.index) == 0 ? 1 : 0;
        return fromTensor(value(s.index).select(pairDim, k.end));
    }
    case KeyKind::Foreign: return fromTensor(value(k.column).reshape({-1}));
    case KeyKind::Parts: return writtenColumn(space, key);
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

Column Structure::ownColumn(std::int64_t rows, bool narrow)
{
    auto bytes = unwrap(m_scratch.allocate(std::max<std::int64_t>(rows, 1) * (narrow ? 4 : 8)));
    if (narrow) return Column{nullptr, reinterpret_cast<const std::int32_t*>(bytes.get()), 1, rows, bytes};
    return Column{reinterpret_cast<const std::int64_t*>(bytes.get()), nullptr, 1, rows, bytes};
}

// Whether the key's numbers have 32 bits, if they are what they should be.
bool Structure::fitsNarrow(ir::SpaceId space, ir::KeyId key)
{
    const ir::SpaceId target = m_analysis.tables.target(space, key);
    if (!target.valid() || m_analysis.tables.space(target).kind == SpaceKind::Opaque) return false;
    return static_cast<std::uint64_t>(size(target)) <= mostNarrow;
}

void Structure::keyOutside(ir::SpaceId space, ir::KeyId key)
{
    raise(ErrorCode::Input,
          "a row number lies outside its table of " + std::to_string(size(m_analysis.tables.target(space, key))) +
              " rows",
          {}, analysis::tableLabel(m_analysis.tables, space) + ", " + analysis::nameOfKey(m_analysis, key));
}

// outer[inner[row]] for every row. Numbers of derived columns are rows of tables: they have been checked.
Column Structure::compose(const Column& outer, const Column& inner, bool narrow)
{
    if (outer.identity()) return inner;
    if (inner.identity()) return outer;
    const Column result = ownColumn(inner.rows, narrow);
    const auto write = [&](auto* to) {
        forEachChunk(inner.rows, [&](std::int64_t, std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i)
                to[i] = static_cast<std::remove_pointer_t<decltype(to)>>(outer[inner[i]]);
        });
    };
    if (narrow) write(writable(result.narrow));
    else write(writable(result.data));
    return result;
}

// The keys of a table that is derived from others, without a column for each of these.
Column Structure::writtenColumn(ir::SpaceId space, ir::KeyId key)
{
    const bool narrow = fitsNarrow(space, key);
    const Column result = ownColumn(size(space), narrow);
    if (narrow) writeKeys(space, key, writable(result.narrow));
    else writeKeys(space, key, writable(result.data));
    return result;
}

template <class Number>
void Structure::writeKeys(ir::SpaceId space, ir::KeyId key, Number* to)
{
    const analysis::Space& s = m_analysis.tables.space(space);
    const analysis::Key& k = m_analysis.tables.key(key);
    if (s.kind == SpaceKind::Filter && k.kind != KeyKind::Of) return writeSelected(space, key, to);
    if (k.kind == KeyKind::Parts) {
        for (std::size_t p = 0; p < s.parts.size(); to += size(s.parts[p]), ++p)
            writeKeys(s.parts[p], k.parts.at(p), to);
        return;
    }
    const Column& from = column(space, key);
    std::atomic<std::uint64_t> bits = 0;
    from.with([&](auto keyOf) {
        forEachChunk(from.rows, [&](std::int64_t, std::int64_t first, std::int64_t last) {
            std::uint64_t seen = 0;
            for (std::int64_t i = first; i < last; ++i) {
                to[i] = static_cast<Number>(keyOf(i));
                seen |= static_cast<std::uint64_t>(keyOf(i));
            }
            bits |= seen;
        });
    });
    if (sizeof(Number) == 4 && bits > mostNarrow) keyOutside(space, key);
}

template <class Number>
void Structure::writeSelected(ir::SpaceId filter, ir::KeyId key, Number* to)
{
    const Selection& rows = selection(filter);
    const ir::SpaceId parent = m_analysis.tables.space(filter).parent;
    const bool position = m_analysis.tables.key(key).kind == KeyKind::Pos;
    const Column from = position ? Column{nullptr, nullptr, 1, size(parent), nullptr} : column(parent, key);
    std::atomic<std::uint64_t> bits = 0;
    from.with([&, selected = rows.mask.const_data_ptr<bool>()](auto keyOf) {
        forEachChunk(rows.mask.numel(), [&](std::int64_t c, std::int64_t first, std::int64_t last) {
            Number* next = to + rows.starts[static_cast<std::size_t>(c)];
            std::uint64_t seen = 0;
            for (std::int64_t i = first; i < last; ++i) {
                if (!selected[i]) continue;
                *next++ = static_cast<Number>(keyOf(i));
                seen |= static_cast<std::uint64_t>(keyOf(i));
            }
            bits |= seen;
        });
    });
    if (sizeof(Number) == 4 && bits > mostNarrow) keyOutside(filter, key);
}

const Column& Structure::parentRows(ir::SpaceId space)
{
    const std::lock_guard lock(m_mutex);
    const auto it = m_parents.find(space);
    if (it != m_parents.end()) return it->second;
    const analysis::Space& s = m_analysis.tables.space(space);
    Column made =
        s.kind == SpaceKind::Perm ? fromTensor(value(s.selector)) : writtenColumn(space, m_analysis.tables.posKey());
    return m_parents[space] = std::move(made);
}

const graph::Adjacency& Structure::adjacency(ir::SpaceId space, ir::KeyId key)
{
    const std::lock_guard lock(m_mutex);
    const auto it = m_adjacencies.find({space, key});
    if (it != m_adjacencies.end()) return it->second;
    checkStop();
    Column keys = column(space, key);
    if (keys.identity()) keys = writtenColumn(space, key);
    checkKeys(space, key, keys);
    const std::int64_t targets = size(m_analysis.tables.target(space, key));
    auto built =
        unwrap(keys.narrow ? graph::Adjacency::build(keys.narrow, 1, keys.rows, targets, m_scratch, m_threads)
                           : graph::Adjacency::build(keys.data, keys.stride, keys.rows, targets, m_scratch, m_threads));
    return m_adjacencies.emplace(std::pair{space, key}, std::move(built)).first->second;
}

void Structure::checkKeys(ir::SpaceId space, ir::KeyId key, const Column& keys)
{
    const auto targets = static_cast<std::uint64_t>(size(m_analysis.tables.target(space, key)));
    std::atomic<bool> outside = false;
    keys.with([&](auto keyOf) {
        forEachChunk(keys.rows, [&](std::int64_t, std::int64_t first, std::int64_t last) {
            std::uint64_t most = 0;
            for (std::int64_t i = first; i < last; ++i) most = std::max(most, static_cast<std::uint64_t>(keyOf(i)));
            if (first < last && most >= targets) outside = true;
        });
    });
    if (outside) keyOutside(space, key);
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
    const auto write = [&](auto* to) {
        keys.with([&](auto keyOf) {
            forEachChunk(rows, [&](std::int64_t, std::int64_t first, std::int64_t last) {
                for (std::int64_t p = first; p < last; ++p)
                    to[p] = static_cast<std::remove_pointer_t<decltype(to)>>(keyOf(order.row(p)));
            });
        });
    };
    if (made.wide) write(reinterpret_cast<std::int64_t*>(made.bytes.get()));
    else write(reinterpret_cast<std::int32_t*>(made.bytes.get()));
    return m_owned.emplace(std::tuple{space, owner, key}, std::move(made)).first->second;
}

}  // namespace hopscope::executor
