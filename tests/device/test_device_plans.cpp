// The default plans of convolutions at typical rates, for the simulated GPU and for the CPU.

#include <algorithm>

#include <doctest/doctest.h>

#include "device_runs.h"
#include "placement/strategy.h"
#include "planned_model.h"
#include "resident_layers.h"

namespace hopscope::device_tests {

namespace {

struct Typical : Device {
    const KnownRates rates{{plan::typicalMachine("cuda:0"), plan::typicalMachine("cpu")}};
};

}  // namespace

// An index column that is expanded to the width of messages is no table of that width, and columns stay with adjacencies.
TEST_CASE_FIXTURE(Typical, "Where all stays on a GPU, default plans are proven up to a few percent")
{
    for (const Layer& layer : layers) {
        CAPTURE(layer.name);
        const plan::Plan made = Planned(largeConvolution(layer.name + "-dense")).byDefault();
        CHECK(made.residentStructure);
        REQUIRE(made.gap.has_value());
        CHECK(*made.gap < 0.08);
        CHECK(*made.lowerBound <= *made.cost);
    }
}

// EdgeConv's operators on edges take several times as long where they leave the caches.
TEST_CASE_FIXTURE(Typical, "The default plan of a CPU is predicted to take no longer than those of the rules")
{
    int tellsApart = 0;
    for (const Layer& layer : layers) {
        CAPTURE(layer.name);
        const Subject& s = largeConvolution(layer.name + "-dense");
        Planned planned(s);
        const double best = planned.secondsOn("cpu");
        for (const base::Strategy rule : {base::Strategy::Depth, base::Strategy::SourceRule}) {
            const auto other = placement::makePlan(s.prepared.analysis, rule);
            REQUIRE(other.has_value());
            CHECK(best <= 1.05 * planned.seconds(*other));
            tellsApart += planned.seconds(*other) > 2 * best;
        }
    }
    CHECK(tellsApart > 0);
}

}  // namespace hopscope::device_tests
