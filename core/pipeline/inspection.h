#pragma once

#include <optional>

#include "base/result.h"
#include "pipeline/prepare.h"
#include "plan/plan.h"
#include "schema/inspect.h"

namespace hopscope::pipeline {

// The plan of a description; nullopt if the model cannot be split, with the reason among the lints. Called
// once per Prepared: it adds the lints that need the data and a pass over the edges, which only descriptions show.
base::Result<std::optional<plan::Plan>> depthPlan(Prepared& prepared);

// `plan` may be null. Refers to both.
schema::InspectSubject subjectOf(const Prepared& prepared, const plan::Plan* plan);

}  // namespace hopscope::pipeline
