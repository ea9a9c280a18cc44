#include "executor/rows/block.h"

#include <algorithm>
#include <atomic>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "analysis/rows/classes.h"
#include "executor/rows/frontier.h"
#include "executor/rows/row_numbers.h"

namespace hopscope::executor {

using ir::RowClass;
using ir::RowKind;

namespace {

constexpr std::int64_t grain = 1 << 14;

at::Tensor numbers(std::int64_t count) { return at::empty({count}, at::TensorOptions().dtype(at::kLong)); }
std::int64_t* data(at::Tensor& t) { return t.mutable_data_ptr<std::int64_t>(); }
const std::int64_t* data(const at::Tensor& t) { return t.const_data_ptr<std::int64_t>(); }

// Each number is computed from its place.
template <class Of>
at::Tensor generated(std::int64_t count, Of&& of)
{
    at::Tensor t = numbers(count);
    std::int64_t* const to = data(t);
    at::parallel_for(0, count, grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) to[i] = of(i);
    });
    return t;
}

// Calls it with each row, which differ, and its place.
template <class Work>
void each(const at::Tensor& rows, Work&& work)
{
    const std::int64_t* const row = data(rows);
    at::parallel_for(0, rows.numel(), grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) work(row[i], i);
    });
}

at::Tensor counting(std::int64_t first, std::int64_t count)
{
    return generated(count, [first](std::int64_t i) { return first + i; });
}

}  // namespace

Block::Block(Structure& structure, const analysis::Analysis& analysis, const plan::Loop& loop)
    : m_structure(structure),
      m_analysis(analysis),
      m_loop(loop),
      m_nodeAt(structure.nodeAt(loop.destination))
{}

void Block::begin(const Destinations& destinations) { m_batch = destinations; }

void Block::dropNumbers()
{
    m_offsets.clear();
    m_positions.clear();
    m_globals.clear();
}

void Block::end()
{
    for (auto& [rows, map] : m_maps) reset(map);
    m_rows.clear();
    dropNumbers();
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
    if (!isBatch(rows) || !m_nodeAt) m_structureBytes += made.numel() * 8;
    return m_rows[rows] = std::move(made);
}

at::Tensor Block::places(const RowClass& rows)
{
    if (!isBatch(rows)) return placesOf(analysis::tableOf(rows), this->rows(rows));
    return generated(m_batch.count, [this](std::int64_t i) { return m_batch[i]; });
}

at::Tensor Block::makeRows(const RowClass& rows)
{
    if (isBatch(rows))
        return generated(m_batch.count,
                         [this](std::int64_t i) { return m_nodeAt ? m_nodeAt[m_batch[i]] : m_batch[i]; });
    const graph::Adjacency& adjacency = m_structure.adjacency(rows.table, rows.key);
    return alongAdjacency(rows, [&](std::int64_t first, std::int64_t last, std::int64_t* to) {
        adjacency.eachRow(first, last, [=](std::int64_t p, std::int64_t row) { to[p - first] = row; });
    });
}

// A number for each position of the adjacency that the batch owns, by fill(first position, end, where to).
// Consecutive destinations have consecutive positions.
template <class Fill>
at::Tensor Block::alongAdjacency(const RowClass& owned, Fill&& fill)
{
    const graph::Adjacency& adjacency = m_structure.adjacency(owned.table, owned.key);
    at::Tensor t = numbers(count(owned));
    std::int64_t* to = data(t);
    if (m_batch.ascending()) {
        const std::int64_t begin = m_batch.count ? adjacency.begin(m_batch.first) : 0;
        at::parallel_for(0, t.numel(), grain,
                         [&](std::int64_t first, std::int64_t last) { fill(begin + first, begin + last, to + first); });
        return t;
    }
    for (std::int64_t i = 0; i < m_batch.count; ++i) {
        const std::int64_t first = adjacency.begin(m_batch[i]), last = adjacency.end(m_batch[i]);
        fill(first, last, to);
        to += last - first;
    }
    return t;
}

at::Tensor Block::offsets(const RowClass& owned)
{
    const auto it = m_offsets.find(owned);
    if (it != m_offsets.end()) return it->second;
    at::Tensor t = isBatch(owned) ? counting(0, m_batch.count + 1) : makeOffsets(owned);
    m_structureBytes += t.numel() * 8;
    return m_offsets[owned] = std::move(t);
}

at::Tensor Block::makeOffsets(const RowClass& owned)
{
    const graph::Adjacency& adjacency = m_structure.adjacency(owned.table, owned.key);
    if (m_batch.ascending()) {
        const std::int64_t first = m_batch.first, begin = m_batch.count ? adjacency.begin(first) : 0;
        return generated(m_batch.count + 1,
                         [&](std::int64_t i) { return i ? adjacency.end(first + i - 1) - begin : 0; });
    }
    at::Tensor t = numbers(m_batch.count + 1);
    std::int64_t* to = data(t);
    to[0] = 0;
    for (std::int64_t i = 0; i < m_batch.count; ++i)
        to[i + 1] = to[i] + adjacency.end(m_batch[i]) - adjacency.begin(m_batch[i]);
    return t;
}

// For each row, which destination of the batch owns it.
at::Tensor Block::ordinals(const RowClass& owned)
{
    const at::Tensor bounds = offsets(owned);
    at::Tensor t = numbers(count(owned));
    std::int64_t* const to = data(t);
    const std::int64_t* const bound = data(bounds);
    at::parallel_for(0, m_batch.count, grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) std::fill(to + bound[i], to + bound[i + 1], i);
    });
    return t;
}

