#pragma once

// Finds the cheapest plan of a model.

#include <stop_token>

#include "placement/model_instance.h"

namespace hopscope::placement {

struct OptimiseOptions {
    std::optional<double> hostMemory;  // the most bytes of stores at any time, if each is freed after its last reader
    bool localSearch = false;          // no integer programs: quicker, with a weaker bound
    double deadlineSeconds = 10;  // for all solves together; afterwards, the best plan so far is returned with its gap
    std::optional<int> stages;    // maximum; none: as few as the model and the pins need
    std::stop_token stop;
};

// A plan and the instance that it solves, with the pins and the cuts that follow from them. The instance and its
// placement are empty if the plan was found without them.
struct Optimum {
    plan::Plan plan;
    ModelInstance model;
    optimiser::Placement placement;
    std::shared_ptr<const Realisation> how = nullptr;  // reused by optimise() with `before`
};

// Finds the cheapest plan, with its cost, lower bound and gap. The plan respects pins and the memory limit of the host.
// A pinned store that no later stage would read becomes a cut, so that its consumers wait for it. If a pin moves
// gathers past a stage in which nothing else happens, that stage stores their operand. Up to three stages are added
// where pins need them. Pins and `stages` count the stages of the plan, including a first one without gathers. The
// bound holds for all plans with as many stages that store no gather and run each gather once per use, for the row
// counts and rates of `costs`. For models that no instance expresses, a search over sets of stores (store_search.h)
// finds a plan without a bound; it supports neither pins nor a memory limit. Fails with Unsupported as makeInstance
// does, and if stages, pins or the memory limit leave no plan, naming conflicting pins or the least memory if they are
// found in time. Also fails with Cancelled and Resources.
//
// With `before`, a plan of the same model for the same costs and other pins, only the stages around the pins that
// differ are optimised, and all others remain unchanged. If that finds no plan, all stages are optimised, with fewer
// iterations. This is quicker than without `before`, and gives no bound. `before` is ignored if the two cannot be
// compared, for instance because a gather is pinned to be stored or stages are now counted.
base::Result<Optimum> optimise(const analysis::Analysis& analysis, const CostModel& costs,
                               const std::vector<plan::Pin>& pins, const OptimiseOptions& options,
                               const Optimum* before = nullptr);

// Returns the maximum number of bytes that a run holds in stores if each store is freed after its last reader; outputs
// remain. Expects the bytes of stored values (schema::fillBytes).
std::int64_t hostPeak(const plan::Plan& plan);

}  // namespace hopscope::placement
