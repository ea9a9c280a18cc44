#pragma once

// Finds plans that respect a limit of the device's memory.

#include "pipeline/planner.h"

namespace hopscope::pipeline {

// Returns the plan with the shortest forecast time among three that may fit into the request's memory limit: the
// optimum `found` without the limit; the plan that moves the fewest bytes, which gathers narrow rows; and the plan that
// stores every value, whose batches take the least memory. If none fits, returns the plan that needs the least memory.
// Returns `found` if there is no limit, or if the whole graph fits at once. Takes up to two searches. Fails with
// Cancelled.
base::Result<PlanAnswer> fitMemory(const Planning& planning, PlanAnswer found);

// Checks that a batch of one destination fits into the memory limit, for plans and for runs. Counts the memory of a dry
// run on a CPU; on a GPU, or without a dry run, that of the program's tensors. `prediction` is that of the plan with
// this limit. Fails with Resources, naming a limit that is sufficient.
base::Status checkMemory(const plan::Plan& plan, const forecast::Prediction& prediction, forecast::Predictor& predictor,
                         const forecast::PredictOptions& limits, const std::stop_token& stop);

}  // namespace hopscope::pipeline
