// The device that "auto" chooses, by the predicted times of a CPU and of the simulated GPU.

#include <doctest/doctest.h>

#include "device_runs.h"
#include "executor/measure.h"
#include "pipeline/machine/machine.h"
#include "pipeline/planning/best_device.h"
#include "pipeline/planning/choice.h"
#include "planned_model.h"

namespace hopscope::device_tests {

namespace {

// Rates of a CPU and of a GPU that is a hundred times as fast, and takes no time for a call.
struct Unequal {
    KnownRates rates{[] {
        plan::Machine gpu = largeGraph();
        for (double* const rate : {&gpu.read, &gpu.gather, &gpu.write, &gpu.structure}) *rate = 1e12;
        return std::vector<plan::Machine>{gpu, plan::typicalMachine("cpu")};
    }()};
};

struct Choosing : Device, Unequal {
    static pipeline::DeviceChoice choose(const Subject& s, double start)
    {
        Planned planned(s);
        auto choice = planned.choose(start);
        REQUIRE_MESSAGE(choice.has_value(), base::describe(choice.error()));
        return std::move(*choice);
    }

    static bool notes(const pipeline::DeviceChoice& choice, const std::string& words)
    {
        return choice.note.find(words) != std::string::npos;
    }

    // The chosen plan as it is runs, and gives the right numbers.
    static void run(Subject s, const pipeline::DeviceChoice& choice)
    {
        s.plan = choice.answer.plan;
        CHECK(attempt(s, onGpu(0, s.plan.device)).unlessRight() == "");
    }
};

}  // namespace

TEST_CASE_FIXTURE(Choosing,
                  "A graph that the CPU computes before a GPU has started goes to the CPU, and no GPU is used")
{
    fake_device::resetCounts();
    const Subject& s = subject("gcn");
    const pipeline::DeviceChoice choice = choose(s, 0.6);
    CHECK(choice.answer.plan.device == "cpu");
    CHECK(fake_device::counts().operators == 0);
    CHECK(notes(choice, "auto chose the CPU, predicted to take "));
    CHECK(notes(choice, ": cuda:0 would take 600 ms to start"));
    CHECK_FALSE(notes(choice, "typical rates"));
    run(s, choice);
}

TEST_CASE_FIXTURE(Choosing, "A graph that takes the CPU longer than a GPU with its start goes to the GPU")
{
    const Subject& s = largeConvolution("sage-dense");
    Planned planned(s);
    const double cpu = planned.secondsOn("cpu"), gpu = planned.secondsOn("cuda:0");
    MESSAGE("CPU " << cpu * 1e3 << " ms, GPU " << gpu * 1e3 << " ms");
    REQUIRE(gpu < cpu / 4);
    const pipeline::DeviceChoice there = choose(s, cpu / 2), here = choose(s, cpu - gpu / 2);
    CHECK(there.answer.plan.device == "cuda:0");
    CHECK(!there.answer.plan.resident.empty());
    CHECK(notes(there, "auto chose cuda:0, predicted to take "));
    CHECK(notes(there, " with its start: the CPU would take "));
    CHECK(here.answer.plan.device == "cpu");
    CHECK(notes(here, ": cuda:0 would take "));
    CHECK(choose(s, 0).answer.plan.device == "cuda:0");
    run(s, there);
    run(s, here);
}

TEST_CASE_FIXTURE(Choosing, "Only auto with data and a GPU leaves a choice")
{
    const Subject& s = subject("gcn");
    Planned planned(s);
    const auto chooses = [&](const std::string& device) {
        base::Settings settings;
        settings.device = device;
        const auto request = pipeline::requestFor(settings, {});
        REQUIRE(request.has_value());
        return pipeline::choosesDevice(planned.prepared(), device, *request);
    };
    CHECK(chooses("auto"));
    CHECK_FALSE(chooses("cuda"));
    CHECK_FALSE(chooses("cpu"));
    base::Settings exported;
    exported.objective = base::Objective::Bytes;
    CHECK_FALSE(pipeline::choosesDevice(planned.prepared(), "auto", *pipeline::requestFor(exported, {})));
    fake_device::setListing(executor::GpuListing{});
    CHECK_FALSE(chooses("auto"));
}

TEST_CASE_FIXTURE(Device, "Without measured rates the sentence says so, and a start that was measured is remembered")
{
    const KnownRates rates(std::vector<plan::Machine>{largeGraph()});
    Planned planned(subject("gcn"));
    const auto choice = planned.choose(0.6);
    REQUIRE(choice.has_value());
    CHECK(choice->note.find("(by typical rates; hopscope-engine bench machine measures") != std::string::npos);
    CHECK(pipeline::knownMachine("cuda:0").start == 0);
    REQUIRE(pipeline::keepMachine({.rates = largeGraph(), .measured = true, .start = 1.25}).has_value());
    REQUIRE(pipeline::keepMachine({.rates = largeGraph(), .measured = true}).has_value());
    CHECK(pipeline::knownMachine("cuda:0").start == 1.25);
    CHECK(executor::startGpu("cpu").value() == 0);
    CHECK(executor::startGpu("cuda:0").value() >= 0);
    CHECK(executor::gpuStarted());
    CHECK(executor::startGpu("cuda:0").value() == 0);
    CHECK(pipeline::startSeconds("cuda:0") == 0);
}

}  // namespace hopscope::device_tests
