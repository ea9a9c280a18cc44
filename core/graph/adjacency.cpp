#include "graph/adjacency.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <utility>

#include "base/parallel.h"

namespace hopscope::graph {

namespace {

constexpr std::int64_t kGrain = 1 << 15;
constexpr std::int64_t kArrangeGrain = 1 << 12;
constexpr std::int64_t kRowsForRuns = 8;  // of a target on average, so that numbers of rows would take more memory

// The keys of a table, `stride` apart.
template <class Number>
struct Keys {
    const Number* data;
    std::int64_t stride, rows;
    [[nodiscard]] std::int64_t operator[](std::int64_t row) const { return data[row * stride]; }
};

// counts[key + 1] = rows with that key. Sums of integers do not depend on the order of the additions. Equal keys in a
// row are added at once, so that threads do not queue up at a hub.
template <class Number>
void countKeys(const Keys<Number>& keys, std::int64_t* counts, int threads)
{
    base::parallelParts(keys.rows, threads, kGrain, [&](int, std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end;) {
            const std::int64_t first = row, key = keys[row];
            while (row < end && keys[row] == key) ++row;
            if (threads == 1) counts[key + 1] += row - first;
            else std::atomic_ref(counts[key + 1]).fetch_add(row - first, std::memory_order_relaxed);
        }
    });
}

// Turns counts into starts: offsets[t + 1] = number of rows with a smaller key than t.
void startsFromCounts(std::int64_t* offsets, std::int64_t targets)
{
    std::int64_t sum = 0;
    for (std::int64_t target = 0; target < targets; ++target) {
        const std::int64_t count = offsets[target + 1];
        offsets[target + 1] = sum;
        sum += count;
    }
}

// Places the rows of the targets in [first, last). offsets[t + 1] serves as the cursor of t: it begins at t's start and
// ends at t's end, as the finished array requires.
template <class Number, class Row>
void placeRows(const Keys<Number>& keys, std::int64_t* offsets, Row* rows, std::int64_t first, std::int64_t last)
{
    const auto width = static_cast<std::uint64_t>(last - first);
    for (std::int64_t row = 0; row < keys.rows; ++row) {
        const std::int64_t target = keys[row];
        if (static_cast<std::uint64_t>(target - first) < width) rows[offsets[target + 1]++] = static_cast<Row>(row);
    }
}

// Cuts the targets into `parts` ranges with about equally many rows each.
std::vector<std::int64_t> balancedCuts(const std::int64_t* offsets, std::int64_t targets, std::int64_t rows, int parts)
{
    std::vector<std::int64_t> cuts{0};
    for (int part = 1; part < parts; ++part) {
        const std::int64_t wanted = rows / parts * part;
        const std::int64_t cut = std::lower_bound(offsets + 1, offsets + 1 + targets, wanted) - (offsets + 1);
        cuts.push_back(std::max(cut, cuts.back()));
    }
    cuts.push_back(targets);
    return cuts;
}

// Each thread reads all keys in order and places those of its own targets: rows come out ascending, nothing is shared,
// and no memory is needed but the result.
template <class Number, class Row>
void placeAll(const Keys<Number>& keys, std::int64_t* offsets, Row* rows, std::int64_t targets, int threads)
{
    const std::vector<std::int64_t> cuts = balancedCuts(offsets, targets, keys.rows, threads);
    base::parallelParts(threads, threads, 1, [&](int part, std::int64_t, std::int64_t) {
        placeRows(keys, offsets, rows, cuts[static_cast<std::size_t>(part)], cuts[static_cast<std::size_t>(part) + 1]);
    });
}

// Each thread counts and places the rows of its own share, with a cursor for each target in `cursors` (zeros, one row of
// targets per thread): every key is read twice, whatever the number of threads, and nothing is shared.
template <class Number>
void placeShares(const Keys<Number>& keys, std::int64_t* offsets, std::uint32_t* rows, std::int64_t targets,
                 std::uint32_t* cursors, int threads)
{
    const auto inShares = [&](const auto& visit) {
        base::parallelParts(keys.rows, threads, kGrain, [&](int part, std::int64_t begin, std::int64_t end) {
            std::uint32_t* const mine = cursors + part * targets;
            for (std::int64_t row = begin; row < end; ++row) visit(mine[keys[row]], row);
        });
    };
    inShares([](std::uint32_t& cursor, std::int64_t) { ++cursor; });
    std::int64_t sum = 0;
    for (std::int64_t target = 0; target < targets; ++target) {
        offsets[target] = sum;
        for (int part = 0; part < threads; ++part) {
            std::uint32_t& cursor = cursors[part * targets + target];
            const std::uint32_t count = std::exchange(cursor, static_cast<std::uint32_t>(sum));
            sum += count;
        }
    }
    offsets[targets] = sum;
    inShares([&](std::uint32_t& cursor, std::int64_t row) { rows[cursor++] = static_cast<std::uint32_t>(row); });
}

// The rows at which keys descend: the first one and their number, counted exactly only up to one.
struct Descents {
    std::int64_t row = 0, count = 0;
};

template <class Number>
Descents descents(const Keys<Number>& keys, int threads)
{
    std::atomic<std::int64_t> found = keys.rows, count = 0;
    base::parallelParts(keys.rows, threads, kGrain, [&](int, std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = std::max<std::int64_t>(begin, 1); row < end; row += kGrain) {
            if (count.load(std::memory_order_relaxed) > 1) return;
            const std::int64_t last = std::min(row + kGrain, end);
            for (std::int64_t r = row; r < last; ++r)
                if (keys[r] < keys[r - 1]) {
                    found = r;
                    ++count;
                }
        }
    });
    return {found, count};
}

