#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>

#include "graph/adjacency.h"
#include "graph/files.h"

using namespace hopscope;
using namespace hopscope::graph;
using namespace hopscope::graph::testing;

namespace {

using Lists = std::vector<std::vector<std::int64_t>>;

Lists bruteForce(const std::vector<std::int64_t>& keys, std::int64_t stride, std::int64_t rows, std::int64_t targets)
{
    Lists lists(static_cast<std::size_t>(targets));
    for (std::int64_t row = 0; row < rows; ++row)
        lists[static_cast<std::size_t>(keys[static_cast<std::size_t>(row * stride)])].push_back(row);
    return lists;
}

Lists listsOf(const Adjacency& adjacency)
{
    Lists lists;
    for (std::int64_t target = 0; target < adjacency.targets(); ++target) {
        lists.emplace_back();
        adjacency.eachRow(adjacency.begin(target), adjacency.end(target),
                          [&](std::int64_t, std::int64_t row) { lists.back().push_back(row); });
    }
    return lists;
}

// By position.
std::vector<std::int64_t> rowsOf(const Adjacency& adjacency, std::int64_t first, std::int64_t last)
{
    std::vector<std::int64_t> rows;
    adjacency.eachRow(first, last, [&](std::int64_t p, std::int64_t row) {
        CHECK(p == first + static_cast<std::int64_t>(rows.size()));
        rows.push_back(row);
    });
    return rows;
}

std::vector<std::int64_t> joined(const Lists& lists)
{
    std::vector<std::int64_t> all;
    for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
    return all;
}

// Rows from `first` on.
void sortKeys(std::vector<std::int64_t>& keys, std::int64_t stride, std::int64_t first, std::int64_t rows)
{
    std::vector<std::int64_t> sorted;
    for (std::int64_t row = first; row < rows; ++row) sorted.push_back(keys[static_cast<std::size_t>(row * stride)]);
    std::ranges::sort(sorted);
    for (std::int64_t row = first; row < rows; ++row)
        keys[static_cast<std::size_t>(row * stride)] = sorted[static_cast<std::size_t>(row - first)];
}

// So that they ascend up to some row, and again from there on.
void sortTwice(std::vector<std::int64_t>& keys, std::int64_t stride, std::int64_t rows, std::uint64_t random)
{
    const auto split = static_cast<std::int64_t>(random % static_cast<std::uint64_t>(rows + 1));
    sortKeys(keys, stride, 0, split);
    sortKeys(keys, stride, split, rows);
}

}  // namespace

