#pragma once

// Private to verify: stored values of a run against the unsplit program.

#include "verify/verify.h"

namespace hopscope::verify {

// Fills verdict.checkpoints; leaves them empty where the unsplit program, `needed` bytes of it, does not fit into half of
// what the machine has free, or cannot be evaluated so. Fails with Cancelled alone.
base::Status compareCheckpoints(const Request& request, std::int64_t needed, const base::ProgressFn& progress,
                                std::stop_token stop, Verification& verdict);

}  // namespace hopscope::verify
