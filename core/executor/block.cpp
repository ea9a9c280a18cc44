#include "executor/block.h"

#include <algorithm>
#include <numeric>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "analysis/rows/classes.h"

namespace hopscope::executor {

using ir::RowClass;
using ir::RowKind;

namespace {

constexpr std::int64_t grain = 1 << 15;

at::Tensor numbers(std::int64_t count) { return at::empty({count}, at::TensorOptions().dtype(at::kLong)); }
std::int64_t* data(at::Tensor& t) { return t.mutable_data_ptr<std::int64_t>(); }
const std::int64_t* data(const at::Tensor& t) { return t.const_data_ptr<std::int64_t>(); }

at::Tensor counting(std::int64_t first, std::int64_t count)
{
    at::Tensor t = numbers(count);
    std::iota(data(t), data(t) + count, first);
    return t;
}

}  // namespace

Block::Block(Structure& structure, const analysis::Analysis& analysis, const plan::Loop& loop)
    : m_structure(structure),
      m_analysis(analysis),
      m_loop(loop)
{}

void Block::begin(const Destinations& destinations) { m_batch = destinations; }

void Block::end()
{
    for (auto& [rows, map] : m_maps) reset(map);
    m_rows.clear();
    m_offsets.clear();
    m_positions.clear();
    m_globals.clear();
    m_structureBytes = 0;
}

RowClass Block::ownedBy(ir::SpaceId space, ir::KeyId owner) const { return analysis::owned(m_analysis, space, owner); }

std::int64_t Block::countFor(const RowClass& owned, const Destinations& destinations)
{
    if (isBatch(owned)) return destinations.count;
    const graph::Adjacency& adjacency = m_structure.adjacency(owned.table, owned.key);
    if (destinations.count == 0) return 0;
    if (destinations.ascending())
        return adjacency.end(destinations.first + destinations.count - 1) - adjacency.begin(destinations.first);
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < destinations.count; ++i)
        sum += adjacency.end(destinations[i]) - adjacency.begin(destinations[i]);
    return sum;
}

std::int64_t Block::count(const RowClass& rows)
{
    if (rows.kind == RowKind::Frontier) {
        if (!m_rows.contains(rows)) buildFrontier(rows.table);
        return m_rows.at(rows).numel();
    }
    require(rows.kind != RowKind::All, "rows of a value without rows are counted");
    return countFor(rows, m_batch);
}

at::Tensor Block::rows(const RowClass& rows)
{
    const auto it = m_rows.find(rows);
    if (it != m_rows.end()) return it->second;
    if (rows.kind == RowKind::Frontier) {
        buildFrontier(rows.table);
        return m_rows.at(rows);
    }
    at::Tensor made = makeRows(rows);
    m_structureBytes += made.numel() * 8;
    return m_rows[rows] = std::move(made);
}

at::Tensor Block::makeRows(const RowClass& rows)
{
    if (isBatch(rows)) {
        if (m_batch.ascending()) return counting(m_batch.first, m_batch.count);
        at::Tensor t = numbers(m_batch.count);
        for (std::int64_t i = 0; i < m_batch.count; ++i) data(t)[i] = m_batch[i];
        return t;
    }
    const graph::Adjacency& adjacency = m_structure.adjacency(rows.table, rows.key);
    at::Tensor t = numbers(count(rows));
    std::int64_t* to = data(t);
    for (std::int64_t i = 0; i < m_batch.count; ++i)
        for (std::int64_t p = adjacency.begin(m_batch[i]); p < adjacency.end(m_batch[i]); ++p) *to++ = adjacency.row(p);
    return t;
}

at::Tensor Block::offsets(const RowClass& owned)
{
    const auto it = m_offsets.find(owned);
    if (it != m_offsets.end()) return it->second;
    at::Tensor t = numbers(m_batch.count + 1);
    std::int64_t* to = data(t);
    to[0] = 0;
    if (isBatch(owned)) {
        std::iota(to, to + m_batch.count + 1, std::int64_t{0});
    } else {
        const graph::Adjacency& adjacency = m_structure.adjacency(owned.table, owned.key);
        for (std::int64_t i = 0; i < m_batch.count; ++i)
            to[i + 1] = to[i] + adjacency.end(m_batch[i]) - adjacency.begin(m_batch[i]);
    }
    m_structureBytes += t.numel() * 8;
    return m_offsets[owned] = std::move(t);
}

// For each row, which destination of the batch owns it.
at::Tensor Block::ordinals(const RowClass& owned)
{
    const at::Tensor bounds = offsets(owned);
    at::Tensor t = numbers(count(owned));
    for (std::int64_t i = 0; i < m_batch.count; ++i)
        std::fill(data(t) + data(bounds)[i], data(t) + data(bounds)[i + 1], i);
    return t;
}

