#pragma once

// Private to placement: from a rule that says when a value is read back to the stages, loops and steps that follow.

#include <functional>
#include <map>
#include <set>

#include "base/result.h"
#include "placement/dep_table.h"
#include "plan/plan.h"

namespace hopscope::placement {

// A value needed on a class, where it could be computed in stage `computable` (DepTable::never: nowhere), by the loop over
// `destination` of stage `stage` (both from 0).
struct Wanted {
    ir::ValueId value;
    ir::RowClass rows;
    int computable = 0;
    int stage = 0;
    ir::SpaceId destination;
};

// Whether it is read from a store instead.
using ReadRule = std::function<bool(const Wanted& wanted)>;

struct Schedule {
    std::set<ir::ValueId> stored;
    std::vector<plan::Stage> stages;
    std::vector<plan::Checkpoint> checkpoints;
};

// Demand-driven from the outputs: every output and every value that the rule reads is stored at its home, everything else
// is computed in the stage that wants it. What a loop computes on the frontier of its own type is not computed on the
// batch's rows again: they come first in the frontier. Fails with Unsupported if a value is needed where it can neither be
// computed nor read, naming it and the operator in the way.
base::Result<Schedule> schedule(const analysis::Analysis& analysis, const DepTable& table, const ReadRule& rule);

}  // namespace hopscope::placement
