// Figures of a stage: those of batches become one, whatever the order, and those with a label reach every table.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "plan/figures.h"

using namespace hopscope;
using plan::StageFigures;

namespace {

StageFigures batch(std::int64_t destinations, std::int64_t peak, std::optional<std::int64_t> reserved)
{
    StageFigures one;
    one.batches = 1;
    one.smallestBatch = one.largestBatch = one.destinations = destinations;
    one.phases.compute = static_cast<double>(destinations);
    one.bytes = {.d2h = destinations, .h2d = 2 * destinations, .structure = 3 * destinations};
    one.peakMemory = peak;
    one.reservedMemory = reserved;
    return one;
}

}  // namespace

TEST_CASE("figures of batches become those of a stage in any order")
{
    std::vector<StageFigures> batches{batch(5, 100, std::nullopt), batch(3, 300, 7), batch(8, 200, 4)};
    std::ranges::sort(batches, {}, &StageFigures::destinations);
    do {
        StageFigures stage;
        stage.seconds = 2;
        stage.overlap = 0.5;
        for (const StageFigures& one : batches) stage += one;
        CHECK(stage.batches == 3);
        CHECK(stage.smallestBatch == 3);
        CHECK(stage.largestBatch == 8);
        CHECK(stage.destinations == 16);
        CHECK(stage.phases.compute == 16);
        CHECK(stage.bytes == plan::Bytes{.d2h = 16, .h2d = 32, .structure = 48});
        CHECK(stage.peakMemory == 300);
        CHECK(stage.reservedMemory == 7);
        CHECK(stage.seconds == 2);  // of the whole stage, whatever its batches took
        CHECK(stage.overlap == 0.5);
    } while (std::ranges::next_permutation(batches, {}, &StageFigures::destinations).found);
}

TEST_CASE("every figure but those that tables show together has a label of its own")
{
    const std::set<std::string> together{"seconds",       "phases",       "batches",       "smallest_batch",
                                         "largest_batch", "destinations", "frontier_rows", "bytes"};
    std::set<std::string> labels;
    base::forEachField<StageFigures>([&](const auto& figure) {
        INFO(figure.name);
        CHECK((*figure.label == '\0') == together.contains(figure.name));
        CHECK((*figure.label == '\0' || labels.insert(figure.label).second));
    });
    std::size_t visited = 0;
    plan::forEachLabelled({}, [&](const auto&, std::optional<double> number) {
        CHECK_FALSE(number);
        ++visited;
    });
    CHECK(visited == labels.size());
}
