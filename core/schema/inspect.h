#pragma once

// Writes the description of a model for `inspect --json`, and computes the sizes of tables and values from the data.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/roles/roles.h"
#include "base/result.h"
#include "plan/plan.h"
#include "json/json.h"

namespace hopscope::schema {

struct InspectSubject {
    const analysis::Analysis* analysis = nullptr;
    const plan::Plan* plan = nullptr;  // null: the model cannot be split
    const analysis::InputSchema* inputs = nullptr;
    std::map<analysis::SpaceId, std::int64_t>
        sizes;  // rows of the tables, as far as the data determine them; empty without data
    std::string model, modelClass;
    bool traced = false, exported = false, repaired = false;
    std::map<std::string, std::string> hashes;
    std::vector<std::string> notes;
    bool fromCode = false;  // the analysis covers operators in the code, whose dtypes and shapes are unknown
};

json::Value inspectValue(const InspectSubject& subject);
std::string writeInspect(const InspectSubject& subject);  // its text

// Returns the number of rows of each table, as far as it follows from sizes that the model file fixes and from the
// declared sizes of node, edge and graph tables. `counted`: the sizes of tables that masks select.
std::map<analysis::SpaceId, std::int64_t> tableSizes(const analysis::Analysis& analysis,
                                                     const std::map<std::string, std::int64_t>& declared,
                                                     const std::map<analysis::SpaceId, std::int64_t>& counted = {});

// Returns the bytes of a value for the whole graph; nullopt if it is not a dense tensor, or if the size of one of its
// tables is unknown.
std::optional<std::int64_t> wholeBytes(const analysis::Analysis& analysis, ir::ValueId id,
                                       const std::map<analysis::SpaceId, std::int64_t>& sizes);

// Fills in the bytes written for each stored value with known sizes. The bytes read depend on the batches and are left
// as they are.
void fillBytes(plan::Plan& plan, const analysis::Analysis& analysis,
               const std::map<analysis::SpaceId, std::int64_t>& sizes);

}  // namespace hopscope::schema
