#pragma once

// Private to schema: checks whether a plan that was read can run.

#include "analysis/analysis.h"
#include "plan/plan.h"
#include "json/reader.h"

namespace hopscope::schema {

// Refuses, by its field, the first part that the plan lacks: a step whose result another one needs, a read of a store
// or the store itself, a source of a frontier, a reduction, a result of the model. `root` is the document from which
// `plan` was read. Plans of the scheduler pass, and a plan may contain more than it needs. Linear in the plan.
void checkPlan(const json::Reader& root, const plan::Plan& plan, const analysis::Analysis& analysis);

}  // namespace hopscope::schema