// For ascending keys: each part calls put(target, row) for the targets that start in it, also for one past the last.
template <class Number, class Put>
void startsOfAscending(const Keys<Number>& keys, std::int64_t targets, int threads, Put&& put)
{
    base::parallelParts(keys.rows, threads, kGrain, [&](int, std::int64_t begin, std::int64_t end) {
        std::int64_t next = begin > 0 ? keys[begin - 1] + 1 : 0;
        for (std::int64_t row = begin; row < end; ++row)
            for (; next <= keys[row]; ++next) put(next, row);
    });
    for (std::int64_t t = keys.rows > 0 ? keys[keys.rows - 1] + 1 : 0; t <= targets; ++t) put(t, keys.rows);
}

}  // namespace

base::Status Adjacency::allocateOffsets(const Scratch& scratch)
{
    auto bytes = scratch.allocate((m_targets + 1) * static_cast<std::int64_t>(sizeof(std::int64_t)));
    if (!bytes) return base::forward(bytes);
    m_offsetBytes = std::move(*bytes);
    m_offsets = offsetsToWrite();
    return {};
}

base::Status Adjacency::allocateRows(const Scratch& scratch)
{
    auto bytes = scratch.allocate(m_count * (wide() ? 8 : 4), Fill::Any);
    if (!bytes) return base::forward(bytes);
    m_rowBytes = std::move(*bytes);
    setRows();
    return {};
}

void Adjacency::setRows()
{
    m_rows32 = wide() ? nullptr : rows32();
    m_rows64 = wide() ? rows64() : nullptr;
}

base::Status Adjacency::allocateRuns(const Scratch& scratch)
{
    auto bytes = scratch.allocate((m_targets + 1) * static_cast<std::int64_t>(sizeof(Runs)), Fill::Any);
    if (!bytes) return base::forward(bytes);
    m_rowBytes = std::move(*bytes);
    m_runs = runsToWrite();
    return {};
}

