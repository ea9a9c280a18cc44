#pragma once

// NaN and infinities in the results of a run, and what made them.

#include <optional>
#include <stop_token>

#include "pipeline/execute.h"

namespace hopscope::pipeline {

// Counts them in all outputs: one pass over these, on all cores. Where there are some, the run is repeated on the CPU with a look
// at every operator, for twice the run's own seconds, at least 20 and at most 60; where that does not
// suffice, a sample of the graph is looked at. None: every result is finite. Fails with Cancelled only.
base::Result<std::optional<schema::NotFiniteRecord>> examineOutputs(const Execution& execution,
                                                                    const Prepared& prepared,
                                                                    const ExecutionRequest& request, Reporter& reporter,
                                                                    const std::stop_token& stop);

}  // namespace hopscope::pipeline
