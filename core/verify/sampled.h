#pragma once

// Private to verify: verification on a sample of destinations.

#include "verify/oracle_process.h"
#include "verify/structure.h"
#include "verify/verify.h"

namespace hopscope::verify {

// Fills the coverage, the outputs and the verdict. `memory`: bytes that a child may use. Requires that there is no
// sampledObstacle().
base::Status verifySampled(const Request& request, Structure& structure, std::int64_t memory,
                           const base::ProgressFn& progress, std::stop_token stop, Verification& verdict);

// The request for a child that runs forward on `data` and writes `output`, and the child's limits. Also used by the
// full comparison.
json::Value forwardRequest(const Request& request, const std::vector<std::string>& data, const std::string& output);
OracleChild oracleChild(const Request& request, std::int64_t memory);

// The bytes that a child may use.
std::int64_t childMemory(const Request& request);

// Decides the verdict from the comparisons and writes its reason; `covered` names the compared results, `rounding`
// gives the reason why all differences are rounding, if they are.
void conclude(Verification& verdict, const std::string& covered, const std::string& rounding);

}  // namespace hopscope::verify
