#pragma once

// Private to placement: builds stages, loops and steps, given a rule that decides which values are read back.

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

// Returns true if the loop reads the value from a store instead of computing it.
using ReadRule = std::function<bool(const Wanted& wanted)>;

// The operators that are computed on the frontier of a loop's own type, by destination.
using OnFrontier = std::set<std::pair<ir::SpaceId, ir::OpId>>;

// The demands of later stages on a stage.
struct StageDemand {
    std::set<std::pair<ir::ValueId, ir::RowClass>> writes;
    std::set<std::pair<ir::OpId, ir::RowClass>> reductions;
    OnFrontier known;  // operators without a step on the batch's rows, which come first in the frontier
    bool operator==(const StageDemand&) const = default;
};

// The work of a stage for later stages, and its demands on earlier ones. Both depend only on `demand` and on the
// entries of the table and the rule for the values in `asked`.
struct StageWork {
    StageDemand demand;
    std::vector<plan::Loop> loops;
    std::vector<ir::ValueId> reads;   // from stores, in ascending order
    std::vector<ir::ValueId> wholes;  // values without rows
    std::vector<ir::ValueId> asked;   // the values that it asked table and rule about, in ascending order
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
        stages;  // those in which the rule decides differently, other than for values whose table entries differ
};

// Schedules the work on demand, beginning with the outputs. Every output and every value that the rule reads is stored
// at its home; everything else is computed in the stage that needs it. Values that a loop computes on the frontier of
// its own type are not recomputed on the batch's rows, which come first in the frontier. Fails with Unsupported, naming
// the value and the operator that prevents it, if a value can neither be computed nor read where it is needed.
// `earlier`, whose table this one is derived from, saves work and does not change the result.
base::Result<Schedule> schedule(const analysis::Analysis& analysis, const DepTable& table, const ReadRule& rule,
                                const EarlierSchedule* earlier = nullptr);

}  // namespace hopscope::placement
