#pragma once

// NaN and infinities in the results of a run, and the operators that produced them.

#include <optional>
#include <stop_token>

#include "pipeline/execute.h"

namespace hopscope::pipeline {

// Counts them in one pass over all outputs, on all cores. If there are any, repeats the run on the CPU and examines
// every operator, for twice the run's own seconds, at least 20 and at most 60; if that does not suffice, examines a
// sample of the graph. nullopt: every result is finite. Fails with Cancelled only.
base::Result<std::optional<schema::NotFiniteRecord>> examineOutputs(const Execution& execution,
                                                                    const Prepared& prepared,
                                                                    const ExecutionRequest& request, Reporter& reporter,
                                                                    const std::stop_token& stop);

}  // namespace hopscope::pipeline
