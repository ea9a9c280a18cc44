#pragma once

// Verification on sampled destinations; private to verify.

#include "verify/oracle_process.h"
#include "verify/structure.h"
#include "verify/verify.h"

namespace hopscope::verify {

// Fills the verdict's coverage, outputs and verdict. `memory`: of one child. Preconditions: no sampledObstacle.
base::Status verifySampled(const Request& request, Structure& structure, std::int64_t memory,
                           const base::ProgressFn& progress, std::stop_token stop, Verification& verdict);

// Shared with the full comparison.
json::Value forwardRequest(const Request& request, const std::vector<std::string>& data, const std::string& output);
OracleChild oracleChild(const Request& request, std::int64_t memory);

void conclude(Verification& verdict, const std::string& covered);

// A file that goes with its owner.
class TemporaryFile {
public:
    TemporaryFile(const std::string& folder, const std::string& suffix);
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile();
    [[nodiscard]] const std::string& path() const { return m_path; }

private:
    std::string m_path;
};

}  // namespace hopscope::verify
