#pragma once

// Makes a plan from a strategy, the user's pins and the graph. Rules yield a plan directly. The optimum depends on the
// row counts of the batches, which depend on the plan. It is therefore solved until the plan does not change, at most
// four times and within the deadline.

#include <memory>

#include "executor/forecast/predict.h"
#include "pipeline/opening/prepare.h"
#include "placement/optimise.h"

namespace hopscope::pipeline {

struct PlanRequest {
    base::Strategy strategy = base::Strategy::Optimal;
    base::Objective objective = placement::Objective::Time;
    std::vector<plan::Pin> pins;
    std::string device = "cpu";                             // resolved
    forecast::PredictOptions limits;                        // see limitsOf()
    std::optional<std::int64_t> hostMemory = std::nullopt;  // limit for stores, in bytes
    std::optional<int> stages = std::nullopt;               // the most stages of the optimum
    std::optional<double> deadline = std::nullopt;          // the most seconds for the optimum
};

// The arguments of a search for a plan, its progress callback and its stop token. All referenced objects must outlive
// it.
struct Planning {
    const Prepared& prepared;
    forecast::Predictor& predictor;
    const PlanRequest& request;
    const base::ProgressFn& progress;
    std::stop_token stop;
};

// An optimum with its decisions, and the costs for which it was found.
struct Basis {
    placement::CostModel costs;
    placement::Optimum optimum;
};

struct PlanAnswer {
    plan::Plan plan;  // for the device and the batch of the request, with the hashes known so far
    std::vector<std::string> notes;
    std::shared_ptr<const Basis> basis = nullptr;  // the optimum, if there is one, even if a rule's plan was chosen
};

// Makes a plan. The strategies "optimal" and "local-search" return the cheapest of the optimum and the plans of the
// rules. On a GPU, the price of a plan is that with the tables that it keeps there, if the objective is time. On a CPU, it
// is the predicted time of the compiled loops if these plans differ in the number of loops in tiles. A plan that takes up
// to 2 % more time is preferred if it moves more than 1 % fewer bytes. If no optimum can be found for the model, the better
// rule's plan is returned with a note. Without data, both strategies are the same as "depth". If a run of the plan would
// exceed the memory limit, they return the best plan that fitMemory() finds. Fails as placement does, with Cancelled, and
// with Resources.
base::Result<PlanAnswer> planFor(const Prepared& prepared, forecast::Predictor& predictor, const PlanRequest& request,
                                 const base::ProgressFn& progress, std::stop_token stop);

// Makes a plan without regard to the device's memory limit, and with no values resident on a GPU.
base::Result<PlanAnswer> searchPlan(const Planning& planning);

// Returns the answer for a plan that was found in a different way, for the device and the batch of the request, with
// the cost of the plan but without a lower bound. Fails with Unsupported if it needs more host memory or stages than
// the request allows.
base::Result<PlanAnswer> pricedPlan(const Planning& planning, plan::Plan plan);

// Re-optimises for changed pins, for the same row counts: starts from the optimum of the basis, and solves the stages
// around the pins that differ, or else all stages (see placement::optimise). Fails as that does.
base::Result<PlanAnswer> planNear(const Prepared& prepared, forecast::Predictor& predictor, const PlanRequest& request,
                                  const Basis& before, std::stop_token stop);

// Fails with Unsupported if the plan's stores need more than `limit` at a time.
base::Status checkHostMemory(const plan::Plan& plan, std::optional<std::int64_t> limit);

// Predicts the bytes that a plan will move and hold, and the expected and least time of each stage on its device. Times
// follow from the rates of the machine: on a CPU by the walls, from the work of the compiled loops; on a GPU by the
// cost model. Fails as Predictor::predict() does.
base::Result<forecast::Forecast> forecastOf(const Prepared& prepared, forecast::Predictor& predictor,
                                            const plan::Plan& plan, const forecast::PredictOptions& limits,
                                            std::stop_token stop);

}  // namespace hopscope::pipeline
