#pragma once

// Finds plans for a limit of the device's memory, and checks plans against it.

#include "pipeline/planning/planner.h"

namespace hopscope::pipeline {

// Returns the best of up to four plans for the request's memory limit: the plan `found` for it; the plan that moves the
// fewest bytes; and, if neither fits, the plan for a request without the limit and the plan that stores every value as
// far as the pins allow it. A plan that fits without smaller batches comes before one that fits only with these; then
// the shortest forecast time counts. If none fits, returns that of the last two that fits into the smaller limit, which
// checkMemory() names: the same command succeeds within it. Returns `found` if there is no limit, or if a run without
// it would stay below it or cannot be predicted. Takes up to two searches. Fails with Cancelled, and as a prediction
// does.
base::Result<PlanAnswer> fitMemory(const Planning& planning, PlanAnswer found);

// Checks that the prologue and a batch of one destination fit into the memory limit, if there is one. On a CPU, a dry
// run measures the memory of the batch. On a GPU, or where a dry run is not possible, only the tensors of the program
// are counted. `prediction` must be for the same plan and the same limit. Fails with Resources, naming a limit that is
// sufficient.
base::Status checkMemory(const plan::Plan& plan, const forecast::Prediction& prediction, forecast::Predictor& predictor,
                         const forecast::PredictOptions& limits, const std::stop_token& stop);

}  // namespace hopscope::pipeline
