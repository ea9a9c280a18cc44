#include <doctest/doctest.h>

#include "executor/forecast/batch_sizes.h"

using namespace hopscope;
using namespace hopscope::forecast;

namespace {

Fits upTo(std::int64_t most)
{
    return [most](std::int64_t size) { return size <= most; };
}

}  // namespace

TEST_CASE("all destinations are taken where they fit, else the first fraction of them, and never none")
{
    CHECK(firstFraction(100, upTo(100), upTo(100)) == 100);
    CHECK(firstFraction(100, upTo(99), upTo(99)) == 50);
    CHECK(firstFraction(100, upTo(49), upTo(49)) == 34);
    CHECK(firstFraction(100, upTo(10), upTo(10)) <= 10);
    CHECK(firstFraction(100, upTo(0), upTo(0)) == 1);
    CHECK(firstFraction(1, upTo(0), upTo(0)) == 1);
}

TEST_CASE("what surely fits is the start, and larger batches that fit exactly are taken")
{
    CHECK(firstFraction(100, upTo(10), upTo(50)) == 50);
    CHECK(firstFraction(100, upTo(10), upTo(1000)) == 100);
    CHECK(firstFraction(100, upTo(34), upTo(0)) == 34);
}
