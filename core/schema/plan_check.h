#pragma once

// Private to schema: checks whether a plan that was read from a document can run.

#include "analysis/analysis.h"
#include "plan/plan.h"
#include "json/reader.h"

namespace hopscope::schema {

// Refuses a plan that lacks something that its steps need, and names the field: the step that computes an operand, a
// stored value or the read of it, a source of a frontier, a reduction, or an output of the model. `root` is the
// document from which `plan` was read. Plans of the scheduler pass, and a plan may contain more than it needs. Linear
// in the plan.
void checkPlan(const json::Reader& root, const plan::Plan& plan, const analysis::Analysis& analysis);

}  // namespace hopscope::schema