TEST_CASE("rows are grouped by key in ascending order, whatever stride, threads and scratch")
{
    const TempFolder folder;
    std::mt19937_64 random(99);
    for (int round = 0; round < 60; ++round) {
        const auto rows = static_cast<std::int64_t>(round % 3 == 0 ? random() % 200'000 : random() % 50);
        const auto targets = static_cast<std::int64_t>(random() % (round % 2 == 0 ? 10 : 30'000) + 1);
        const auto stride = static_cast<std::int64_t>(random() % 3 + 1);
        const bool skewed = round % 4 == 1;
        std::vector<std::int64_t> keys(static_cast<std::size_t>(rows * stride + 1), -1);
        for (std::int64_t row = 0; row < rows; ++row)
            keys[static_cast<std::size_t>(row * stride)] =
                skewed && random() % 10 != 0
                    ? 0
                    : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(targets));
        const bool sorted = round % 5 == 0;
        if (sorted) sortKeys(keys, stride, 0, rows);
        if (round % 5 == 1) sortTwice(keys, stride, rows, random());
        const Lists expected = bruteForce(keys, stride, rows, targets);
        for (const int threads : {1, 2, 5}) {
            const Scratch scratch(folder.path(), round % 2 == 0 ? 64 : 1 << 20);
            const auto adjacency = Adjacency::build(keys.data(), stride, rows, targets, scratch, threads);
            CAPTURE(round);
            CAPTURE(rows);
            CAPTURE(targets);
            CAPTURE(threads);
            REQUIRE(adjacency);
            const bool equal = listsOf(*adjacency) == expected;
            CHECK(equal);
            CHECK((adjacency->inOrder() || !sorted));
            CHECK(adjacency->bytes() <= (targets + 1) * 8 + (adjacency->inOrder() ? 0 : rows * 4 + 24));
            if (round % 5 == 1 && rows >= 8 * targets && !adjacency->inOrder())
                CHECK(adjacency->bytes() == (targets + 1) * (8 + 24));  // two runs
            const std::vector<std::int32_t> narrow(keys.begin(), keys.end());
            const auto same = Adjacency::build(narrow.data(), stride, rows, targets, scratch, threads);
            REQUIRE(same);
            const bool sameLists = listsOf(*same) == expected;
            CHECK(sameLists);
        }
    }
    CHECK(folder.names().empty());
}

TEST_CASE("an adjacency is what its arrays say, and arrays of other sizes are none")
{
    const TempFolder folder;
    const Scratch scratch(folder.path());
    std::mt19937_64 random(4);
    std::vector<std::int64_t> any(400), twice(400);
    for (std::int64_t& key : any) key = static_cast<std::int64_t>(random() % 20);
    std::vector<std::int64_t> sorted = any;
    std::ranges::sort(sorted);
    std::copy(sorted.begin(), sorted.begin() + 200, twice.begin() + 200);
    std::copy(sorted.begin() + 200, sorted.end(), twice.begin());
    for (const auto& keys : {any, sorted, twice, std::vector<std::int64_t>()}) {
        CAPTURE(keys.size());
        const auto rows = static_cast<std::int64_t>(keys.size());
        const auto made = Adjacency::build(keys.data(), 1, rows, 20, scratch, 2);
        REQUIRE(made);
        const auto arrays = made->arrays();
        ArrayCache::Entry entry{.arrays = {arrays.begin(), arrays.end()}, .owner = nullptr};
        const auto again = Adjacency::from(20, rows, entry, 2);
        REQUIRE(again);
        CHECK(listsOf(*again) == listsOf(*made));
        CHECK(again->inOrder() == made->inOrder());
        CHECK(again->numbered() == made->numbered());
        CHECK(again->bytes() == made->bytes());
        CHECK(!Adjacency::from(19, rows, entry, 2));
        CHECK(!Adjacency::from(20, rows + 1, entry, 2));
        entry.arrays.pop_back();
        CHECK(!Adjacency::from(20, rows, entry, 2));
    }
}

TEST_CASE("an adjacency of which one number leads outside is none")
{
    const TempFolder folder;
    const Scratch scratch(folder.path());
    std::vector<std::int64_t> any{3, 0, 2, 3, 1, 1}, twice{0, 1, 3, 0, 2, 3};
    for (const auto& keys : {any, twice}) {
        const auto made = Adjacency::build(keys.data(), 1, 6, 4, scratch, 1);
        REQUIRE(made);
        for (std::size_t part = 0; part < 3; ++part) {
            const std::size_t width = part == 1 ? 4 : 8;
            for (std::size_t at = 0; at + width <= made->arrays()[part].size(); at += width)
                for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{7}, std::int64_t{1} << 30}) {
                    const auto arrays = made->arrays();
                    std::vector<std::byte> copy(arrays[part].begin(), arrays[part].end());
                    std::memcpy(copy.data() + at, &wrong, width);
                    ArrayCache::Entry entry{.arrays = {arrays.begin(), arrays.end()}, .owner = nullptr};
                    entry.arrays[part] = copy;
                    const auto again = Adjacency::from(4, 6, entry, 2);
                    // The last of the runs belongs to no target, and some have no rows.
                    if (again) CHECK(part == 2);
                    if (again)
                        again->eachRow(0, 6, [](std::int64_t, std::int64_t row) { CHECK((row >= 0 && row < 6)); });
                }
        }
    }
}

