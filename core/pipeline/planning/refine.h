#pragma once

// Refines the rates of a machine from the times of finished runs.

#include "executor/executor.h"
#include "executor/forecast/predict.h"
#include "pipeline/opening/prepare.h"
#include "plan/machine.h"

namespace hopscope::pipeline {

// The seconds of all stages, by the parts of the cost model that phases distinguish. If tables are read in place,
// reading is a part of computing.
struct WorkSeconds {
    double structure = 0, write = 0;
    double work = 0;    // reading, gathering, computing
    double stages = 0;  // all parts: predicted by the walls, or measured; 0 if other processes used the cores as well
    bool operator==(const WorkSeconds&) const = default;
};

// Returns the times by the cost model for the rows of the plan's batches. Fails as countRows() does.
base::Result<WorkSeconds> expectedSeconds(const Prepared& prepared, forecast::Predictor& predictor,
                                          const plan::Plan& plan, const plan::Machine& machine,
                                          const forecast::PredictOptions& limits, std::stop_token stop);

WorkSeconds measuredSeconds(const executor::RunReport& run);

// Returns rates between those of `machine` and those that would have predicted the measured seconds. On a logarithmic
// scale, the first run moves them half of the distance, and at most by a factor of two. Runs from the ninth on move
// them a tenth of it, so that a badly predicted model does not undo the corrections by others. `runs` is the number of
// runs that have corrected the rates before. Parts that took less than 50 ms are ignored.
plan::Machine refined(const plan::Machine& machine, const WorkSeconds& expected, const WorkSeconds& measured,
                      std::int64_t runs);

// Refines and saves the rates of a device that has been measured. Typical rates are not refined. A failure to write the
// file is ignored.
void learnFrom(const std::string& device, const WorkSeconds& expected, const executor::RunReport& run);

}  // namespace hopscope::pipeline
