#pragma once

// Ways out where no plan keeps to what was decided beforehand.

#include <optional>
#include <vector>

#include "pipeline/planner.h"

namespace hopscope::pipeline {

struct Repair {
    std::optional<int> stages;      // this many are allowed, or
    std::optional<plan::Pin> drop;  // this pin is given up;
    plan::Plan plan;                // then there is this plan
};

// The fewest stages beyond those that are allowed, at most three more, and each of the first 32 pins by itself, where it
// stands in the way; tries them one by one. Fails with Cancelled.
base::Result<std::vector<Repair>> findRepairs(const Prepared& prepared, executor::Predictor& predictor,
                                              const PlanRequest& request, const base::ProgressFn& progress,
                                              const std::stop_token& stop);

}  // namespace hopscope::pipeline
