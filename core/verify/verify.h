#pragma once

// Verifies a staged run against the model's own forward, which runs unmodified in a child process.

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/roles/roles.h"
#include "base/progress.h"
#include "base/result.h"
#include "base/tensor.h"
#include "loader/loader.h"
#include "plan/plan.h"
#include "schema/report.h"

namespace hopscope::verify {

using Mode = base::VerifyMode;
// The parts of a verification that documents contain:
using Tolerance = schema::ToleranceRecord;
using TensorError = schema::TensorRecord;
using Coverage = schema::CoverageRecord;
using schema::CoverageMethod;
using schema::Verdict;
using schema::Verification;

inline constexpr const char* notFiniteHint = "`hopscope-engine debug --nan` names the operator";

struct Request {
    std::string modelPath;
    const loader::Model* model = nullptr;
    const loader::Walk* walk = nullptr;
    const analysis::Analysis* analysis = nullptr;
    const plan::Plan* plan = nullptr;
    const analysis::InputSchema* schema = nullptr;
    const base::TensorMap* inputs = nullptr;
    std::map<std::string, base::TensorView> outputs;      // of the staged run, by name
    std::map<ir::ValueId, base::TensorView> checkpoints;  // stored values that are not outputs; may be empty
    Mode mode = Mode::Sample;
    // The type of stores. Its rounding widens the tolerance. Narrowed stored values have this type instead of their
    // own.
    base::StoreType store = base::StoreType::Exact;
    std::string notFiniteOrigin = notFiniteHint;  // the origin of numbers in the outputs that are NaN or infinite
    std::string scratchFolder;
    std::optional<std::int64_t> memoryLimit;  // of a child, in bytes; nullopt: 60 % of the available memory
    std::uint64_t seed = 1;
    std::int64_t targets = 64;
    std::vector<std::string>
        dataArguments;  // --data of the run, which the child reads; empty: inputs are copied to a file
    std::vector<std::string>
        oracleProgram;  // command line of the child; empty: a fork of this program, or this program with `oracle`
    bool sampledOnly = false;            // no full comparison, even if memory is sufficient
    double sampledSeconds = 900;         // no further neighbourhoods are started after this time
    std::optional<double> childSeconds;  // time limit of a child; nullopt: none
};

// Verifies a run, unless the mode is Mode::None. Compares all rows of the outputs if forward fits into memory and
// `sampledOnly` is not set. Otherwise chooses at least `targets` destinations of each table with outputs (or all of its
// rows), from all quantiles of the in-degree, and isolated ones. They are compared by running forward on their
// depth_op-hop neighbourhoods, several at a time if these fit together. Neighbourhoods are skipped if they are too
// large or unusable, or if `sampledSeconds` have passed.
//
// Sampling is impossible for models that reduce over the whole graph, pool graphs, or compute with table sizes, row
// numbers or the whole structure. The same holds for models that look up or aggregate rows by computed numbers. Nor is
// it possible with weights that have one row per row of a table, or with outputs on neither nodes nor edges of the
// inputs. The verdict is then "unverifiable", with the reason. Mode::Full fails with Resources if forward does not fit
// into memory.
// Apart from unusable neighbourhoods, a failure of forward becomes the reason of the verdict; it is not an error.
//
// After a full comparison, stored values are compared with those of the program, if memory suffices and the program can
// be evaluated: operator by operator on whole tensors in this process (executor/unsplit.h), since forward does not
// return stored values. This comparison does not affect the verdict. For float16 and bfloat16 outputs, the tolerance is widened
// by the ratio of their rounding to that of float32. If all differences are rounding that the model itself amplifies (rounding.h),
// the verdict is "unverifiable", with this reason.
base::Result<Verification> verify(const Request& request, const base::ProgressFn& progress, std::stop_token stop);

// Performs a quick check before a long run: runs the plan on the sample, on the CPU and on the plan's device, in
// batches of 1, 7 and all destinations in random order, and compares the results with forward. If forward fails, the
// verdict states that as its reason.
base::Result<Verification> verifySample(const loader::Model& model, const loader::Walk& walk,
                                        const analysis::Analysis& analysis, const plan::Plan& plan,
                                        const base::TensorMap& sample, const std::string& scratchFolder,
                                        std::stop_token stop, const std::vector<std::string>& oracleProgram = {});

// The main function of the child: runs the model and writes its outputs. The file at `requestPath` is JSON with the
// members model, data and output and, optionally, copyInputs, inDouble, moved, memory and parent. Returns the exit code:
// 0, or a different one after writing the reason to OUTPUT.error (no reason if the request cannot be read or the parent
// has ended). The process limits its own memory if `memory` is given, and is killed with its parent.
int oracleMain(const std::string& requestPath);

// Asks the kernel to kill this process rather than its parent if the machine runs out of memory.
void volunteerForOom();

// Does the work of oracleMain() in a child of the fork server (fork_server.h). Such a child is always killed with its
// parent, and has called volunteerForOom() before it was confined.
int forkedOracleMain(const std::string& requestPath);

}  // namespace hopscope::verify
