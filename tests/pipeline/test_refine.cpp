#include "pipeline/planning/refine.h"

#include <cmath>

#include <doctest/doctest.h>

namespace hopscope::pipeline {

namespace {

executor::RunReport ran(const plan::PhaseSeconds& phases)
{
    executor::RunReport report;
    report.stages.resize(2);
    for (executor::StageReport& stage : report.stages) stage.phases = phases;
    return report;
}

}  // namespace

TEST_CASE("phases are put together as the cost model tells them apart")
{
    const WorkSeconds seconds = measuredSeconds(ran({1, 2, 4, 8, 16, 32}));
    CHECK(seconds == WorkSeconds{2, 96, 28});
}

TEST_CASE("rates go half the way to what a run has shown, part by part")
{
    const plan::Machine machine;
    const plan::Machine better = refined(machine, {1, 1, 1}, {2.25, 1, 1}, 0);
    CHECK(better.structure == doctest::Approx(machine.structure / 1.5));
    CHECK(better.write == machine.write);
    CHECK(better.matmul == machine.matmul);
    const plan::Machine quicker = refined(machine, {1, 1, 1}, {1, 1, 0.25}, 0);
    CHECK(quicker.gather == doctest::Approx(machine.gather * 2));
    CHECK(quicker.call == doctest::Approx(machine.call / 2));
    CHECK(quicker.structure == machine.structure);
}

TEST_CASE("one run moves a rate by a factor of two at most, and short parts say nothing")
{
    const plan::Machine machine;
    const plan::Machine slower = refined(machine, {1, 1, 1}, {100, 0.049, 0.001}, 0);
    CHECK(slower.structure == doctest::Approx(machine.structure / 2));
    CHECK(slower.write == machine.write);
    CHECK(slower.read == machine.read);
    CHECK(refined(machine, {}, {1, 1, 1}, 0) == machine);
}

TEST_CASE("runs that always take as long end at rates that say so")
{
    plan::Machine machine;
    const double truth = machine.write / 7;
    for (int run = 0; run < 60; ++run)
        machine = refined(machine, {0, 1e9 / machine.write, 0}, {0, 1e9 / truth, 0}, run);
    CHECK(machine.write == doctest::Approx(truth).epsilon(0.01));
}

TEST_CASE("after many runs a single one does not count for much")
{
    const plan::Machine machine;
    for (const std::int64_t runs : {8, 1000}) {
        const plan::Machine slower = refined(machine, {.stages = 1}, {.stages = 4}, runs);
        CHECK(slower.slowness == doctest::Approx(std::pow(4, 0.1)));
    }
}

TEST_CASE("a run corrects the predicted seconds only where the cores belonged to it")
{
    executor::RunReport run;
    run.cores = 2;
    executor::StageReport stage;
    stage.seconds = 4;
    stage.coreSeconds = 7.6;
    run.stages = {stage};
    plan::Machine machine;
    const auto after = [&] { return refined(machine, {.stages = 1}, measuredSeconds(run), 0).slowness; };
    CHECK(after() == doctest::Approx(2));
    run.stages[0].coreSeconds = 4;
    CHECK(after() == 1);
    machine.slowness = 3;
    CHECK(after() == 3);
}

}  // namespace hopscope::pipeline
