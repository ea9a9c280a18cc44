#pragma once

// The cheapest plan of a model, with its certificate.

#include <stop_token>

#include "placement/model_instance.h"

namespace hopscope::placement {

struct OptimiseOptions {
    std::optional<double> hostMemory;  // bytes of stores at any time, if each is freed after its last reader
    bool localSearch = false;          // no integer programs: quicker, with a weaker bound
    double deadlineSeconds = 10;       // for all solves; then the best plan so far, with its gap
    std::optional<int> stages;         // at most; none: as few as the model and the pins need
    std::stop_token stop;
};

// A plan, with the instance that it solves, which contains the pins and the cuts that follow from them. The instance
// and its placement are empty if the plan was found without one.
struct Optimum {
    plan::Plan plan;
    ModelInstance model;
    optimiser::Placement placement;
    std::shared_ptr<const Realisation> how = nullptr;  // the plan followed from the placement
};

// The cheapest plan found, with its cost, lower bound and gap. It respects pins and the host's memory: a pinned store
// that no later stage would read becomes a cut (its consumers wait for it), gathers that a pin moves past a stage in
// which nothing else happens read their operand from a store made there, and stages are added, up to three, where pins
// need them. Stages of pins and of `stages` are those of the plan, a first one without gathers among them. The bound is
// one on all plans of as many stages that store no gather and run each once per use, for the row counts and rates of
// `costs`. Models that no instance expresses get the cheapest plan that a search over sets of stores finds
// (store_search.h), without a bound, unless there are pins or a memory limit, which it does not know. Fails with
// Unsupported (see makeInstance; pins that leave no plan: with the conflicting pins and suggested fixes; the least
// memory that a plan needs), Cancelled, Resources.
//
// With `before`, a plan of the same model for the same costs and other pins, only the stages around the pins that
// differ are optimised, all others stay: milliseconds at 1,000 operators, without a bound. If the two cannot be
// compared (a gather that is pinned to be stored, stages that are now counted), `before` is ignored.
base::Result<Optimum> optimise(const analysis::Analysis& analysis, const CostModel& costs,
                               const std::vector<plan::Pin>& pins, const OptimiseOptions& options,
                               const Optimum* before = nullptr);

// The most bytes of stores that a run holds if each is freed after its last reader; outputs remain. Expects the bytes
// of stored values (schema::fillBytes). Linear in the plan.
std::int64_t hostPeak(const plan::Plan& plan);

}  // namespace hopscope::placement
