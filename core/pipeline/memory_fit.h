#pragma once

// Plans under a limit of the device's memory.

#include "pipeline/planner.h"

namespace hopscope::pipeline {

// The fastest plan, by its forecast, of those that fit into the limit of the request: what was found without looking at the
// memory (`found`), the plan that moves the fewest bytes, which gathers narrow rows, and the one that stores every value,
// whose batches hold least. Where none fits, the one that needs least. Without a limit, or where all of `found` fits at once,
// it is `found`. Two searches at most. Fails with Cancelled.
base::Result<PlanAnswer> fitMemory(const Planning& planning, PlanAnswer found);

// Fails with Resources if not even a batch of one destination fits into the limit of memory, and names a limit that is
// enough: for plans as for runs of them, so that both say the same. Counts what a dry run holds on a CPU, and the tensors
// of the program where there is none. `prediction` is that of the plan with this limit.
base::Status checkMemory(const plan::Plan& plan, const forecast::Prediction& prediction, forecast::Predictor& predictor,
                         const forecast::PredictOptions& limits, const std::stop_token& stop);

}  // namespace hopscope::pipeline
