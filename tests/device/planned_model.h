#pragma once

// Models as the engine plans them, with rates as `bench machine` keeps them.

#include "device_runs.h"
#include "pipeline/opening/prepare.h"
#include "pipeline/planning/best_device.h"
#include "plan/machine.h"
#include "support/temporary_folder.h"

namespace hopscope::device_tests {

class Planned {
public:
    explicit Planned(const Subject& s);

    // The plan for cuda:0, or for another device.
    plan::Plan byDefault(const std::string& device = "cuda:0");
    double secondsOn(const std::string& device) { return seconds(byDefault(device)); }
    // What "auto" chooses between the CPU and cuda:0, which takes so long to start.
    base::Result<pipeline::DeviceChoice> choose(double startSeconds);
    // The optimum for the prices of a device on which nothing stays; what can stay does so all the same.
    plan::Plan asIfNothingStayed();
    double seconds(const plan::Plan& plan);  // predicted
    [[nodiscard]] const pipeline::Prepared& prepared() const { return m_prepared; }

private:
    pipeline::Prepared m_prepared;
    test::TemporaryFolder m_folder;
    forecast::Predictor m_predictor;
};

// The rates of a GPU on which stages and calls cost nothing, as they hardly do on a large graph.
plan::Machine largeGraph();

// While alive, these are the rates that were measured on this machine, and the only ones.
class KnownRates {
public:
    explicit KnownRates(const std::vector<plan::Machine>& machines);
    ~KnownRates();
    KnownRates(const KnownRates&) = delete;
    KnownRates& operator=(const KnownRates&) = delete;

private:
    test::TemporaryFolder m_folder;
};

}  // namespace hopscope::device_tests
