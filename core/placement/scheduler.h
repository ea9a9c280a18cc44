#pragma once

// Private to placement: from a rule that says when a value is read back to the stages, loops and steps that follow.

#include <functional>
#include <map>
#include <set>

#include "base/result.h"
#include "placement/dep_table.h"
#include "plan/plan.h"

namespace hopscope::placement {

// Whether value v, wanted on a class where it could be computed in stage `computable` (DepTable::never: nowhere), is read
// from a store in stage `stage` instead (both from 0).
using ReadRule = std::function<bool(ir::ValueId v, int computable, int stage)>;

struct Schedule {
    std::set<ir::ValueId> stored;
    std::vector<plan::Stage> stages;
    std::vector<plan::Checkpoint> checkpoints;
};

// Demand-driven from the outputs: every output and every value that the rule reads is stored at its home, everything else
// is computed in the stage that wants it. Fails with Unsupported if a value is wanted where it can neither be computed nor
// read, naming it and the operator in the way.
base::Result<Schedule> schedule(const analysis::Analysis& analysis, const DepTable& table, const ReadRule& rule);

}  // namespace hopscope::placement
