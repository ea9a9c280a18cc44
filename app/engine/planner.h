#pragma once

// From a strategy, the user's pins and the graph to a plan: rules at once, the optimum by solving for the row counts of
// the batches, which depend on the plan, until it stays the same.

#include <memory>

#include "arguments.h"
#include "executor/predict.h"
#include "pipeline.h"
#include "placement/optimise.h"
#include "refine.h"

namespace hopscope::engine {

struct PlanRequest {
    std::string strategy = "optimal";
    placement::Objective objective = placement::Objective::Time;
    std::vector<plan::Pin> pins;
    std::string device = "cpu";                             // resolved
    executor::PredictOptions limits;                        // batch and memory
    std::optional<std::int64_t> hostMemory = std::nullopt;  // bytes of stores
    std::optional<int> stages = std::nullopt;               // of the optimum, at most
    std::optional<double> deadline = std::nullopt;          // seconds for the optimum
};

// What an optimum was found for, and what it decides.
struct Basis {
    placement::CostModel costs;
    placement::Optimum optimum;
};

struct PlanAnswer {
    plan::Plan plan;  // for the device and the batch of the request, with the hashes known so far
    std::vector<std::string> notes;
    std::shared_ptr<const Basis> basis = nullptr;  // where there is an optimum, also if a rule's plan was taken
};

// Strategies "optimal" and "local-search" never answer with a plan that is dearer, by the same account, than those of the
// rules with the same pins and as many stages; where no optimum can be found for the model, the better rule's plan comes
// with a note. Without data they stand for "depth". Fails as placement does, with Cancelled, and with Resources.
base::Result<PlanAnswer> planFor(const Prepared& prepared, executor::Predictor& predictor, const PlanRequest& request,
                                 const base::ProgressFn& progress, std::stop_token stop);

// A quick answer for other pins: the basis' optimum with the stages around the pins that differ optimised again, for the same
// row counts. Fails as planFor does.
base::Result<PlanAnswer> planNear(const Prepared& prepared, executor::Predictor& predictor, const PlanRequest& request,
                                  std::shared_ptr<const Basis> before, std::stop_token stop);

// Walks once more with the whole inputs where a branch goes the other way on them than on the sample, and notes it.
// Nothing changes where the graph is too large for that: a run will say so.
base::Status settleBranches(Prepared& prepared, const std::string& scratchFolder, Session& session);

// What a plan is made for: the resolved device, the pins of the file.
base::Result<PlanRequest> requestFor(const Prepared& prepared, const PlanSource& source, const DeviceOptions& device);

// Reads or makes the plan, for the resolved device; notes go to the console. Expects hashInputs.
base::Result<PlanAnswer> choosePlan(const Prepared& prepared, executor::Predictor& predictor, const PlanSource& source,
                                    const DeviceOptions& device, Session& session);

struct ChosenPlan {
    plan::Plan plan;
    std::optional<WorkSeconds> expected;  // of a plan that was made here, where the rates of the device were measured
    std::vector<std::string> notes;       // not yet told
};

// The same with a look at the graph of its own, which ends with the call: what it maps is gone before anything runs.
base::Result<ChosenPlan> choosePlan(const Prepared& prepared, const std::string& scratchFolder,
                                    const PlanSource& source, const DeviceOptions& device, Session& session);

// Predicted seconds of each stage of a plan, for its device, from the rates of the machine. Fails as `predict` does.
base::Result<std::vector<double>> stageSeconds(const Prepared& prepared, executor::Predictor& predictor,
                                               const plan::Plan& plan, const executor::PredictOptions& limits,
                                               std::stop_token stop);

}  // namespace hopscope::engine
