#pragma once

// Private to placement: from a rule that says when a value is read back to the stages, loops and steps that follow.

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

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

// Operators that are computed on the frontier of a loop's own type, by destination.
using OnFrontier = std::set<std::pair<ir::SpaceId, ir::OpId>>;

// What later stages want of one.
struct StageDemand {
    std::set<std::pair<ir::ValueId, ir::RowClass>> writes;
    std::set<std::pair<ir::OpId, ir::RowClass>> reductions;
    OnFrontier known;  // what needs no step on the batch's rows: these come first in the frontier
    bool operator==(const StageDemand&) const = default;
};

// What a stage does for them, and wants itself of earlier ones. It follows from the demand, and from what table and rule
// say of the values it has asked about.
struct StageWork {
    StageDemand demand;
    std::vector<plan::Loop> loops;
    std::vector<ir::ValueId> reads;   // from stores, in ascending order
    std::vector<ir::ValueId> wholes;  // values without rows
    std::vector<ir::ValueId> asked;   // about these, in ascending order
    OnFrontier onFrontier;
};

using StageWorks = std::map<int, std::shared_ptr<const StageWork>>;  // by stage, from 0

struct Schedule {
    std::set<ir::ValueId> stored;
    std::vector<plan::Stage> stages;
    std::vector<plan::Checkpoint> checkpoints;
    std::array<StageWorks, 3> works;  // of each attempt, for the next schedule
};

// An earlier schedule of the same model, which saves the stages that are as they were.
struct EarlierSchedule {
    const Schedule& schedule;
    std::set<int> stages;  // in which the rule says something else, not counting values that the table says differ
};

// Demand-driven from the outputs: every output and every value that the rule reads is stored at its home, everything else
// is computed in the stage that wants it. What a loop computes on the frontier of its own type is not computed on the
// batch's rows again: they come first in the frontier. Fails with Unsupported if a value is needed where it can neither be
// computed nor read, naming it and the operator in the way. With `earlier`, from whose table this one was made, the result
// is the same.
base::Result<Schedule> schedule(const analysis::Analysis& analysis, const DepTable& table, const ReadRule& rule,
                                const EarlierSchedule* earlier = nullptr);

}  // namespace hopscope::placement
