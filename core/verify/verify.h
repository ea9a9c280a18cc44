#pragma once

// Proof: the staged run against the untouched module's own forward, in a child process.

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/roles.h"
#include "base/progress.h"
#include "base/result.h"
#include "base/tensor.h"
#include "loader/loader.h"
#include "plan/plan.h"
#include "schema/report.h"

namespace hopscope::verify {

using Mode = base::VerifyMode;
// What the documents hold of it.
using Tolerance = schema::ToleranceRecord;
using TensorError = schema::TensorRecord;
using Coverage = schema::CoverageRecord;
using schema::CoverageMethod;
using schema::Verdict;
using schema::Verification;

struct Request {
    std::string modelPath;
    const loader::Model* model = nullptr;
    const loader::Walk* walk = nullptr;
    const analysis::Analysis* analysis = nullptr;
    const plan::Plan* plan = nullptr;
    const analysis::InputSchema* schema = nullptr;
    const base::TensorMap* inputs = nullptr;
    std::map<std::string, base::TensorView> outputs;      // of the staged run, by name
    std::map<ir::ValueId, base::TensorView> checkpoints;  // stored values of the run that are no outputs; may be empty
    Mode mode = Mode::Sample;
    std::string scratchFolder;
    std::optional<std::int64_t> memoryLimit;  // of the child; none: a share of what the machine has free
    std::uint64_t seed = 1;
    std::int64_t targets = 64;
    std::vector<std::string> dataArguments;  // --data of the run, read again by the child; empty: inputs are copied
    std::vector<std::string> oracleProgram;  // command that takes REQUEST; empty: this program with `oracle`
    bool sampledOnly = false;                // leave the full comparison out even where it fits
    double sampledSeconds = 900;             // no further neighbourhood is started after this long
    std::optional<double> childSeconds;      // a child that runs longer is killed; none: no limit
};

// Full where it fits; else at least `targets` destinations chosen over the in-degree quantiles (isolated ones apart), each
// evaluated on its depth_op-hop neighbourhood, several at a time where their union fits. Whole-graph reductions have no
// sampled oracle, nor has what depends on global sizes or row numbers: "unverifiable" with the reason. Mode::Full that does
// not fit fails with Resources. Stored values have no counterpart in what forward gives: after a full comparison they are
// compared with the program evaluated operator by operator on whole tensors (executor/unsplit.h), in this process. They do
// not decide the verdict. The child runs `<this program> oracle REQUEST`; its death is a reason, not a failure.
// Float16 and bfloat16 outputs are compared with the tolerance widened by the ratio of their rounding to float32's.
base::Result<Verification> verify(const Request& request, const base::ProgressFn& progress, std::stop_token stop);

// The plan on the sample itself, on the CPU and on the plan's device, batches of 1, 7 and all, destinations shuffled:
// quick, before any long run.
base::Result<Verification> verifySample(const loader::Model& model, const loader::Walk& walk,
                                        const analysis::Analysis& analysis, const plan::Plan& plan,
                                        const base::TensorMap& sample, const std::string& scratchFolder,
                                        std::stop_token stop, const std::vector<std::string>& oracleProgram = {});

// The child's main. REQUEST is JSON: kind "forward" (model, data, output: runs the module, writes its outputs) or "sage64"
// (the float64 reference of reference_sage.h). Exit code 0, or another one with OUTPUT.error saying why. It limits its own
// memory and dies with its parent.
int oracleMain(const std::string& requestPath);

}  // namespace hopscope::verify
