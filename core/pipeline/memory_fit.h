#pragma once

// Plans under a limit of the device's memory.

#include "pipeline/planner.h"

namespace hopscope::pipeline {

// The fastest plan, by its forecast, of three that may fit into the request's memory limit: the optimum `found` without the limit;
// the plan that moves the fewest bytes, since it gathers narrow rows; and the plan that stores every value, whose batches are
// the smallest. If none fits, the plan that needs the least memory. Returns `found` if there is no limit, or if all of it fits
// at once. Two searches at most. Fails with Cancelled.
base::Result<PlanAnswer> fitMemory(const Planning& planning, PlanAnswer found);

// Fails with Resources if not even a batch of one destination fits into the memory limit, and names a limit that is enough.
// Plans and runs share this check. On a CPU it counts the memory of a dry run; on a GPU, or without a dry run, that of
// the program's tensors. `prediction` belongs to the plan with this limit.
base::Status checkMemory(const plan::Plan& plan, const forecast::Prediction& prediction, forecast::Predictor& predictor,
                         const forecast::PredictOptions& limits, const std::stop_token& stop);

}  // namespace hopscope::pipeline