at::Tensor Block::globals(const RowClass& on, ir::SpaceId space, ir::KeyId key, Numbers numbers)
{
    const std::tuple name{on, space, key, numbers};
    const auto known = m_globals.find(name);
    if (known != m_globals.end()) return known->second;
    at::Tensor t = makeGlobals(on, space, key, numbers);
    m_structureBytes += t.numel() * 8;
    return m_globals[name] = std::move(t);
}

at::Tensor Block::makeGlobals(const RowClass& on, ir::SpaceId space, ir::KeyId key, Numbers numbers)
{
    if (isSliced(on, space, key)) {
        const OwnedColumn& column = m_structure.ownedColumn(space, on.key, key, numbers);
        return alongAdjacency(on, [&](std::int64_t first, std::int64_t last, std::int64_t* to) {
            for (std::int64_t p = first; p < last; ++p) *to++ = column[p];
        });
    }
    if (numbers == Numbers::Places)
        return placesOf(m_analysis.tables.target(space, key), makeGlobals(on, space, key, Numbers::Input));
    if (on.kind == RowKind::Owned && on.table == space)
        return rows({RowKind::Batch, m_loop.destination, {}}).index_select(0, ordinals(on));
    const Column& column = m_structure.column(space, key);
    const at::Tensor own = rows(on);
    if (column.identity()) return own;
    return generated(own.numel(), [&, from = data(own)](std::int64_t i) { return column[from[i]]; });
}

at::Tensor Block::placesOf(ir::SpaceId type, const at::Tensor& nodes) const
{
    const std::int64_t* const places = m_structure.placeOf(type);
    if (!places) return nodes;
    return generated(nodes.numel(), [places, from = data(nodes)](std::int64_t i) { return places[from[i]]; });
}

std::optional<AdjacencySlice> Block::slice(const RowClass& on, ir::SpaceId space, ir::KeyId key, Numbers numbers)
{
    if (!isSliced(on, space, key) || !m_batch.ascending()) return std::nullopt;
    const graph::Adjacency& adjacency = m_structure.adjacency(space, on.key);
    const OwnedColumn& column = m_structure.ownedColumn(space, on.key, key, numbers);
    const std::int64_t all = adjacency.rows();
    const std::int64_t first = m_batch.count ? adjacency.begin(m_batch.first) : 0, count = countFor(on, m_batch);
    m_structureBytes += count * m_structure.numberBytes(space, key) + m_batch.count * 8;
    const auto of = [](const void* from, std::int64_t n, at::ScalarType type) {
        return at::from_blob(const_cast<void*>(from), {n}, at::TensorOptions().dtype(type));
    };
    return AdjacencySlice{.columns = of(column.bytes.get(), all, column.wide ? at::kLong : at::kInt),
                          .offsets = of(adjacency.offsets() + m_batch.first, m_batch.count + 1, at::kLong),
                          .first = first,
                          .count = count};
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
    const std::int64_t* from = data(globalRows);
    std::atomic<bool> outside = false;
    const auto checked = [&](std::int64_t p) {
        if (p < 0) outside.store(true, std::memory_order_relaxed);
        return p;
    };
    at::Tensor local;
    if (isBatch(in) && m_batch.ascending()) {
        const std::int64_t* const places = m_structure.placeOf(m_loop.destination);
        local = generated(globalRows.numel(), [&](std::int64_t i) {
            const std::int64_t p = (places ? places[from[i]] : from[i]) - m_batch.first;
            return checked(p < m_batch.count ? p : -1);
        });
    } else {
        const std::int32_t* entries = map(in).entries;
        local =
            generated(globalRows.numel(), [&](std::int64_t i) { return checked(entries[from[i]] - std::int64_t{1}); });
    }
    require(!outside, "an index leaves the rows of its batch");
    return local;
}

at::Tensor Block::parentPositions(const RowClass& on, const RowClass& in)
{
    const Column& parents = m_structure.parentRows(on.table);
    const at::Tensor own = rows(on);
    return look(in, generated(own.numel(), [&, from = data(own)](std::int64_t i) { return parents[from[i]]; }));
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
    checkLocalRows(rows.numel());
    map.touched = rows;
    each(rows, [&](std::int64_t row, std::int64_t i) { map.entries[row] = static_cast<std::int32_t>(i + 1); });
}

void Block::reset(Map& map)
{
    if (!map.touched.defined()) return;
    each(map.touched, [&](std::int64_t row, std::int64_t) { map.entries[row] = 0; });
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
    FrontierNumbers numbers(map.entries, map.size);
    try {
        numberFrontier(type, map, numbers);
    } catch (...) {  // for want of memory; a smaller batch would take these rows for its own
        if (!map.touched.defined()) numbers.forget();
        throw;
    }
}

// The local numbers of every source fall out on the way.
void Block::numberFrontier(ir::SpaceId type, Map& map, FrontierNumbers& numbers)
{
    const RowClass self{RowKind::Frontier, type, {}};
    if (type == m_loop.destination) numbers.own(makeRows({RowKind::Batch, type, {}}));
    std::vector<std::pair<const plan::FrontierSource*, at::Tensor>> asked;
    for (const plan::FrontierSource& source : m_loop.frontier) {
        if (source.type != type) continue;
        asked.emplace_back(&source, globals(ownedBy(source.space, source.owner), source.space, source.key));
        numbers.ask(asked.back().second);
    }
    at::Tensor rows = numbers.rows();
    map.touched = rows;
    for (const auto& [source, wanted] : asked) {
        at::Tensor local = numbers.positions(wanted);
        m_structureBytes += local.numel() * 8;
        m_positions[{ownedBy(source->space, source->owner), source->space, source->key, self}] = std::move(local);
    }
    m_structureBytes += rows.numel() * 8;
    m_rows[self] = std::move(rows);
}

}  // namespace hopscope::executor
