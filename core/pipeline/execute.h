#pragma once

// A run with its checks: the check on the sample before it, the plan itself and the verification after it.

#include <optional>
#include <string>
#include <vector>

#include "executor/executor.h"
#include "pipeline/choice.h"
#include "verify/verify.h"

namespace hopscope::pipeline {

class RunJournal;

struct Execution {
    plan::Plan plan;                             // the plan that ran; another walk of the model gives another one
    std::optional<forecast::Forecast> forecast;  // of this plan
    executor::RunReport run;
    std::optional<schema::NotFiniteRecord> notFinite;  // of the results; none: all are finite
    std::optional<schema::Verification> check;         // on the sample
    std::optional<schema::Verification> verdict;       // on the whole graph
};

struct ExecutionRequest {
    PlanSource plan;
    base::Settings settings;
    std::string folder;  // for stores and scratch files
    std::string ownFolder =
        {};  // for checks and scratch files outside of the run, if other processes use `folder` as well
    ChosenPlan* given = nullptr;  // this plan unchanged, instead of `plan`; the run takes its structure
    bool keepStores = true;       // until the end, for verification; otherwise until no stage reads them
    // On the CPU, without verification and `keepStores`: data files that belong to the run alone and are not read after
    // it. The run empties those that hold a single input (executor::Options::transientInputs). Paths as in the data.
    std::vector<std::string> transientFiles = {};
    // Inputs that are known to contain NaN or infinities: emptied ones cannot be checked later.
    std::vector<std::string> notFinite = {};
    RunJournal* journal = nullptr;     // on the CPU; with `given`, the run was started with this plan
    executor::Probe* probe = nullptr;  // on the CPU, with a batch; a probed run does not refine the rates
};

// Creates the cache folder of the settings and its parent folders. Resources if that is impossible.
base::Status makeCacheFolder(const std::string& folder);

// Chooses the plan, checks it on the sample and runs it. Fails with Different if its results already differ on the
// sample. If a branch went the other way on the real inputs and the graph is small, `prepared` is walked once more
// with them, except with a given plan.
base::Result<Execution> planAndRun(Prepared& prepared, const ExecutionRequest& request, executor::Observer& observer,
                                   Reporter& reporter, const std::stop_token& stop);

// Looks for results that are not finite, and compares the results with the model itself, as far as requested. A
// difference is a verdict, not an error.
base::Status verifyRun(Execution& execution, const Prepared& prepared, const ExecutionRequest& request,
                       Reporter& reporter, const std::stop_token& stop);

// planAndRun(), then verifyRun().
base::Result<Execution> execute(Prepared& prepared, const ExecutionRequest& request, executor::Observer& observer,
                                Reporter& reporter, const std::stop_token& stop);

// The exit code that a verdict stands for: 0, or 5 for "different".
int exitCodeOf(const std::optional<schema::Verification>& verdict);

}  // namespace hopscope::pipeline