at::Tensor Block::globals(const RowClass& on, ir::SpaceId space, ir::KeyId key)
{
    const auto known = m_globals.find({on, space, key});
    if (known != m_globals.end()) return known->second;
    at::Tensor t;
    const bool ownedRows = on.kind == RowKind::Owned && on.table == space;
    if (ownedRows && on.key == key) {
        t = rows({RowKind::Batch, m_loop.destination, {}}).index_select(0, ordinals(on));
    } else if (ownedRows) {
        const OwnedColumn& column = m_structure.ownedColumn(space, on.key, key);
        const graph::Adjacency& adjacency = m_structure.adjacency(space, on.key);
        t = numbers(count(on));
        std::int64_t* to = data(t);
        for (std::int64_t i = 0; i < m_batch.count; ++i)
            for (std::int64_t p = adjacency.begin(m_batch[i]); p < adjacency.end(m_batch[i]); ++p) *to++ = column[p];
    } else {
        const Column& column = m_structure.column(space, key);
        const at::Tensor own = rows(on);
        if (column.identity()) return own;
        t = numbers(own.numel());
        for (std::int64_t i = 0; i < own.numel(); ++i) data(t)[i] = column[data(own)[i]];
    }
    m_structureBytes += t.numel() * 8;
    return m_globals[{on, space, key}] = std::move(t);
}

std::optional<AdjacencySlice> Block::slice(const RowClass& on, ir::SpaceId space, ir::KeyId key)
{
    if (!isSliced(on, space, key) || !m_batch.ascending()) return std::nullopt;
    const graph::Adjacency& adjacency = m_structure.adjacency(space, on.key);
    const OwnedColumn& column = m_structure.ownedColumn(space, on.key, key);
    const std::int64_t all = adjacency.targets() ? adjacency.end(adjacency.targets() - 1) : 0;
    const std::int64_t first = m_batch.count ? adjacency.begin(m_batch.first) : 0, count = countFor(on, m_batch);
    m_structureBytes += count * (column.wide ? 8 : 4) + m_batch.count * 8;
    const auto of = [](const void* from, std::int64_t n, at::ScalarType type) {
        return at::from_blob(const_cast<void*>(from), {n}, at::TensorOptions().dtype(type));
    };
    return AdjacencySlice{of(column.bytes.get(), all, column.wide ? at::kLong : at::kInt),
                          of(adjacency.offsets() + m_batch.first, m_batch.count + 1, at::kLong), first, count};
}

at::Tensor Block::positions(const RowClass& on, ir::SpaceId space, ir::KeyId key, const RowClass& in)
{
    const std::tuple cacheKey{on, space, key, in};
    if (in.kind == RowKind::Frontier && !m_rows.contains(in)) buildFrontier(in.table);
    const auto it = m_positions.find(cacheKey);
    if (it != m_positions.end()) return it->second;
    at::Tensor made;
    if (on == in && m_structure.column(space, key).identity()) made = counting(0, count(on));
    else if (isBatch(in) && in.table == m_loop.destination && on == ownedBy(space, key)) made = ordinals(on);
    else made = look(in, globals(on, space, key));
    m_structureBytes += made.numel() * 8;
    return m_positions[cacheKey] = std::move(made);
}

at::Tensor Block::look(const RowClass& in, const at::Tensor& globalRows)
{
    const std::int64_t n = globalRows.numel();
    at::Tensor local = numbers(n);
    const std::int64_t* from = data(globalRows);
    std::int64_t* to = data(local);
    std::int64_t least = 0;
    if (isBatch(in) && m_batch.ascending()) {
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t p = from[i] - m_batch.first;
            to[i] = p < m_batch.count ? p : -1;
            least = std::min(least, to[i]);
        }
    } else {
        const std::int32_t* entries = map(in).entries;
        for (std::int64_t i = 0; i < n; ++i) {
            to[i] = entries[from[i]] - 1;
            least = std::min(least, to[i]);
        }
    }
    require(least >= 0, "an index leaves the rows of its batch");
    return local;
}

at::Tensor Block::parentPositions(const RowClass& on, const RowClass& in)
{
    const Column& parents = m_structure.parentRows(on.table);
    const at::Tensor own = rows(on);
    at::Tensor t = numbers(own.numel());
    for (std::int64_t i = 0; i < own.numel(); ++i) data(t)[i] = parents[data(own)[i]];
    return look(in, t);
}