// For keys that ascend up to row `split`, and again from there on.
template <class Number>
void Adjacency::findRuns(const Number* key, std::int64_t stride, std::int64_t split, int threads)
{
    Runs* const runs = runsToWrite();
    startsOfAscending(Keys<Number>{key, stride, split}, m_targets, threads,
                      [=](std::int64_t target, std::int64_t row) { runs[target].first = row; });
    startsOfAscending(Keys<Number>{key + split * stride, stride, m_count - split}, m_targets, threads,
                      [=](std::int64_t target, std::int64_t row) { runs[target].second = split + row; });
    std::int64_t* const offsets = offsetsToWrite();
    base::parallelParts(m_targets + 1, threads, kGrain, [&](int, std::int64_t first, std::int64_t last) {
        for (std::int64_t t = first; t < last; ++t) {
            offsets[t] = runs[t].first + runs[t].second - split;
            if (t < m_targets) runs[t].count = runs[t + 1].first - runs[t].first;
        }
    });
}

template <class Number>
base::Result<Adjacency> Adjacency::buildFrom(const Number* key, std::int64_t stride, std::int64_t rows,
                                             std::int64_t targets, const Scratch& scratch, int threads)
{
    Adjacency result;
    result.m_targets = targets;
    result.m_count = rows;
    if (const auto made = result.allocateOffsets(scratch); !made) return base::forward(made);
    std::int64_t* const offsets = result.offsetsToWrite();
    const Keys<Number> keys{key, stride, rows};
    const int used = static_cast<int>(std::clamp<std::int64_t>(rows / kGrain, 1, std::max(threads, 1)));
    const Descents found = descents(keys, used);
    if (found.count == 0) {
        startsOfAscending(keys, targets, used, [=](std::int64_t target, std::int64_t row) { offsets[target] = row; });
        return result;
    }
    if (found.count == 1 && rows / kRowsForRuns >= targets) {
        if (const auto made = result.allocateRuns(scratch); !made) return base::forward(made);
        result.findRuns(key, stride, found.row, used);
        return result;
    }
    if (const auto made = result.allocateRows(scratch); !made) return base::forward(made);
    if (used > 1 && !result.wide() && used * targets <= rows) {  // cursors take no more memory than the result
        const auto cursors = scratch.allocate(used * targets * static_cast<std::int64_t>(sizeof(std::uint32_t)));
        if (!cursors) return base::forward(cursors);
        placeShares(keys, offsets, result.rows32(), targets, reinterpret_cast<std::uint32_t*>(cursors->get()), used);
        return result;
    }
    countKeys(keys, offsets, used);
    startsFromCounts(offsets, targets);
    if (result.wide()) placeAll(keys, offsets, result.rows64(), targets, used);
    else placeAll(keys, offsets, result.rows32(), targets, used);
    return result;
}

base::Result<Adjacency> Adjacency::build(const std::int64_t* key, std::int64_t stride, std::int64_t rows,
                                         std::int64_t targets, const Scratch& scratch, int threads)
{
    return buildFrom(key, stride, rows, targets, scratch, threads);
}

base::Result<Adjacency> Adjacency::build(const std::int32_t* key, std::int64_t stride, std::int64_t rows,
                                         std::int64_t targets, const Scratch& scratch, int threads)
{
    return buildFrom(key, stride, rows, targets, scratch, threads);
}

base::Result<Adjacency> Adjacency::arranged(const std::int64_t* order, const Scratch& scratch, int threads) const
{
    Adjacency result;
    result.m_targets = m_targets;
    result.m_count = m_count;
    if (const auto made = result.allocateOffsets(scratch); !made) return base::forward(made);
    std::int64_t* const offsets = result.offsetsToWrite();
    base::parallelParts(m_targets, threads, kArrangeGrain, [&](int, std::int64_t first, std::int64_t last) {
        for (std::int64_t t = first; t < last; ++t) offsets[t + 1] = end(order[t]) - begin(order[t]);
    });
    offsets[0] = 0;
    std::partial_sum(offsets, offsets + m_targets + 1, offsets);
    const bool runs = !m_rows32 && !m_rows64;
    const auto made = runs ? result.arrangeRuns(*this, order, scratch, threads)
                           : result.arrangeNumbers(*this, order, scratch, threads);
    if (!made) return base::forward(made);
    return result;
}

base::Status Adjacency::arrangeRuns(const Adjacency& original, const std::int64_t* order, const Scratch& scratch,
                                    int threads)
{
    if (auto made = allocateRuns(scratch); !made) return made;
    base::parallelParts(m_targets, threads, kGrain, [&](int, std::int64_t first, std::int64_t last) {
        for (std::int64_t t = first; t < last; ++t) runsToWrite()[t] = original.runsOf(order[t]);
    });
    return {};
}

