#include <doctest/doctest.h>

#include <cmath>

#include "executor/forecast/wall_table.h"

using namespace hopscope;
using forecast::WallTable;
using plan::WallKind;

namespace {

plan::Machine machine()
{
    plan::Machine made;
    made.walls = {
        {.kind = WallKind::Stream, .all = 100, .one = 50, .bytes = 1 << 10},
        {.kind = WallKind::Stream, .all = 20, .one = 10, .bytes = 1 << 20},
        {.kind = WallKind::Rows, .all = 640, .one = 320, .bytes = 1000, .width = 64},
        {.kind = WallKind::Rows, .all = 64, .one = 32, .bytes = 4000, .width = 64},
        {.kind = WallKind::Gemm, .all = 10, .one = 5, .width = 16, .outputs = 16},
        {.kind = WallKind::Gemm, .all = 40, .one = 5, .width = 16, .outputs = 64},
        {.kind = WallKind::Gemm, .all = 5, .one = 5, .width = 16, .outputs = 16, .dtype = base::DType::Float64}};
    return made;
}

}  // namespace

TEST_CASE("between two measured sizes a rate lies between theirs, and beyond them it is the nearest one")
{
    const WallTable table(machine());
    CHECK(table.stream(1) == 100);
    CHECK(table.stream(1 << 10) == 100);
    CHECK(table.stream(1 << 15) == doctest::Approx(60));
    CHECK(table.stream(1e12) == 20);
}

TEST_CASE("a product runs at the rate of its shape, in another type as much slower as that was measured to be")
{
    const WallTable table(machine());
    CHECK(table.gemm(16, 16, base::DType::Float32) == 10);
    CHECK(table.gemm(16, 32, base::DType::Float32) == doctest::Approx(25));
    CHECK(table.gemm(1000, 64, base::DType::Float32) == 40);
    CHECK(table.gemm(16, 64, base::DType::Float64) == 20);
}

TEST_CASE("what a cache serves of a larger table explains a part of its time, and memory the rest")
{
    const auto levels = WallTable(machine()).levels(WallKind::Rows, 64);
    REQUIRE(levels.size() == 2);
    CHECK(levels[0].bytes == 1000);
    CHECK(levels[0].seconds == doctest::Approx(0.1));
    CHECK(std::isinf(levels[1].bytes));
    CHECK(0.25 * levels[0].seconds + 0.75 * levels[1].seconds == doctest::Approx(1.0));
}

TEST_CASE("a machine without walls has its rates for walls")
{
    plan::Machine plain;
    plain.gather = 6.4;
    const WallTable table(plain);
    CHECK(table.stream(1e6) == plain.elementwise);
    CHECK(table.gemm(8, 8, base::DType::Float32) == plain.matmul);
    CHECK(table.rate(WallKind::Up, 17) == 17);
    const auto levels = table.levels(WallKind::Rows, 64);
    REQUIRE(levels.size() == 1);
    CHECK(levels[0].seconds == doctest::Approx(10));
}

TEST_CASE("every typical wall is faster with all cores than with one")
{
    for (const plan::WallRate& wall : plan::typicalMachine("cpu").walls) {
        INFO(base::nameOf(wall.kind) << " " << wall.bytes << " " << wall.width);
        CHECK(wall.one > 0);
        CHECK(wall.all >= wall.one);
    }
}
