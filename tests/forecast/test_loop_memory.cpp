#include "executor/forecast/loop_memory.h"

#include <doctest/doctest.h>

#include "executor/calls/dense_shape.h"

namespace hopscope::forecast {

namespace {

const ir::RowClass batch{ir::RowKind::Batch, ir::SpaceId(0), {}};
const ir::RowClass edges{ir::RowKind::Owned, ir::SpaceId(1), ir::KeyId(0)};

// Two blocks, the first of which goes before the third is taken.
ProbedBatch probed(std::int64_t rows, std::int64_t owned)
{
    return {{{batch, rows}, {edges, owned}}, {{0, 40 * owned}, {1, 8 * rows + 8}, {0, 0}, {2, 16 * rows + 4 * owned}}};
}

double bytes(std::int64_t wanted) { return static_cast<double>(executor::countedBytes(wanted)); }

executor::CountOf rowsOf(double rows, double owned)
{
    return [=](const ir::RowClass& c) { return c == batch ? rows : owned; };
}

}  // namespace

TEST_CASE("small batches explain large ones to the byte")
{
    const auto memory = LoopMemory::learn({{probed(3, 7), probed(7, 11), probed(12, 40), probed(18, 41)}, 0});
    REQUIRE(memory);
    const double first = bytes(40 * 5'000'000) + bytes(8 * 1000 + 8);
    const double second = bytes(8 * 1000 + 8) + bytes(16 * 1000 + 4 * 5'000'000);
    CHECK(memory->peak(rowsOf(1000, 5'000'000), true) == std::max(first, second));
    CHECK(memory->peak(rowsOf(100'000, 10), true) == bytes(8 * 100'000 + 8) + bytes(16 * 100'000 + 40));
}

TEST_CASE("products of oneDNN take the rows that it is given")
{
    using executor::markedRows;
    const auto product = [](std::int64_t rows, std::int64_t owned) {
        return ProbedBatch{{{batch, rows}, {edges, owned}}, {{0, 16 * markedRows(owned)}, {1, 8 * rows}}};
    };
    const auto memory = LoopMemory::learn({{product(3, 7), product(7, 11), product(12, 40), product(18, 41)}, 0});
    REQUIRE(memory);
    CHECK(memory->peak(rowsOf(10, 1), true) == bytes(16 * 2) + bytes(80));
    CHECK(memory->peak(rowsOf(10, 33), true) == bytes(16 * 64) + bytes(80));
    CHECK(memory->peak(rowsOf(10, 65), true) == bytes(16 * 128) + bytes(80));
    CHECK(memory->peak(rowsOf(10, 1024), true) == bytes(16 * 1024) + bytes(80));
    CHECK(memory->peak(rowsOf(10, 1025), true) == bytes(16 * 1152) + bytes(80));
}

TEST_CASE("what row reductions keep counts from the second batch on")
{
    const auto memory = LoopMemory::learn({{probed(3, 7), probed(7, 11), probed(12, 40)}, 512});
    REQUIRE(memory);
    CHECK(memory->peak(rowsOf(5, 9), false) == memory->peak(rowsOf(5, 9), true) + 512);
}

TEST_CASE("a batch that did something else is left out; with none alike nothing is learnt")
{
    ProbedBatch other = probed(5, 0);
    other.events.pop_back();
    const auto memory = LoopMemory::learn({{probed(3, 7), other, probed(7, 11), probed(12, 40)}, 0});
    REQUIRE(memory);
    CHECK(memory->peak(rowsOf(0, 100), true) == bytes(8) + bytes(4000));
    CHECK_FALSE(LoopMemory::learn({{probed(3, 7), other}, 0}));
    CHECK_FALSE(LoopMemory::learn({}));
}

TEST_CASE("more rows for each destination than all small batches had are not known")
{
    for (const std::int64_t each : {0, 1, 7}) {
        const auto memory = LoopMemory::learn({{probed(3, 3 * each), probed(7, 7 * each), probed(12, 12 * each)}, 0});
        REQUIRE(memory);
        const auto owned = static_cast<double>(each);
        CHECK(memory->knows(rowsOf(1000, 1000 * owned)));
        CHECK_FALSE(memory->knows(rowsOf(1000, 1000 * owned + 1)));
    }
    const auto other = LoopMemory::learn({{probed(3, 7), probed(7, 11), probed(12, 0), probed(18, 41)}, 0});
    REQUIRE(other);
    CHECK(other->knows(rowsOf(1000, 1'000'000)));
}

TEST_CASE("sizes that the rows do not explain are not guessed")
{
    std::vector<ProbedBatch> batches{probed(3, 7), probed(7, 11), probed(12, 40), probed(18, 41), probed(29, 77)};
    batches[2].events[0].bytes = 17;
    CHECK_FALSE(LoopMemory::learn({batches, 0}));
}

}  // namespace hopscope::forecast
