#pragma once

#include <optional>

#include "base/result.h"
#include "pipeline/opening/prepare.h"
#include "plan/plan.h"
#include "schema/inspect.h"

namespace hopscope::pipeline {

// Returns the plan by depth for the description of a model; nullopt if the model cannot be split, with the reason among
// the lints. Adds the lints that need the data, which only descriptions contain. Call it once.
base::Result<std::optional<plan::Plan>> depthPlan(Prepared& prepared);

// Returns the subject of a description, which refers to both arguments. `plan` may be null.
schema::InspectSubject subjectOf(const Prepared& prepared, const plan::Plan* plan);

}  // namespace hopscope::pipeline
