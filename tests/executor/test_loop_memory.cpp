#include "executor/loop_memory.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

namespace hopscope::executor {

namespace {

const ir::RowClass batch{ir::RowKind::Batch, ir::SpaceId(0), {}};
const ir::RowClass edges{ir::RowKind::Owned, ir::SpaceId(1), ir::KeyId(0)};

using Event = AllocationTrace::Event;

// Two blocks, the first of which goes before the third is taken.
ProbedBatch probed(std::int64_t rows, std::int64_t owned)
{
    return {{{batch, rows}, {edges, owned}}, {{0, 40 * owned}, {1, 8 * rows + 8}, {0, 0}, {2, 16 * rows + 4 * owned}}};
}

double bytes(std::int64_t wanted) { return static_cast<double>(countedBytes(wanted)); }

CountOf rowsOf(double rows, double owned)
{
    return [=](const ir::RowClass& c) { return c == batch ? rows : owned; };
}

}  // namespace

TEST_CASE("a trace sees what its thread takes and gives back, and an inner one takes over")
{
    installCpuAllocator();
    const AllocationTrace outer;
    at::Tensor kept = at::empty({100}, at::kFloat);
    {
        const AllocationTrace inner;
        at::Tensor gone = at::empty({10}, at::kFloat);
        gone.reset();
        kept.reset();  // not the inner one's
        CHECK((inner.events() == std::vector<Event>{{0, 40}, {0, 0}}));
        CHECK(inner.held() == 0);
    }
    CHECK((outer.events() == std::vector<Event>{{0, 400}}));
    CHECK(outer.held() == countedBytes(400));
}

TEST_CASE("what is counted is what the allocator counts, for small blocks and large ones")
{
    installCpuAllocator();
    for (const std::int64_t n : {1, 60, 64, 100'000, 1'048'500, 1'048'576, 5'000'000, 33'333'333}) {
        const std::int64_t before = cpuMemory().current;
        const at::Tensor t = at::empty({n}, at::kByte);
        CHECK(cpuMemory().current - before == countedBytes(n));
    }
}

TEST_CASE("small batches explain large ones to the byte")
{
    const auto memory = LoopMemory::learn({{probed(3, 7), probed(7, 11), probed(12, 40), probed(18, 41)}, 0});
    REQUIRE(memory);
    const double first = bytes(40 * 5'000'000) + bytes(8 * 1000 + 8);
    const double second = bytes(8 * 1000 + 8) + bytes(16 * 1000 + 4 * 5'000'000);
    CHECK(memory->peak(rowsOf(1000, 5'000'000), true) == std::max(first, second));
    CHECK(memory->peak(rowsOf(100'000, 10), true) == bytes(8 * 100'000 + 8) + bytes(16 * 100'000 + 40));
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

TEST_CASE("sizes that the rows do not explain are not guessed")
{
    std::vector<ProbedBatch> batches{probed(3, 7), probed(7, 11), probed(12, 40), probed(18, 41), probed(29, 77)};
    batches[2].events[0].bytes = 17;
    CHECK_FALSE(LoopMemory::learn({batches, 0}));
}

}  // namespace hopscope::executor
