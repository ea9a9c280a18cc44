#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "verify/targets.h"

using namespace hopscope;

TEST_CASE("all rows are chosen where there are few")
{
    const std::vector<std::int64_t> degrees{0, 3, 1};
    CHECK(verify::chooseTargets(degrees.data(), 3, 64, 1) == std::vector<std::int64_t>{0, 1, 2});
    CHECK(verify::chooseTargets(degrees.data(), 0, 64, 1).empty());
}

TEST_CASE("isolated rows, the hub and every degree quantile are among the targets")
{
    std::mt19937_64 random(5);
    std::vector<std::int64_t> degrees(10'000);
    for (auto& degree : degrees) degree = random() % 4 == 0 ? 0 : static_cast<std::int64_t>(random() % 50 + 1);
    degrees[4321] = 100'000;
    const auto chosen = verify::chooseTargets(degrees.data(), 10'000, 64, 9);
    CHECK(chosen.size() >= 64);
    CHECK(std::ranges::is_sorted(chosen));
    CHECK(std::ranges::count(chosen, 4321) == 1);
    CHECK(std::ranges::count_if(chosen, [&](std::int64_t r) { return degrees[static_cast<std::size_t>(r)] == 0; }) ==
          8);
    for (int quarter = 0; quarter < 4; ++quarter) {
        const auto low = quarter * 12.5, high = low + 12.5;
        CAPTURE(quarter);
        CHECK(std::ranges::count_if(chosen, [&](std::int64_t r) {
                  const auto degree = static_cast<double>(degrees[static_cast<std::size_t>(r)]);
                  return degree > low && degree <= high;
              }) >= 10);
    }
    CHECK(verify::chooseTargets(degrees.data(), 10'000, 64, 9) == chosen);
    CHECK(verify::chooseTargets(degrees.data(), 10'000, 64, 10) != chosen);
}

TEST_CASE("a graph without edges still has targets")
{
    const std::vector<std::int64_t> degrees(500);
    CHECK(verify::chooseTargets(degrees.data(), 500, 64, 1).size() == 64);
}
