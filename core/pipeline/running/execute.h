#pragma once

// Performs a run with its checks: the check on the sample before the run and the verification after it.

#include <optional>
#include <string>
#include <vector>

#include "executor/executor.h"
#include "pipeline/planning/choice.h"
#include "verify/verify.h"

namespace hopscope::pipeline {

class RunJournal;

struct Execution {
    plan::Plan plan;                             // the plan that ran; walking the model again may have changed it
    std::optional<forecast::Forecast> forecast;  // of this plan
    executor::RunReport run;
    std::optional<schema::NotFiniteRecord> notFinite;  // of the results; none: all are finite
    std::optional<schema::Verification> check;         // on the sample
    std::optional<schema::Verification> verdict;       // of the results
};

enum class SampleCheck : bool { CanBeSkipped, Required };  // by --verify none

struct ExecutionRequest {
    PlanSource plan;
    base::Settings settings;
    std::string folder;  // for stores and scratch files
    std::string ownFolder =
        {};  // for checks and scratch files outside of the run, if other processes use `folder` as well
    ChosenPlan* given = nullptr;  // runs this plan unchanged instead of `plan`, and takes over its structure
    bool keepStores = true;       // until the end, unless host memory is limited; otherwise until no stage reads them
    // Only on a CPU, without verification and `keepStores`: data files that belong to the run alone and are not read
    // after it, with their paths in the data. The run truncates those that contain a single input
    // (executor::Options::transientInputs).
    std::vector<std::string> transientFiles = {};
    // Inputs that are known to contain NaN or infinities. Truncated ones cannot be checked later.
    std::vector<std::string> notFinite = {};
    SampleCheck check = SampleCheck::CanBeSkipped;
    RunJournal* journal = nullptr;     // with `given`, the run was started with this plan
    executor::Probe* probe = nullptr;  // on a CPU, with a batch size; a probed run does not refine the rates
};

// Creates the cache folder of the settings and its parent folders. Fails with Resources.
base::Status makeCacheFolder(const std::string& folder);

// Chooses the plan, checks it on the sample unless the settings exclude verification, and runs it. Fails with Different
// if its results already differ on the sample. If a branch has a different outcome on the real inputs than on the
// sample, and the graph is small, walks `prepared` again with the real inputs. Does not do so with a given plan or a
// plan from a file; a resumed run does so only if the earlier process did.
base::Result<Execution> planAndRun(Prepared& prepared, const ExecutionRequest& request, executor::Observer& observer,
                                   Reporter& reporter, const std::stop_token& stop);

// Returns the part of a comparison with the model itself that follows from the model and its inputs.
verify::Request verifyRequest(const Prepared& prepared, const std::string& scratchFolder);

// Looks for results that are not finite, and compares the results with the model itself, as far as requested. A
// difference is a verdict, not an error.
base::Status verifyRun(Execution& execution, const Prepared& prepared, const ExecutionRequest& request,
                       Reporter& reporter, const std::stop_token& stop);

// Calls planAndRun() and verifyRun().
base::Result<Execution> execute(Prepared& prepared, const ExecutionRequest& request, executor::Observer& observer,
                                Reporter& reporter, const std::stop_token& stop);

// Returns the exit code for a verdict: 5 if it is "different", otherwise 0.
int exitCodeOf(const std::optional<schema::Verification>& verdict);

}  // namespace hopscope::pipeline
