#pragma once

// Private to verify: compares the values that a run stored with those of the unsplit program.

#include "verify/verify.h"

namespace hopscope::verify {

// Fills in verdict.checkpoints, or leaves them empty if the unsplit program, which needs `needed` bytes, needs more
// than half of the free memory or cannot be evaluated. Fails only with Cancelled.
base::Status compareCheckpoints(const Request& request, std::int64_t needed, const base::ProgressFn& progress,
                                std::stop_token stop, Verification& verdict);

}  // namespace hopscope::verify
