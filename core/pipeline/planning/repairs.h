#pragma once

// Suggests changes to requests that no plan satisfies.

#include "pipeline/planning/planner.h"
#include "schema/plan_answers.h"

namespace hopscope::pipeline {

// If the request limits the number of stages, tries up to three more, and offers the first number that works. Then
// tries to drop each of the first 32 pins alone. Each attempt is a planFor(). Fails with Cancelled.
base::Result<schema::Repairs> findRepairs(const Planning& planning);

}  // namespace hopscope::pipeline
