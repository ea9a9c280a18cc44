#pragma once

// The tables that people read: a model, a plan, a run, a verdict.

#include <optional>
#include <string>

#include "pipeline.h"
#include "schema/report.h"
#include "session.h"

namespace hopscope::engine {

// What the model is; with a plan also its stages and what is stored between them.
std::string describeModel(const Prepared& prepared, const plan::Plan* plan, const Style& style);

std::string describeRun(const schema::Report& report, const Style& style);

// One line: "verified: equal on all 2,708 rows, largest difference 3.6e-06".
std::string describeVerdict(const schema::Verification& verification, const Style& style);

}  // namespace hopscope::engine
