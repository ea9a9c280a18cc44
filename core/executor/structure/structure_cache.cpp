#include "executor/structure/structure_cache.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <random>

#include "base/parallel.h"
#include "graph/random.h"

namespace hopscope::executor {

namespace {

using Bytes = graph::ArrayCache::Bytes;

// Part of every name: changes whenever the arrays made of the same edges change.
constexpr const char* madeAs = "1 ";
constexpr std::int64_t rowsAtOnce = 1 << 17;  // 1 MiB: a piece of graph::digestOf()
constexpr std::int64_t sampled = 2048;

template <class Number>
Bytes bytesOf(const Number* numbers, std::int64_t count)
{
    return std::as_bytes(std::span(numbers, static_cast<std::size_t>(count)));
}

graph::Digest digestOf(const std::string& text) { return graph::digestOf(text.data(), text.size()); }

// The digest of numbers that are not contiguous in memory, as if they were.
graph::Digest digestOfStrided(const Column& column, int threads)
{
    std::vector<graph::Digest> parts(static_cast<std::size_t>((column.rows + rowsAtOnce - 1) / rowsAtOnce));
    base::parallelParts(std::ssize(parts), threads, 1, [&](int, std::int64_t firstPart, std::int64_t lastPart) {
        std::vector<std::int64_t> numbers;
        for (std::int64_t i = firstPart; i < lastPart; ++i) {
            numbers.clear();
            for (std::int64_t row = i * rowsAtOnce; row < std::min((i + 1) * rowsAtOnce, column.rows); ++row)
                numbers.push_back(column[row]);
            parts[static_cast<std::size_t>(i)] = graph::digestOf(numbers.data(), numbers.size() * sizeof numbers[0]);
        }
    });
    return graph::digestOf(parts);
}

graph::Digest digestOf(const Column& column, int threads)
{
    const auto rows = static_cast<std::size_t>(column.rows);
    if (column.narrow) return graph::digestOf(column.narrow, rows * sizeof *column.narrow, threads);
    if (column.stride == 1) return graph::digestOf(column.data, rows * sizeof *column.data, threads);
    return digestOfStrided(column, threads);
}

// nullopt: the entry is not a column of so many rows.
std::optional<OwnedColumn> columnFrom(const graph::ArrayCache::Entry& entry, std::int64_t rows)
{
    if (entry.arrays.size() != 1) return std::nullopt;
    const std::int64_t bytes = std::ssize(entry.arrays[0]);
    if (bytes != rows * 4 && bytes != rows * 8) return std::nullopt;
    return OwnedColumn{.bytes = entry.shared(0), .wide = bytes == rows * 8};
}

bool allBelow(const OwnedColumn& column, std::int64_t rows, std::int64_t end, int threads)
{
    std::atomic<bool> below = true;
    column.with([&](const auto* first) {
        using Number = std::make_unsigned_t<std::remove_cvref_t<decltype(*first)>>;
        base::parallelParts(rows, threads, rowsAtOnce, [&](int, std::int64_t from, std::int64_t to) {
            Number largest = 0;  // negative ones are the largest
            for (std::int64_t p = from; p < to; ++p) largest = std::max(largest, static_cast<Number>(first[p]));
            if (from < to && largest >= static_cast<std::uint64_t>(end)) below = false;
        });
    });
    return below;
}

// Whether holds(target, position, row) is true for a sample: one row each of some of the targets that have rows. The
// writer of the file cannot predict which.
template <class Holds>
bool holdsForSample(const graph::Adjacency& adjacency, Holds&& holds)
{
    graph::Draws draws(std::random_device{}(), 0);
    bool all = true;
    for (std::int64_t i = 0; all && i < std::min(sampled, adjacency.targets()); ++i) {
        const std::int64_t target = draws.below(adjacency.targets()), first = adjacency.begin(target);
        if (adjacency.end(target) == first) continue;
        const std::int64_t position = first + draws.below(adjacency.end(target) - first);
        adjacency.eachRow(position, position + 1,
                          [&](std::int64_t p, std::int64_t row) { all = holds(target, p, row); });
    }
    return all;
}

bool isPermutation(const std::int64_t* first, std::int64_t count)
{
    std::vector<bool> seen(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
        if (first[i] < 0 || first[i] >= count || seen[static_cast<std::size_t>(first[i])]) return false;
        seen[static_cast<std::size_t>(first[i])] = true;
    }
    return true;
}

}  // namespace

// ---- names

std::string StructureCache::numbersOf(ir::SpaceId space, ir::KeyId key)
{
    std::string& text = m_numbers[{space, key}];
    if (!text.empty()) return text;
    const Column column = m_columns.passing(space, key);
    if (column.identity()) text = "identity " + std::to_string(column.rows);
    else text = (column.narrow ? "32 " : "64 ") + digestOf(column, m_threads).hex();
    return text;
}

std::string StructureCache::orderOf(ir::SpaceId type) const
{
    const auto it = m_orders.find(type);
    return it == m_orders.end() ? "input" : it->second;
}

std::string StructureCache::nameOf(ir::SpaceId space, ir::KeyId key)
{
    const ir::SpaceId target = m_tables.target(space, key);
    return "adjacency " + numbersOf(space, key) + " of " + std::to_string(m_size(target)) + " in " + orderOf(target);
}

std::string StructureCache::nameOf(const EdgeKeys& keys, Numbers numbers)
{
    const ir::SpaceId target = m_tables.target(keys.table, keys.key);
    const std::string order = numbers == Numbers::Places ? orderOf(target) : "input";
    return "column " + numbersOf(keys.table, keys.key) + " of " + std::to_string(m_size(target)) + " in " + order +
           " along " + nameOf(keys.table, keys.owner);
}

std::string StructureCache::nameOf(const EdgeKeys& keys, base::Reorder how)
{
    return base::nameOf(how) + (" order of " + nameOf(keys, Numbers::Input));
}

std::optional<graph::ArrayCache::Entry> StructureCache::find(const std::string& name) const
{
    return m_files.find(digestOf(madeAs + name));
}

void StructureCache::keep(const std::string& name, std::span<const Bytes> arrays)
{
    const base::Status kept = m_files.keep(digestOf(madeAs + name), arrays);
    if (!kept && !m_problem) m_problem = kept.error();
}

// ---- the cached parts

graph::Adjacency StructureCache::adjacency(ir::SpaceId space, ir::KeyId key,
                                           const std::function<std::int64_t(std::int64_t)>& targetOf,
                                           const std::function<graph::Adjacency()>& make)
{
    const std::string name = nameOf(space, key);
    const auto belongs = [&](std::int64_t target, std::int64_t, std::int64_t row) { return targetOf(row) == target; };
    if (const auto entry = find(name)) {
        auto found = graph::Adjacency::from(m_size(m_tables.target(space, key)), m_size(space), *entry, m_threads);
        if (found && holdsForSample(*found, belongs)) return std::move(*found);
    }
    graph::Adjacency made = make();
    keep(name, made.arrays());
    return made;
}

bool StructureCache::isAlong(const OwnedColumn& column, const EdgeKeys& keys, const graph::Adjacency& order,
                             const std::int64_t* places)
{
    if (!allBelow(column, order.rows(), m_size(m_tables.target(keys.table, keys.key)), m_threads)) return false;
    const Column key = m_columns.passing(keys.table, keys.key);
    return holdsForSample(order, [&](std::int64_t, std::int64_t position, std::int64_t row) {
        return column[position] == (places ? places[key[row]] : key[row]);
    });
}

OwnedColumn StructureCache::column(const EdgeKeys& keys, Numbers numbers, const graph::Adjacency& order,
                                   const std::int64_t* places, const std::function<OwnedColumn()>& make)
{
    const std::int64_t rows = m_size(keys.table);
    const std::string name = nameOf(keys, numbers);
    if (const auto entry = find(name))
        if (auto found = columnFrom(*entry, rows))
            if (isAlong(*found, keys, order, numbers == Numbers::Places ? places : nullptr)) return std::move(*found);
    OwnedColumn made = make();
    made.with([&](const auto* first) { keep(name, std::array{bytesOf(first, rows)}); });
    return made;
}

std::optional<graph::NodeOrder> StructureCache::findOrder(const EdgeKeys& keys, base::Reorder how)
{
    const auto entry = find(nameOf(keys, how));
    const std::int64_t nodes = m_size(m_tables.target(keys.table, keys.owner));
    if (!entry || entry->arrays.size() != 1 ||
        std::ssize(entry->arrays[0]) != nodes * static_cast<std::int64_t>(sizeof(std::int64_t)))
        return std::nullopt;
    const auto* const first = reinterpret_cast<const std::int64_t*>(entry->arrays[0].data());
    if (!isPermutation(first, nodes)) return std::nullopt;
    return graph::NodeOrder(first, first + nodes);
}

void StructureCache::keepOrder(const EdgeKeys& keys, base::Reorder how, const graph::NodeOrder& order)
{
    keep(nameOf(keys, how), std::array{bytesOf(order.data(), std::ssize(order))});
}

void StructureCache::arrange(ir::SpaceId type, const graph::NodeOrder& order)
{
    m_orders[type] = graph::digestOf(order.data(), order.size() * sizeof order[0], m_threads).hex();
}

}  // namespace hopscope::executor
