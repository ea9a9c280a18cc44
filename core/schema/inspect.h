#pragma once

// `inspect --json`: the description of a model. Depth, operators, values, stages, prologue and lints are plain data;
// readers choose colours and wording.

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
        sizes;  // rows of the tables whose sizes follow from the data; empty without data
    std::string model, modelClass;
    bool traced = false, exported = false, repaired = false;
    std::map<std::string, std::string> hashes;
    std::vector<std::string> notes;
    bool fromCode = false;  // the analysis is of the operators in the code: dtypes and shapes of results are not known
};

json::Value inspectValue(const InspectSubject& subject);
std::string writeInspect(const InspectSubject& subject);  // its text

// The rows of every table that follows from the declared sizes (node, edge and graph tables, concatenations), and from
// those `counted` in tables that masks select.
std::map<analysis::SpaceId, std::int64_t> tableSizes(const analysis::Analysis& analysis,
                                                     const std::map<std::string, std::int64_t>& declared,
                                                     const std::map<analysis::SpaceId, std::int64_t>& counted = {});

// Bytes of a value for the whole graph; nullopt if the size of one of its tables is not known.
std::optional<std::int64_t> wholeBytes(const analysis::Analysis& analysis, ir::ValueId id,
                                       const std::map<analysis::SpaceId, std::int64_t>& sizes);

// Fills in the bytes written for each stored value, if sizes are known. The bytes read depend on the batches and stay
// open.
void fillBytes(plan::Plan& plan, const analysis::Analysis& analysis,
               const std::map<analysis::SpaceId, std::int64_t>& sizes);

}  // namespace hopscope::schema
