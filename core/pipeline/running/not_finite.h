#pragma once

// Finds NaN and infinities in the results of a run, and the operators that produced them.

#include <optional>
#include <stop_token>

#include "pipeline/running/execute.h"

namespace hopscope::pipeline {

// Counts NaN and infinities in one pass over all outputs, on all cores. Returns nullopt if there are none. Otherwise
// repeats the run on the CPU and examines every operator, for twice the time of the run, but at least 20 s and at most
// 60 s. If that is not enough, examines a sample of the graph. Fails only with Cancelled.
base::Result<std::optional<schema::NotFiniteRecord>> examineOutputs(const Execution& execution,
                                                                    const Prepared& prepared,
                                                                    const ExecutionRequest& request, Reporter& reporter,
                                                                    const std::stop_token& stop);

}  // namespace hopscope::pipeline
