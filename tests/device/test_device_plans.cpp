// The default plans of convolutions at typical rates, for the simulated GPU and for the CPU.

#include <doctest/doctest.h>

#include "device_runs.h"
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
        CHECK(*made.gap < 0.05);
        CHECK(*made.lowerBound <= *made.cost);
    }
}

}  // namespace hopscope::device_tests
