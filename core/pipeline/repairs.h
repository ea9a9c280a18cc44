#pragma once

// Suggestions for requests that no plan satisfies.

#include <optional>
#include <vector>

#include "pipeline/planner.h"

namespace hopscope::pipeline {

struct Repair {
    std::optional<int> stages;      // either allow this many stages
    std::optional<plan::Pin> drop;  // or drop this pin
    plan::Plan plan;                // the resulting plan
};

// Tries up to three more stages than the request allows (the first number that works is returned), then drops each of the
// first 32 pins on its own; one planFor() per attempt. Fails with Cancelled.
base::Result<std::vector<Repair>> findRepairs(const Planning& planning);

}  // namespace hopscope::pipeline
