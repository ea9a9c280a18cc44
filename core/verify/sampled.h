#pragma once

// Private to verify: verifies a run on a sample of destinations.

#include "verify/oracle_process.h"
#include "verify/structure.h"
#include "verify/verify.h"

namespace hopscope::verify {

// Fills in the coverage, the outputs and the verdict. `memory`: bytes that a child may use. The model must have no
// sampledObstacle().
base::Status verifySampled(const Request& request, Structure& structure, std::int64_t memory,
                           const base::ProgressFn& progress, std::stop_token stop, Verification& verdict);

// Returns the request for a child that runs forward on `data` and writes `output`. Also used by the full comparison.
json::Value forwardRequest(const Request& request, const std::vector<std::string>& data, const std::string& output);
// Returns the command line and the limits of a child.
OracleChild oracleChild(const Request& request, std::int64_t memory);

// Returns the bytes that a child may use.
std::int64_t childMemory(const Request& request);

// Sets the verdict according to the comparisons, with its reason. `covered` names the compared results. `rounding` is
// the reason why all differences are rounding; empty if they are not.
void conclude(Verification& verdict, const std::string& covered, const std::string& rounding);

}  // namespace hopscope::verify
