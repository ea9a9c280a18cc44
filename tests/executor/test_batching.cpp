#include <doctest/doctest.h>

#include "executor/loop/batching.h"

using namespace hopscope;
using namespace hopscope::executor;

TEST_CASE("a fixed batch is taken as it is, the last one shorter")
{
    const BatchSizer sizer(std::int64_t{10}, 1e9);
    const auto cost = [](std::int64_t n) { return static_cast<double>(n) * 1e12; };
    CHECK(sizer.next(25, cost) == 10);
    CHECK(sizer.next(5, cost) == 5);
}

TEST_CASE("the largest batch within the budget is chosen, and never none")
{
    BatchSizer sizer(std::nullopt, 1000);
    const auto cost = [](std::int64_t n) { return static_cast<double>(n) * 7; };
    sizer.observe(100, 100);
    const std::int64_t n = sizer.next(1000000, cost);
    CHECK(cost(n) <= 1000);
    CHECK(n > 1);
    CHECK(sizer.next(1, cost) == 1);
    CHECK(BatchSizer(std::nullopt, 1).next(50, cost) == 1);
}

TEST_CASE("batches that take more than predicted make the next ones smaller")
{
    BatchSizer sizer(std::nullopt, 1e6);
    const auto cost = [](std::int64_t n) { return static_cast<double>(n); };
    sizer.observe(1000, 1000);
    const std::int64_t before = sizer.next(100000000, cost);
    sizer.observe(1000, 4000);
    CHECK(sizer.next(100000000, cost) < before);
}

TEST_CASE("steady batches do not depend on what earlier ones took, only on what does not fit")
{
    BatchSizer sizer = BatchSizer::steady(std::nullopt, 1e6);
    const auto cost = [](std::int64_t n) { return static_cast<double>(n) * 10; };
    CHECK(sizer.next(100000000, cost) == 100000);
    sizer.observe(1000, 4000);
    CHECK(sizer.next(100000000, cost) == 100000);
    REQUIRE(sizer.backOff(100000));
    CHECK(sizer.next(100000000, cost) <= 50000);
}

TEST_CASE("a predicted batch is taken whatever earlier ones took, until one does not fit")
{
    BatchSizer sizer(std::nullopt, 1e6);
    const auto cost = [](std::int64_t n) { return static_cast<double>(n) * 10; };
    sizer.expect(70000);
    CHECK(sizer.next(100000000, cost) == 70000);
    sizer.observe(1000, 4000);
    CHECK(sizer.next(100000000, cost) == 70000);
    CHECK(sizer.next(5, cost) == 5);
    REQUIRE(sizer.backOff(70000));
    CHECK(sizer.next(100000000, cost) <= 35000);
}

TEST_CASE("running out of memory halves the batch until one destination is left")
{
    BatchSizer sizer(std::nullopt, 1e9);
    const auto cost = [](std::int64_t) { return 1.0; };
    std::int64_t n = sizer.next(1000, cost);
    int halvings = 0;
    while (sizer.backOff(n)) {
        const std::int64_t smaller = sizer.next(1000, cost);
        CHECK(smaller <= n / 2);
        n = smaller;
        ++halvings;
    }
    CHECK(n == 1);
    CHECK(halvings >= 9);
}

TEST_CASE("the memory model takes the highest moment, not the sum")
{
    const ir::RowClass batch{ir::RowKind::Batch, ir::SpaceId(0), {}};
    LoopProgram program;
    program.registers = {{{}, batch, 100}, {{}, batch, 50}, {{}, batch, 30}};
    program.instructions.resize(3);
    for (int i = 0; i < 3; ++i) program.instructions[static_cast<std::size_t>(i)].outputs = {i};
    program.instructions[1].dead = {0};
    const MemoryModel model(program);
    CHECK(model.peak([](const ir::RowClass&) { return 2.0; }) == doctest::Approx(300));
}
