#pragma once

// Explains a plan: the cost of each decision and of its alternative, and the differences from the plans of the rules.

#include "optimiser/explain.h"
#include "pipeline/planner.h"
#include "schema/plan_answers.h"

namespace hopscope::pipeline {

// `answer` is what planFor returned for the request. Each decision takes a small solve, all of them `deadline` seconds
// at most. Expects data. Fails with Unsupported without data, with Cancelled, and like prediction.
base::Result<schema::Explanation> explainPlan(const Planning& planning, const PlanAnswer& answer);

}  // namespace hopscope::pipeline
