#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/result.h"
#include "graph/array_cache.h"
#include "graph/file.h"

namespace hopscope::graph {

// Scratch memory for whole-graph arrays: below a threshold from the heap, above it by mapScratch().
class Scratch {
public:
    explicit Scratch(std::string folder, std::int64_t threshold = 1 << 20);
    // Resources if the disk is full.
    [[nodiscard]] base::Result<std::shared_ptr<std::byte>> allocate(std::int64_t bytes, Fill fill = Fill::Zeros) const;

private:
    std::string m_folder;
    std::int64_t m_threshold;
};

// Rows grouped by the value of a key: rows(v) lists, in ascending order, the rows r with key[r] == v. 64-bit offsets;
// row numbers are 32-bit where the table has fewer than 2^32 rows. If keys ascend already, as in a list of edges sorted
// by destination, rows are their own positions and no numbers are stored. If they ascend twice, as with self-loops after
// such edges, or if the targets of such a table are in a different order, only the start of each target's rows is
// stored.
class Adjacency {
public:
    // Counting sort, linear in rows + targets, on `threads` threads; deterministic. key[r * stride]; every key in
    // [0, targets) has been checked before.
    static base::Result<Adjacency> build(const std::int64_t* key, std::int64_t stride, std::int64_t rows,
                                         std::int64_t targets, const Scratch& scratch, int threads);
    static base::Result<Adjacency> build(const std::int32_t* key, std::int64_t stride, std::int64_t rows,
                                         std::int64_t targets, const Scratch& scratch, int threads);

    // The same rows with the targets in a different order: target t becomes target order[t] of this one, with the same
    // rows.
    [[nodiscard]] base::Result<Adjacency> arranged(const std::int64_t* order, const Scratch& scratch,
                                                   int threads) const;

    // Restores an adjacency with these numbers of targets and rows from its arrays(); nullopt: the sizes of the
    // arrays do not fit, or a number in them is out of range. Linear in both.
    static std::optional<Adjacency> from(std::int64_t targets, std::int64_t rows, const ArrayCache::Entry& entry,
                                         int threads);
    // The offsets, row numbers and runs of this one; arrays that it lacks are empty. Valid as long as any copy of it.
    [[nodiscard]] std::array<ArrayCache::Bytes, 3> arrays() const;

    [[nodiscard]] std::int64_t targets() const { return m_targets; }
    // The number of rows of all targets.
    [[nodiscard]] std::int64_t rows() const { return m_targets ? end(m_targets - 1) : 0; }
    [[nodiscard]] std::int64_t begin(std::int64_t target) const { return m_offsets[target]; }
    [[nodiscard]] std::int64_t end(std::int64_t target) const { return m_offsets[target + 1]; }
    // Calls visit(position, row) for these positions, ascending. Logarithmic in the targets before the first one.
    template <class Visit>
    void eachRow(std::int64_t first, std::int64_t last, Visit&& visit) const
    {
        if (m_rows32)
            for (std::int64_t p = first; p < last; ++p) visit(p, static_cast<std::int64_t>(m_rows32[p]));
        else if (m_rows64)
            for (std::int64_t p = first; p < last; ++p) visit(p, m_rows64[p]);
        else if (m_runs) eachInRuns(first, last, visit);
        else
            for (std::int64_t p = first; p < last; ++p) visit(p, p);
    }
    // Whether each row is at the position of its number.
    [[nodiscard]] bool inOrder() const { return !m_rows32 && !m_rows64 && !m_runs; }
    // Whether numbers of rows are kept.
    [[nodiscard]] bool numbered() const { return m_rows32 || m_rows64; }
    // targets() + 1 numbers: offsets()[t] is begin(t). Valid as long as any copy of this object.
    [[nodiscard]] const std::int64_t* offsets() const { return m_offsets; }
    [[nodiscard]] std::int64_t bytes() const;

private:
    template <class Number>
    static base::Result<Adjacency> buildFrom(const Number* key, std::int64_t stride, std::int64_t rows,
                                             std::int64_t targets, const Scratch& scratch, int threads);
    // The rows of a target: `count` from `first` on, then others from `second` on.
    struct Runs {
        std::int64_t first = 0, count = 0, second = 0;
    };

    template <class Visit>
    void eachInRuns(std::int64_t first, std::int64_t last, Visit&& visit) const
    {
        std::int64_t target = std::upper_bound(m_offsets, m_offsets + m_targets + 1, first) - m_offsets - 1;
        for (std::int64_t p = first; p < last; ++target) {
            const Runs& runs = m_runs[target];
            const std::int64_t split = begin(target) + runs.count, until = std::min(end(target), last);
            for (; p < std::min(split, until); ++p) visit(p, runs.first + p - begin(target));
            for (; p < until; ++p) visit(p, runs.second + p - split);
        }
    }
    [[nodiscard]] Runs runsOf(std::int64_t target) const
    {
        return m_runs ? m_runs[target] : Runs{begin(target), end(target) - begin(target), 0};
    }
    // Memory for offsets, all zero, and for row numbers.
    base::Status allocateOffsets(const Scratch& scratch);
    base::Status allocateRows(const Scratch& scratch);
    base::Status allocateRuns(const Scratch& scratch);
    void setRows();  // to m_rowBytes
    [[nodiscard]] bool leadsNowhereElse(int threads) const;
    [[nodiscard]] bool staysWithin(std::int64_t firstTarget, std::int64_t lastTarget) const;
    template <class Number>
    void findRuns(const Number* key, std::int64_t stride, std::int64_t split, int threads);
    base::Status arrangeRuns(const Adjacency& original, const std::int64_t* order, const Scratch& scratch, int threads);
    base::Status arrangeNumbers(const Adjacency& original, const std::int64_t* order, const Scratch& scratch,
                                int threads);
    [[nodiscard]] std::int64_t* offsetsToWrite() const { return reinterpret_cast<std::int64_t*>(m_offsetBytes.get()); }
    [[nodiscard]] std::uint32_t* rows32() const { return reinterpret_cast<std::uint32_t*>(m_rowBytes.get()); }
    [[nodiscard]] Runs* runsToWrite() const { return reinterpret_cast<Runs*>(m_rowBytes.get()); }
    [[nodiscard]] std::int64_t* rows64() const { return reinterpret_cast<std::int64_t*>(m_rowBytes.get()); }
    [[nodiscard]] bool wide() const { return m_count > std::int64_t{std::numeric_limits<std::uint32_t>::max()}; }

    std::int64_t m_targets = 0, m_count = 0;
    std::shared_ptr<std::byte> m_offsetBytes, m_rowBytes;
    const std::int64_t* m_offsets = nullptr;
    const std::uint32_t* m_rows32 = nullptr;  // one of these; none: rows are in order
    const std::int64_t* m_rows64 = nullptr;
    const Runs* m_runs = nullptr;
};

// to[p] = from[q] for each position p of `arranged`, which is `original`.arranged(order), and the position q of the same
// row in `original`.
template <class From, class To>
void arrange(const Adjacency& original, const Adjacency& arranged, const std::int64_t* order, const From* from, To* to,
             int threads)
{
    constexpr std::int64_t grain = 1 << 12;
    base::parallelParts(original.targets(), threads, grain, [&](int, std::int64_t first, std::int64_t last) {
        for (std::int64_t t = first; t < last; ++t)
            std::transform(from + original.begin(order[t]), from + original.end(order[t]), to + arranged.begin(t),
                           [](From number) { return static_cast<To>(number); });
    });
}

}  // namespace hopscope::graph
