#pragma once

// The versioned documents, as JSON values and as text. Writers are deterministic (sorted keys, fixed number format); readers are
// strict: unknown major version, missing field, wrong type or a dangling name fails with Input and a JSON pointer.
// Fields that a reader does not know are ignored: minor versions may add some.

#include <map>
#include <string>

#include "analysis/analysis.h"
#include "base/result.h"
#include "plan/plan.h"
#include "json/json.h"

namespace hopscope::schema {

// plan.json. Rows classes are written by name ("B(node)", "O(edge_index,dst)"); values and operators as v17, op42.
json::Value planValue(const plan::Plan& plan, const analysis::Analysis& analysis);
std::string writePlan(const plan::Plan& plan, const analysis::Analysis& analysis);

// Accepts only plans made for this analysis: every id, class and table must exist, and `hashes` ("model", "data",
// "roles") must agree with the plan's wherever both are set.
base::Result<plan::Plan> readPlan(const std::string& text, const analysis::Analysis& analysis, const std::string& file,
                                  const std::map<std::string, std::string>& hashes = {});
// The same for a document given as a value; `name` stands for it in messages.
base::Result<plan::Plan> planFrom(const json::Value& document, const analysis::Analysis& analysis,
                                  const std::string& name, const std::map<std::string, std::string>& hashes = {});

}  // namespace hopscope::schema
