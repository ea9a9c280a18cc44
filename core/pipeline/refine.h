#pragma once

// Refines the rates of a machine by finished runs.

#include "executor/executor.h"
#include "executor/forecast/predict.h"
#include "pipeline/prepare.h"
#include "plan/machine.h"

namespace hopscope::pipeline {

// Seconds of all stages, as far as phases distinguish the parts of the cost model: if tables are read in place, reading
// is part of computing.
struct WorkSeconds {
    double structure = 0, write = 0;
    double work = 0;    // reading, gathering, computing
    double stages = 0;  // all of it, by the walls; measured: 0 if the run did not have the cores to itself
    bool operator==(const WorkSeconds&) const = default;
};

// The times by the cost model, for the rows of the plan's batches. Fails as `countRows` does.
base::Result<WorkSeconds> expectedSeconds(const Prepared& prepared, forecast::Predictor& predictor,
                                          const plan::Plan& plan, const plan::Machine& machine,
                                          const forecast::PredictOptions& limits, std::stop_token stop);

WorkSeconds measuredSeconds(const executor::RunReport& run);

// Rates between these and those that would have given the measured seconds: half way (of their logarithm) after the
// first run, and a tenth of it from the ninth on, so that badly predicted models do not undo the corrections by others.
// `runs`: the number of runs that have corrected the rates. The first run changes a rate by a factor of two at most,
// and parts that took less than 50 ms are ignored.
plan::Machine refined(const plan::Machine& machine, const WorkSeconds& expected, const WorkSeconds& measured,
                      std::int64_t runs);

// Keeps better rates of the device, if it has been measured; typical rates do not change, and a cache that cannot be
// written is ignored.
void learnFrom(const std::string& device, const WorkSeconds& expected, const executor::RunReport& run);

}  // namespace hopscope::pipeline
