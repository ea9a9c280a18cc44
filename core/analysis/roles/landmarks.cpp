#include "analysis/roles/landmarks.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <unordered_map>

#include "analysis/roles/mix.h"
#include "base/parallel.h"

namespace hopscope::analysis::landmarks {

namespace {

constexpr std::int64_t kCompared = 100'000;  // edges looked at closely
constexpr std::int64_t kCounted = 20'000;    // numbers counted for the most frequent one
constexpr std::int64_t kGrain = 250'000;     // of a thread
constexpr std::int64_t kAtOnce = 50'000;     // edges between looks at what other threads have found

constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ull, kOther = 0xd6e8feb86659fd93ull;

struct Hashed {
    std::uint64_t hash;
    std::int64_t position;
};

// Concatenates what `find(begin, end)` returns for the parts of [0, count), in order.
template <class Item, class Find>
std::vector<Item> gathered(std::int64_t count, Find&& find)
{
    const int threads = base::hardwareThreads();
    std::vector<std::vector<Item>> each(static_cast<std::size_t>(threads));
    base::parallelParts(count, threads, kGrain, [&](int part, std::int64_t begin, std::int64_t end) {
        each[static_cast<std::size_t>(part)] = find(begin, end);
    });
    std::vector<Item> all = std::move(each.front());
    for (std::size_t part = 1; part < each.size(); ++part) all.insert(all.end(), each[part].begin(), each[part].end());
    return all;
}

// Those whose hash falls into one of `parts` parts: the first ones, as the upper half of a product tells.
std::vector<Hashed> hashes(const IntColumn& source, const IntColumn& destination, std::uint64_t seed)
{
    const auto parts = static_cast<std::uint64_t>(source.size() / kCompared + 1);
    const std::uint64_t below = parts == 1 ? ~std::uint64_t{0} : ~std::uint64_t{0} / parts;
    return gathered<Hashed>(source.size(), [&](std::int64_t begin, std::int64_t end) {
        std::vector<Hashed> kept;
        kept.reserve(static_cast<std::size_t>((end - begin) / static_cast<std::int64_t>(parts)) * 9 / 8 + 16);
        withNumbers(source, [&](auto from) {
            withNumbers(destination, [&](auto to) {
                for (std::int64_t p = begin; p < end; ++p) {
                    const std::uint64_t hash = mix(static_cast<std::uint64_t>(from(p)) * kOdd +
                                                   (static_cast<std::uint64_t>(to(p)) + seed) * kOther);
                    if (hash <= below) kept.push_back({hash, p});
                }
            });
        });
        return kept;
    });
}

// `end` if there is none.
std::int64_t selfLoopWithin(const IntColumn& source, const IntColumn& destination, std::int64_t begin, std::int64_t end)
{
    std::int64_t at = begin;
    withNumbers(source, [&](auto from) {
        withNumbers(destination, [&](auto to) {
            while (at < end && from(at) != to(at)) ++at;
        });
    });
    return at;
}

}  // namespace

std::int64_t repeatedEdge(const IntColumn& source, const IntColumn& destination, std::uint64_t seed)
{
    const std::vector<Hashed> kept = hashes(source, destination, seed);
    const std::size_t slots = std::bit_ceil(2 * kept.size() + 1);
    std::vector<std::int32_t> table(slots, -1);  // positions in `kept`
    for (std::size_t i = 0; i < kept.size(); ++i) {
        std::size_t slot = mix(kept[i].hash) & (slots - 1);
        for (; table[slot] >= 0; slot = (slot + 1) & (slots - 1)) {
            const std::int64_t p = kept[static_cast<std::size_t>(table[slot])].position, q = kept[i].position;
            if (source[p] == source[q] && destination[p] == destination[q]) return p;
        }
        table[slot] = static_cast<std::int32_t>(i);
    }
    return -1;
}

std::int64_t selfLoop(const IntColumn& source, const IntColumn& destination)
{
    std::atomic<std::int64_t> first = source.size();
    base::parallelParts(source.size(), base::hardwareThreads(), kGrain, [&](int, std::int64_t begin, std::int64_t end) {
        for (; begin < std::min<std::int64_t>(end, first); begin += kAtOnce) {
            const std::int64_t last = std::min(begin + kAtOnce, end);
            const std::int64_t found = selfLoopWithin(source, destination, begin, last);
            if (found == last) continue;
            for (std::int64_t known = first; found < known && !first.compare_exchange_weak(known, found);) {}
            return;
        }
    });
    return first < source.size() ? first.load() : -1;
}

std::int64_t mostFrequent(const IntColumn& ends)
{
    const std::int64_t step = ends.size() / kCounted + 1;
    std::unordered_map<std::int64_t, std::int64_t> counts;
    std::int64_t best = -1, bestCount = 0;
    for (std::int64_t p = 0; p < ends.size(); p += step) {
        const std::int64_t count = ++counts[ends[p]];
        if (count <= bestCount) continue;
        best = ends[p];
        bestCount = count;
    }
    return best;
}

std::int64_t untouchedRow(std::int64_t rows, std::span<const IntColumn> ends)
{
    const int threads = base::hardwareThreads();
    std::vector<RowSet> touched(static_cast<std::size_t>(threads));
    for (const IntColumn& column : ends) {
        base::parallelParts(column.size(), threads, kGrain, [&](int part, std::int64_t begin, std::int64_t end) {
            RowSet& mine = touched[static_cast<std::size_t>(part)];
            if (mine.rows() != rows) mine = RowSet(rows);
            withNumbers(column, [&](auto row) {
                for (std::int64_t p = begin; p < end; ++p) mine.mark(row(p));
            });
        });
    }
    RowSet all(rows);
    for (const RowSet& some : touched)
        if (some.rows() == rows) all.markAll(some);
    return all.firstAbsent();
}

std::vector<std::int64_t> edgesBetween(const IntColumn& source, const RowSet& sources, const IntColumn& destination,
                                       const RowSet& destinations)
{
    return gathered<std::int64_t>(source.size(), [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::int64_t> found;
        withNumbers(destination, [&](auto to) {
            for (std::int64_t p = begin; p < end; ++p)
                if (destinations.has(to(p)) && sources.has(source[p])) found.push_back(p);
        });
        return found;
    });
}

}  // namespace hopscope::analysis::landmarks
