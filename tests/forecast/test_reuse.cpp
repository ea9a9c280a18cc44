#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "executor/forecast/reuse.h"

using hopscope::forecast::Reuse;

namespace {

constexpr std::int64_t rows = 1 << 14, count = 1 << 18;

Reuse reuseOf(std::vector<std::int64_t> column)
{
    const auto size = static_cast<std::int64_t>(column.size());
    return {[column = std::move(column)](std::int64_t p) { return column[static_cast<std::size_t>(p)]; }, size, rows};
}

template <class Draw>
Reuse drawn(Draw&& draw)
{
    std::mt19937_64 random(7);
    std::vector<std::int64_t> column(count);
    for (std::int64_t p = 0; p < count; ++p) column[static_cast<std::size_t>(p)] = draw(random, p);
    return reuseOf(std::move(column));
}

}  // namespace

TEST_CASE("of uniformly random rows a cache serves the share that it holds")
{
    Reuse reuse = drawn([](auto& random, std::int64_t) { return static_cast<std::int64_t>(random() % rows); });
    for (const double share : {0.1, 0.25, 0.5, 0.75})
        CHECK(reuse.misses(share * rows) == doctest::Approx(1 - share).epsilon(0.1));
}

TEST_CASE("of a few rows that most messages come from, a small cache serves most")
{
    Reuse skewed = drawn([](auto& random, std::int64_t) {
        const auto any = static_cast<std::int64_t>(random() % rows);
        return random() % 10 < 9 ? any % 128 : any;
    });
    CHECK(skewed.misses(0.1 * rows) < 0.15);
    CHECK(skewed.misses(0.1 * rows) > 0.05);
}

TEST_CASE("neighbours that follow each other are found in a cache much smaller than their table")
{
    Reuse near =
        drawn([](auto& random, std::int64_t p) { return (p / 16 + static_cast<std::int64_t>(random() % 64)) % rows; });
    CHECK(near.misses(0.05 * rows) < 0.15);
}

TEST_CASE("where everything fits, each row is fetched once, and without positions nothing is")
{
    Reuse few = reuseOf({0, 1, 2, 3, 0, 1, 2, 3});
    CHECK(few.misses(1000) == doctest::Approx(0.5));
    CHECK(reuseOf({}).misses(10) == 0);
}
