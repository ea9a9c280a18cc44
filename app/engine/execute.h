#pragma once

// A run with its proof: the check on the sample before, the plan itself, the verification after. Shared by `run` and
// `verify`.

#include <optional>

#include "executor/executor.h"
#include "pipeline.h"
#include "planner.h"
#include "verify/verify.h"

namespace hopscope::engine {

struct Execution {
    plan::Plan plan;  // the one that ran: another walk makes another one
    executor::RunReport run;
    std::optional<verify::Verdict> check;    // on the sample
    std::optional<verify::Verdict> verdict;  // on the whole graph
};

struct ExecutionRequest {
    PlanSource plan;
    DeviceOptions device;
    verify::Mode verify = verify::Mode::Sample;
    std::string folder;                              // for stores and scratch files
    std::optional<ChosenPlan> given = std::nullopt;  // this plan as it is, instead of `plan`
};

// Fails with Different if the plan computes something else on the sample already; a difference on the whole graph is a
// verdict, not an error. Where a branch went the other way on the real inputs and the graph is small, `prepared` is
// walked once more with them.
base::Result<Execution> execute(Prepared& prepared, const ExecutionRequest& request, executor::Observer& observer,
                                Session& session);

// The exit code that a verdict stands for: 0, or 5 for "different".
int exitCodeOf(const std::optional<verify::Verdict>& verdict);

}  // namespace hopscope::engine