base::Status Adjacency::arrangeNumbers(const Adjacency& original, const std::int64_t* order, const Scratch& scratch,
                                       int threads)
{
    if (auto made = allocateRows(scratch); !made) return made;
    if (wide()) arrange(original, *this, order, original.m_rows64, rows64(), threads);
    else arrange(original, *this, order, original.m_rows32, rows32(), threads);
    return {};
}

std::array<ArrayCache::Bytes, 3> Adjacency::arrays() const
{
    const auto bytes = [](const auto* numbers, std::int64_t count) {
        return numbers ? std::as_bytes(std::span(numbers, static_cast<std::size_t>(count))) : ArrayCache::Bytes();
    };
    return {bytes(m_offsets, m_targets + 1), wide() ? bytes(m_rows64, m_count) : bytes(m_rows32, m_count),
            bytes(m_runs, m_targets + 1)};
}

bool Adjacency::staysWithin(std::int64_t firstTarget, std::int64_t lastTarget) const
{
    bool within = true;
    for (std::int64_t t = firstTarget; t < lastTarget; ++t) within &= begin(t) <= end(t);
    for (std::int64_t t = firstTarget; m_runs && within && t < lastTarget; ++t) {
        const Runs& runs = m_runs[t];
        const std::int64_t others = end(t) - begin(t) - runs.count;
        within = runs.count >= 0 && others >= 0 && runs.first >= 0 && runs.second >= 0 &&
                 (runs.count == 0 || runs.first <= m_count - runs.count) &&
                 (others == 0 || runs.second <= m_count - others);
    }
    return within;
}

bool Adjacency::leadsNowhereElse(int threads) const
{
    if (m_offsets[0] != 0 || m_offsets[m_targets] != m_count) return false;
    std::atomic<bool> within = true;
    base::parallelParts(m_targets, threads, kGrain, [&](int, std::int64_t first, std::int64_t last) {
        if (!staysWithin(first, last)) within = false;
    });
    const auto count = static_cast<std::uint64_t>(m_count);
    base::parallelParts(numbered() ? m_count : 0, threads, kGrain, [&](int, std::int64_t first, std::int64_t last) {
        std::uint64_t largest = 0;
        if (m_rows32) largest = *std::max_element(m_rows32 + first, m_rows32 + last);
        else
            for (std::int64_t p = first; p < last; ++p)
                largest = std::max(largest, static_cast<std::uint64_t>(m_rows64[p]));
        if (first < last && largest >= count) within = false;
    });
    return within;
}

std::optional<Adjacency> Adjacency::from(std::int64_t targets, std::int64_t rows, const ArrayCache::Entry& entry,
                                         int threads)
{
    if (entry.arrays.size() != 3) return std::nullopt;
    Adjacency made;
    made.m_targets = targets;
    made.m_count = rows;
    made.m_offsetBytes = entry.shared(0);
    made.m_offsets = made.offsetsToWrite();
    const bool runs = !entry.arrays[2].empty(), numbers = !entry.arrays[1].empty();
    if (runs || numbers) made.m_rowBytes = entry.shared(runs ? 2 : 1);
    if (runs) made.m_runs = made.runsToWrite();
    if (numbers) made.setRows();
    const auto same = [](ArrayCache::Bytes a, ArrayCache::Bytes b) { return a.size() == b.size(); };
    if (!std::ranges::equal(made.arrays(), entry.arrays, same) || !made.leadsNowhereElse(threads)) return std::nullopt;
    return made;
}

std::int64_t Adjacency::bytes() const
{
    const std::int64_t offsets = (m_targets + 1) * 8;
    if (m_runs) return offsets + (m_targets + 1) * static_cast<std::int64_t>(sizeof(Runs));
    return offsets + (inOrder() ? 0 : m_count * (wide() ? 8 : 4));
}

}  // namespace hopscope::graph