at::Tensor Block::concatPositions(const RowClass& on, const std::vector<RowClass>& parts)
{
    const at::Tensor own = rows(on);
    std::vector<std::int64_t> starts{0}, localStarts{0};
    for (const RowClass& part : parts) {
        starts.push_back(starts.back() + m_structure.size(part.table));
        localStarts.push_back(localStarts.back() + count(part));
    }
    at::Tensor order = numbers(own.numel());
    std::vector<std::vector<std::int64_t>> members(parts.size()), places(parts.size());
    for (std::int64_t i = 0; i < own.numel(); ++i) {
        const auto p =
            static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), data(own)[i]) - starts.begin() - 1);
        members[p].push_back(data(own)[i] - starts[p]);
        places[p].push_back(i);
    }
    for (std::size_t p = 0; p < parts.size(); ++p) {
        const auto n = static_cast<std::int64_t>(members[p].size());
        const at::Tensor local =
            look(parts[p], at::from_blob(members[p].data(), {n}, at::TensorOptions().dtype(at::kLong)));
        for (std::int64_t i = 0; i < n; ++i)
            data(order)[places[p][static_cast<std::size_t>(i)]] = localStarts[p] + data(local)[i];
    }
    return order;
}

Block::Map& Block::emptyMap(const RowClass& rows)
{
    Map& map = m_maps[rows];
    if (map.entries) return map;
    map.size = m_structure.size(analysis::tableOf(rows));
    map.bytes = unwrap(m_structure.scratch().allocate(std::max<std::int64_t>(map.size, 1) * 4));
    map.entries = reinterpret_cast<std::int32_t*>(map.bytes.get());
    return map;
}

void Block::fill(Map& map, const at::Tensor& rows)
{
    map.touched = rows;
    for (std::int64_t i = 0; i < rows.numel(); ++i) map.entries[data(rows)[i]] = static_cast<std::int32_t>(i + 1);
}

void Block::reset(Map& map)
{
    if (!map.touched.defined()) return;
    for (std::int64_t i = 0; i < map.touched.numel(); ++i) map.entries[data(map.touched)[i]] = 0;
    map.touched = at::Tensor();
}

Block::Map& Block::map(const RowClass& rows)
{
    if (rows.kind == RowKind::Frontier && !m_rows.contains(rows)) buildFrontier(rows.table);
    Map& found = emptyMap(rows);
    if (!found.touched.defined()) fill(found, this->rows(rows));
    return found;
}

void Block::buildFrontier(ir::SpaceId type)
{
    Map& map = emptyMap({RowKind::Frontier, type, {}});
    std::vector<std::int64_t> members;
    try {
        numberFrontier(type, map, members);
    } catch (...) {  // for want of memory; a smaller batch would take these rows for its own
        for (const std::int64_t row : members) map.entries[row] = 0;
        throw;
    }
}

// Own rows first, then each new row in first-seen order; local numbers of every source fall out on the way.
void Block::numberFrontier(ir::SpaceId type, Map& map, std::vector<std::int64_t>& members)
{
    const RowClass self{RowKind::Frontier, type, {}};
    if (type == m_loop.destination) {
        for (std::int64_t i = 0; i < m_batch.count; ++i) {
            members.push_back(m_batch[i]);
            map.entries[m_batch[i]] = static_cast<std::int32_t>(i + 1);
        }
    }
    for (const plan::FrontierSource& source : m_loop.frontier) {
        if (source.type != type) continue;
        const RowClass on = ownedBy(source.space, source.owner);
        at::Tensor local = frontierPositions(map, source, members);
        m_structureBytes += local.numel() * 8;
        m_positions[{on, source.space, source.key, self}] = std::move(local);
    }
    at::Tensor rows = numbers(static_cast<std::int64_t>(members.size()));
    std::copy(members.begin(), members.end(), data(rows));
    map.touched = rows;
    m_structureBytes += rows.numel() * 8;
    m_rows[self] = std::move(rows);
}

at::Tensor Block::frontierPositions(Map& map, const plan::FrontierSource& source, std::vector<std::int64_t>& members)
{
    const at::Tensor wanted = globals(ownedBy(source.space, source.owner), source.space, source.key);
    at::Tensor local = numbers(wanted.numel());
    for (std::int64_t i = 0; i < wanted.numel(); ++i) {
        const std::int64_t row = data(wanted)[i];
        std::int32_t& entry = map.entries[row];
        if (entry == 0) {
            members.push_back(row);
            entry = static_cast<std::int32_t>(members.size());
        }
        data(local)[i] = entry - 1;
    }
    return local;
}

}  // namespace hopscope::executor
