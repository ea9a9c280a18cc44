#pragma once

// A run with its proof: the check on the sample before, the plan itself, the verification after.

#include <optional>
#include <string>
#include <vector>

#include "executor/executor.h"
#include "pipeline/choice.h"
#include "verify/verify.h"

namespace hopscope::pipeline {

class RunJournal;

struct Execution {
    plan::Plan plan;                             // the one that ran: another walk makes another one
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
        {};  // where other processes use `folder`, too: for checks and scratch files outside of the run
    ChosenPlan* given = nullptr;  // this plan as it is, instead of `plan`; the run takes its structure
    bool keepStores = true;       // until the end, for verification; else until no stage reads them
    // On the CPU, without verification and `keepStores`: files of the data that are nobody else's and are not read after the
    // run, which empties those that hold a single input (executor::Options::transientInputs). Paths as in the data.
    std::vector<std::string> transientFiles = {};
    // Inputs that are known to hold NaN or infinities: emptied ones cannot be asked later.
    std::vector<std::string> notFinite = {};
    RunJournal* journal = nullptr;     // on the CPU; with `given`, the run was begun with this plan
    executor::Probe* probe = nullptr;  // on the CPU, with a batch; nothing is learnt of a run that is looked at
};

// The cache of the settings, with the folders around it; Resources where that is impossible.
base::Status makeCacheFolder(const std::string& folder);

// Chooses the plan, checks it on the sample and runs it. Fails with Different if it computes something else there already.
// Where a branch went the other way on the real inputs and the graph is small, `prepared` is walked once more with them; a
// plan that is given leaves it as it is.
base::Result<Execution> planAndRun(Prepared& prepared, const ExecutionRequest& request, executor::Observer& observer,
                                   Reporter& reporter, const std::stop_token& stop);

// Looks for results that are not finite, and compares the results with the model itself, as far as the request asks for it. A
// difference is a verdict, not an error.
base::Status verifyRun(Execution& execution, const Prepared& prepared, const ExecutionRequest& request,
                       Reporter& reporter, const std::stop_token& stop);

// planAndRun(), then verifyRun().
base::Result<Execution> execute(Prepared& prepared, const ExecutionRequest& request, executor::Observer& observer,
                                Reporter& reporter, const std::stop_token& stop);

// The exit code that a verdict stands for: 0, or 5 for "different".
int exitCodeOf(const std::optional<schema::Verification>& verdict);

}  // namespace hopscope::pipeline