TEST_CASE("tables without rows and tables without targets are fine")
{
    const Scratch scratch("/nonexistent");
    const std::int64_t* const keys = nullptr;
    const auto none = Adjacency::build(keys, 1, 0, 3, scratch, 4);
    REQUIRE(none);
    CHECK(listsOf(*none) == Lists{{}, {}, {}});
    const auto nothing = Adjacency::build(keys, 1, 0, 0, scratch, 4);
    REQUIRE(nothing);
    CHECK(nothing->targets() == 0);
}

TEST_CASE("scratch is zero, writable, and leaves nothing in its folder")
{
    const TempFolder folder;
    const Scratch scratch(folder.path(), 100);
    for (const std::int64_t bytes : {0, 1, 100, 101, 1 << 20}) {
        const auto memory = scratch.allocate(bytes);
        REQUIRE(memory);
        const bool zero =
            std::all_of(memory->get(), memory->get() + bytes, [](std::byte b) { return b == std::byte{0}; });
        CHECK(zero);
        if (bytes > 0) memory->get()[bytes - 1] = std::byte{1};
        CHECK(folder.names().empty());
    }
}

TEST_CASE("scratch that cannot be had is a matter of resources")
{
    const TempFolder folder;
    const auto huge = Scratch(folder.path(), 100).allocate(std::int64_t{1} << 55);
    REQUIRE(!huge);
    CHECK(huge.error().code == base::ErrorCode::Resources);
    const auto nowhere = Scratch(folder.file("none"), 100).allocate(1000);
    REQUIRE(!nowhere);
    CHECK(nowhere.error().message.find(folder.file("none")) != std::string::npos);
}

TEST_CASE("rows can be grouped in another order of the targets, and so can what lies along them")
{
    const TempFolder folder;
    std::mt19937_64 random(7);
    for (const int round : {0, 1, 2, 3, 4, 5}) {
        const int threads = round % 2 == 0 ? 1 : 3;
        CAPTURE(round);
        const std::int64_t targets = 9000, rows = 90000;
        std::vector<std::int64_t> keys(static_cast<std::size_t>(rows));
        for (auto& key : keys) key = static_cast<std::int64_t>(random() % targets);
        if (round == 2 || round == 3) sortKeys(keys, 1, 0, rows);
        if (round >= 4) sortTwice(keys, 1, rows, random());
        std::vector<std::int64_t> order(static_cast<std::size_t>(targets));
        for (std::size_t t = 0; t < order.size(); ++t) order[t] = static_cast<std::int64_t>(t);
        std::shuffle(order.begin(), order.end(), random);
        const Scratch scratch(folder.path());
        const auto made = Adjacency::build(keys.data(), 1, rows, targets, scratch, threads);
        REQUIRE(made.has_value());
        const auto arranged = made->arranged(order.data(), scratch, threads);
        REQUIRE(arranged.has_value());
        const Lists before = listsOf(*made), after = listsOf(*arranged);
        std::vector<std::int64_t> along(keys.size()), moved(keys.size(), -1);
        made->eachRow(0, rows, [&](std::int64_t p, std::int64_t row) { along[static_cast<std::size_t>(p)] = row * 3; });
        arrange(*made, *arranged, order.data(), along.data(), moved.data(), threads);
        bool same = true;
        for (std::size_t t = 0; t < order.size(); ++t)
            same = same && after[t] == before[static_cast<std::size_t>(order[t])];
        const std::vector<std::int64_t> all = joined(after);
        for (std::size_t p = 0; p < all.size(); ++p) same = same && moved[p] == all[p] * 3;
        CHECK(same);
        for (int i = 0; i < 50; ++i) {
            const auto first = static_cast<std::int64_t>(random() % (rows + 1));
            const std::int64_t last = std::min(first + i * i * 3, rows);
            CHECK(std::ranges::equal(
                rowsOf(*arranged, first, last),
                std::span(all).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first))));
        }
        CHECK(arranged->inOrder() == false);
        const auto twice = arranged->arranged(order.data(), scratch, threads);
        REQUIRE(twice.has_value());
        const Lists again = listsOf(*twice);
        for (std::size_t t = 0; t < order.size(); ++t)
            same = same && again[t] == after[static_cast<std::size_t>(order[t])];
        CHECK(same);
    }
}
