#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "executor/rows/ranges.h"

using namespace hopscope::executor;

namespace {

using RowNumbers = std::set<std::int64_t>;

RowNumbers numbersOf(const Ranges& ranges)
{
    RowNumbers numbers;
    for (const Destinations& r : ranges)
        for (std::int64_t i = 0; i < r.count; ++i) numbers.insert(r.first + i);
    return numbers;
}

Ranges drawn(std::mt19937& random, std::int64_t count)
{
    Ranges ranges;
    for (int i = static_cast<int>(random() % 6); i > 0; --i) {
        const auto first = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
        const auto length = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count - first + 1));
        ranges.push_back({first, length});
    }
    return ranges;
}

bool inOrder(const Ranges& ranges)
{
    for (std::size_t i = 0; i < ranges.size(); ++i)
        if (ranges[i].count < 1 || (i > 0 && ranges[i - 1].first + ranges[i - 1].count >= ranges[i].first))
            return false;
    return true;
}

Chunk chunk(std::int64_t first, std::int64_t count)
{
    Chunk made;
    made.first = first;
    made.count = count;
    return made;
}

}  // namespace

TEST_CASE("sets of ranges are what sets of numbers are")
{
    std::mt19937 random(3);
    constexpr std::int64_t count = 24;
    for (int round = 0; round < 2000; ++round) {
        CAPTURE(round);
        const Ranges one = drawn(random, count), two = drawn(random, count);
        const Ranges a = united(one), b = united(two), both = intersection(a, b), left = gaps(a, count);
        RowNumbers common, missing;
        const RowNumbers inA = numbersOf(one), inB = numbersOf(two);
        std::ranges::set_intersection(inA, inB, std::inserter(common, common.end()));
        for (std::int64_t i = 0; i < count; ++i)
            if (!inA.contains(i)) missing.insert(i);
        CHECK(inOrder(a));
        CHECK(inOrder(left));
        CHECK(numbersOf(a) == inA);
        CHECK(numbersOf(both) == common);
        CHECK(numbersOf(left) == missing);
        CHECK(sizeOf(a) == static_cast<std::int64_t>(inA.size()));
    }
}

TEST_CASE("a later record replaces what it overlaps")
{
    Chunks chunks;
    for (const auto& [first, count] : {std::pair{20, 10}, {0, 10}, {10, 10}}) insert(chunks, chunk(first, count));
    CHECK(chunks.size() == 3);  // those that touch do not overlap
    insert(chunks, chunk(5, 10));
    CHECK(chunks.size() == 2);
    CHECK(numbersOf(rangesOf(chunks)) == numbersOf({{5, 10}, {20, 10}}));
}

namespace {

// The fewest destinations that any choice of records without overlaps leaves open, by trying all of them.
std::int64_t fewestOpen(const std::vector<Chunk>& chunks, std::int64_t count)
{
    std::int64_t best = count;
    for (unsigned choice = 0; choice < 1U << chunks.size(); ++choice) {
        std::vector<std::int64_t> times(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < chunks.size(); ++i)
            for (std::int64_t d = 0; d < chunks[i].count && (choice >> i & 1U) != 0; ++d)
                ++times[static_cast<std::size_t>(chunks[i].first + d)];
        if (std::ranges::any_of(times, [](std::int64_t n) { return n > 1; })) continue;
        best = std::min<std::int64_t>(best, std::ranges::count(times, 0));
    }
    return best;
}

}  // namespace

TEST_CASE("of records that overlap, those are chosen that leave the fewest destinations open")
{
    std::mt19937 random(5);
    constexpr std::int64_t count = 14;
    for (int round = 0; round < 1500; ++round) {
        CAPTURE(round);
        std::vector<Chunk> chunks;
        for (const Destinations& r : drawn(random, count)) chunks.push_back(chunk(r.first, r.count));
        const Chunks chosen = cover(chunks);
        std::int64_t covered = 0, end = 0;
        for (const auto& [first, one] : chosen) {
            CHECK(first >= end);
            end = first + one.count;
            covered += one.count;
        }
        CHECK(count - covered == fewestOpen(chunks, count));
    }
}

TEST_CASE("of records that cover the same, the later ones are chosen")
{
    Chunk older = chunk(0, 10), newer = chunk(0, 10);
    newer.tile = 7;
    CHECK(cover({older, newer}).at(0).tile == 7);
    CHECK(cover({chunk(0, 10), chunk(0, 5), chunk(5, 5)}).size() == 2);
}

TEST_CASE("what is in one set of ranges and not in another one")
{
    std::mt19937 random(4);
    for (int round = 0; round < 2000; ++round) {
        CAPTURE(round);
        const Ranges a = united(drawn(random, 24)), b = united(drawn(random, 24));
        RowNumbers expected;
        const RowNumbers inA = numbersOf(a), inB = numbersOf(b);
        std::ranges::set_difference(inA, inB, std::inserter(expected, expected.end()));
        CHECK(numbersOf(difference(a, b)) == expected);
        CHECK(inOrder(difference(a, b)));
    }
}
