#pragma once

// The plans of the rules and the optimum, each step by step, and the colouring that none of them can beat.

#include "pipeline/planner.h"
#include "placement/walkthrough.h"
#include "json/json.h"

namespace hopscope::pipeline {

struct Walkthroughs {
    struct Way {
        base::Strategy strategy = base::Strategy::Depth;
        std::vector<placement::WalkStep> steps;
    };
    std::vector<Way> ways;  // depth, source-rule, optimal: those that have a plan
    base::Unit unit = base::Unit::Seconds;
    std::optional<placement::Colouring>
        colouring{};  // none without data, and where the instance cannot express the model
};

// For the request's objective, device and limits, without its strategy and its pins. Takes an optimisation. Fails with
// Cancelled, and as planFor does, but for plans that a strategy does not have.
base::Result<Walkthroughs> walkthroughs(const Planning& planning);

// The answer to plan/steps.
json::Value walkthroughsValue(const Walkthroughs& all);

}  // namespace hopscope::pipeline
