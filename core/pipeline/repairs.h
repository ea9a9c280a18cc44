#pragma once

// Suggestions for requests that no plan satisfies.

#include "pipeline/planner.h"
#include "schema/plan_answers.h"

namespace hopscope::pipeline {

// Tries up to three more stages than the request allows (the first number that works is returned), then drops each of the
// first 32 pins on its own; one planFor() per attempt. Fails with Cancelled.
base::Result<schema::Repairs> findRepairs(const Planning& planning);

}  // namespace hopscope::pipeline
