#pragma once

// Writes and reads plan.json as a JSON value and as text. Writers are deterministic (sorted keys, fixed number format).
// Readers are strict: an unknown major version, a missing required field, a wrong type or a dangling name fails with
// Input and a JSON pointer. Unknown fields are ignored, because minor versions may add some.

#include <map>
#include <string>

#include "analysis/analysis.h"
#include "base/result.h"
#include "plan/plan.h"
#include "json/json.h"

namespace hopscope::schema {

// Return plan.json, in which tables, keys, row classes ("B(node)", "O(edge_index,end1)"), values (v17) and operators
// (op42) have names. Only the text contains readable names of values as well.
json::Value planValue(const plan::Plan& plan, const analysis::Analysis& analysis);
std::string writePlan(const plan::Plan& plan, const analysis::Analysis& analysis);

// Reads plan.json. Accepts only plans for this analysis that can run: every name must exist, `reassociate` must be as
// in the analysis, and each of `hashes` ("model", "data", "roles") must equal that of the plan, unless the plan lacks
// it.
base::Result<plan::Plan> readPlan(const std::string& text, const analysis::Analysis& analysis, const std::string& file,
                                  const std::map<std::string, std::string>& hashes = {});
// Reads plan.json from a JSON value, in the same way. Messages call the plan `name`.
base::Result<plan::Plan> planFrom(const json::Value& document, const analysis::Analysis& analysis,
                                  const std::string& name, const std::map<std::string, std::string>& hashes = {});

}  // namespace hopscope::schema
