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

// Allocates scratch memory for arrays of a whole graph: up to a threshold on the heap, above it by mapScratch().
class Scratch {
public:
    explicit Scratch(std::string folder, std::int64_t threshold = 1 << 20);
    // Fails with Resources if there is no memory, and as mapScratchFile() does.
    [[nodiscard]] base::Result<std::shared_ptr<std::byte>> allocate(std::int64_t bytes, Fill fill = Fill::Zeros) const;

private:
    std::string m_folder;
    std::int64_t m_threshold;
};

// Groups rows by the value of a key: the rows of target t are the rows r with key[r] == t, in ascending order. Offsets
// are 64-bit; row numbers are 32-bit if the table has fewer than 2^32 rows. If the keys are in ascending order, as in a
// list of edges sorted by destination, each row is at the position of its number, and no numbers are stored. The
// keys may consist of two ascending runs, as when self-loops follow such edges. If there are then at least eight rows
// for each target on average, only the place of each target's rows in each run is stored. The same is stored if the
// targets of an adjacency without row numbers are put into a different order.
class Adjacency {
public:
    // Groups the rows on at most `threads` threads; deterministic. The key of row r is key[r * stride]. The caller has
    // checked that every key is in [0, targets).
    static base::Result<Adjacency> build(const std::int64_t* key, std::int64_t stride, std::int64_t rows,
                                         std::int64_t targets, const Scratch& scratch, int threads);
    static base::Result<Adjacency> build(const std::int32_t* key, std::int64_t stride, std::int64_t rows,
                                         std::int64_t targets, const Scratch& scratch, int threads);

    // Returns an adjacency with the targets in a different order: its target t has the rows of target order[t] of this
    // one.
    [[nodiscard]] base::Result<Adjacency> arranged(const std::int64_t* order, const Scratch& scratch,
                                                   int threads) const;

    // Restores an adjacency with these numbers of targets and rows from its arrays(). Returns nullopt if the sizes of
    // the arrays do not match, or if a number in them is out of range.
    static std::optional<Adjacency> from(std::int64_t targets, std::int64_t rows, const ArrayCache::Entry& entry,
                                         int threads);
    // Returns the offsets, row numbers and runs. Arrays that this adjacency does not have are empty. Valid as long as
    // any copy of this object exists.
    [[nodiscard]] std::array<ArrayCache::Bytes, 3> arrays() const;

    [[nodiscard]] std::int64_t targets() const { return m_targets; }
    // Returns the number of rows of all targets.
    [[nodiscard]] std::int64_t rows() const { return m_targets ? end(m_targets - 1) : 0; }
    [[nodiscard]] std::int64_t begin(std::int64_t target) const { return m_offsets[target]; }
    [[nodiscard]] std::int64_t end(std::int64_t target) const { return m_offsets[target + 1]; }
    // Calls visit(position, row) for the positions [first, last) in ascending order. Finding the first one can take
    // logarithmic time in the number of targets.
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
    // Whether row numbers are stored.
    [[nodiscard]] bool numbered() const { return m_rows32 || m_rows64; }
    // Returns targets() + 1 numbers: offsets()[t] is begin(t). Valid as long as any copy of this object exists.
    [[nodiscard]] const std::int64_t* offsets() const { return m_offsets; }
    [[nodiscard]] std::int64_t bytes() const;

private:
    template <class Number>
    static base::Result<Adjacency> buildFrom(const Number* key, std::int64_t stride, std::int64_t rows,
                                             std::int64_t targets, const Scratch& scratch, int threads);
    // The rows of a target: `count` rows that begin at `first`, then the others, which begin at `second`.
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
    // Allocate memory for offsets, filled with zeros, for row numbers, and for runs.
    base::Status allocateOffsets(const Scratch& scratch);
    base::Status allocateRows(const Scratch& scratch);
    base::Status allocateRuns(const Scratch& scratch);
    void setRows();  // sets the pointer to the row numbers to m_rowBytes
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
    const std::uint32_t* m_rows32 = nullptr;  // at most one of the three is set; none: rows are in order
    const std::int64_t* m_rows64 = nullptr;
    const Runs* m_runs = nullptr;
};

// Permutes an array with an element for each position of `original` to the positions of `arranged`, which is
// original.arranged(order): to[p] = from[q] for the positions p and q of the same row.
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
