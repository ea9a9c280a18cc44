#pragma once

// Makes a plan from a strategy, the user's pins and the graph. Rules give it directly; the optimum is solved for the
// row counts of the batches, which depend on the plan, until the plan stays the same.

#include <memory>

#include "executor/forecast/predict.h"
#include "pipeline/prepare.h"
#include "placement/optimise.h"

namespace hopscope::pipeline {

struct PlanRequest {
    base::Strategy strategy = base::Strategy::Optimal;
    base::Objective objective = placement::Objective::Time;
    std::vector<plan::Pin> pins;
    std::string device = "cpu";                             // resolved
    forecast::PredictOptions limits;                        // see limitsOf
    std::optional<std::int64_t> hostMemory = std::nullopt;  // bytes of stores
    std::optional<int> stages = std::nullopt;               // of the optimum, at most
    std::optional<double> deadline = std::nullopt;          // seconds for the optimum
};

// The arguments of a search for a plan, and how it is observed and stopped. All referenced objects must outlive it.
struct Planning {
    const Prepared& prepared;
    forecast::Predictor& predictor;
    const PlanRequest& request;
    const base::ProgressFn& progress;
    std::stop_token stop;
};

// The costs that an optimum was found for, and its decisions.
struct Basis {
    placement::CostModel costs;
    placement::Optimum optimum;
};

struct PlanAnswer {
    plan::Plan plan;  // for the device and the batch of the request, with the hashes known so far
    std::vector<std::string> notes;
    std::shared_ptr<const Basis> basis = nullptr;  // if there is an optimum, even if a rule's plan was chosen
};

// Strategies "optimal" and "local-search" never return a plan that is more expensive, by the same cost model, than those
// of the rules with the same pins and number of stages, apart from up to 2 % of time if that saves bytes; if no optimum
// can be found for the model, the better rule's plan is returned with a note. Without data they are the same as
// "depth". If the memory limit requires smaller batches, they return the fastest plan that they find to fit into
// it (see fitMemory). Fails as placement does, with Cancelled, and with Resources.
base::Result<PlanAnswer> planFor(const Prepared& prepared, forecast::Predictor& predictor, const PlanRequest& request,
                                 const base::ProgressFn& progress, std::stop_token stop);

// The same without regard to the memory limit, and with nothing kept on a GPU.
base::Result<PlanAnswer> searchPlan(const Planning& planning);

// A plan that was found in a different way, with its cost, for the device and the batch of the request; without a
// bound.
base::Result<PlanAnswer> pricedPlan(const Planning& planning, plan::Plan plan);

// Local re-optimisation for other pins: the optimum of the basis, with the stages around the pins that differ optimised
// again, for the same row counts. Fails as planFor does.
base::Result<PlanAnswer> planNear(const Prepared& prepared, forecast::Predictor& predictor, const PlanRequest& request,
                                  const Basis& before, std::stop_token stop);

// Fails with Unsupported if the plan's stores need more than `limit` at a time.
base::Status checkHostMemory(const plan::Plan& plan, std::optional<std::int64_t> limit);

// The bytes that a plan will move and hold, and the expected and least time of each stage on its device, from the rates
// of the machine: on a CPU by the walls, from the work of the compiled loops; on a GPU by the cost model. Fails as
// Predictor::predict does.
base::Result<forecast::Forecast> forecastOf(const Prepared& prepared, forecast::Predictor& predictor,
                                            const plan::Plan& plan, const forecast::PredictOptions& limits,
                                            std::stop_token stop);

}  // namespace hopscope::pipeline
