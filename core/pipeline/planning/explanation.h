#pragma once

// Explains a plan by the cost of each decision and of its alternative, and by the differences from the plans of the
// rules.

#include "optimiser/explain.h"
#include "pipeline/planning/planner.h"
#include "schema/plan_answers.h"

namespace hopscope::pipeline {

// Explains the plan that planFor() returned for the request. Solves a problem for each decision, in at most `deadline`
// seconds (by default 10) for all; a plan that is not the optimum, or was found without an instance, has no decisions.
// Fails with Unsupported without data, with Cancelled, and as a prediction does.
base::Result<schema::Explanation> explainPlan(const Planning& planning, const PlanAnswer& answer);

}  // namespace hopscope::pipeline
