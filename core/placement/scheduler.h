#pragma once

// Private to placement: turns a rule that says when a value is read back into stages, loops and steps.

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

// A value that the loop over `destination` of stage `stage` needs on the row class `rows`, and the first stage that can
// compute it on these rows (DepTable::never: none can). Stages count from 0.
struct Wanted {
    ir::ValueId value;
    ir::RowClass rows;
    int computable = 0;
    int stage = 0;
    ir::SpaceId destination;
};

// Whether the loop reads the value from a store instead of computing it.
using ReadRule = std::function<bool(const Wanted& wanted)>;

// Operators that are computed on the frontier of a loop's own type, by destination.
using OnFrontier = std::set<std::pair<ir::SpaceId, ir::OpId>>;

// The demands of later stages on one.
struct StageDemand {
    std::set<std::pair<ir::ValueId, ir::RowClass>> writes;
    std::set<std::pair<ir::OpId, ir::RowClass>> reductions;
    OnFrontier known;  // operators without a step on the batch's rows, which come first in the frontier
    bool operator==(const StageDemand&) const = default;
};

// The work of a stage for later stages, and its demands on earlier ones. It depends on the stage's own demand, and on
// the entries of table and rule for the values in `asked`.
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
    std::array<StageWorks, 3> works;  // of each attempt; the next schedule reuses them
};

// An earlier schedule of the same model, whose unchanged stages need not be scheduled again.
struct EarlierSchedule {
    const Schedule& schedule;
    std::set<int>
        stages;  // those in which the rule decides differently, except for values whose entries in the table differ
};

// Demand-driven from the outputs: every output and every value that the rule reads is stored at its home, everything else
// is computed in the stage that needs it. Values that a loop computes on the frontier of its own type are not
// recomputed on the batch's rows, which come first in the frontier. Fails with Unsupported if a value is needed where
// it can neither be computed nor read, naming it and the operator in the way. With `earlier`, from whose table this one
// was made, the result is the same.
base::Result<Schedule> schedule(const analysis::Analysis& analysis, const DepTable& table, const ReadRule& rule,
                                const EarlierSchedule* earlier = nullptr);

}  // namespace hopscope::placement
