#pragma once

// Makes a plan from an analysis. Without the decisions of a solver, the stored values determine a plan: everything else
// follows from the dependence table (dep_table.h).

#include <compare>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "base/choices.h"
#include "base/result.h"
#include "plan/plan.h"

namespace hopscope::placement {

using base::Strategy;  // Optimal and LocalSearch are found by `optimise`

// Returns the plan of a rule. Fails with Unsupported, naming operator, module path and source, if the model cannot be
// split.
base::Result<plan::Plan> makePlan(const analysis::Analysis& analysis, Strategy strategy);

// Returns the values that a rule stores. Fails as makePlan does.
base::Result<std::set<plan::ValueId>> strategyStores(const analysis::Analysis& analysis, Strategy strategy);

// Returns the plan that stores `stored` and the outputs. Each value is computed in the earliest possible stage, and
// recomputed wherever it is needed and not stored. Values that no later stage reads are not stored, except outputs.
// `read`, a subset of `stored`, holds values that every consumer reads from the store, in a later stage than the one
// that makes them. Fails with Unsupported if the plan is not legal, naming the value that is neither stored nor
// computable on the rows on which it is needed.
base::Result<plan::Plan> evaluate(const analysis::Analysis& analysis, const std::set<plan::ValueId>& stored,
                                  const std::set<plan::ValueId>& read = {});

// The decisions of a solver, which are more than a set of stored values. Stages count from 0.
struct Decisions {
    struct Read {  // the loop over `destination` of stage `stage` reads `value` on `rows` from its store
        plan::ValueId value;
        plan::RowClass rows;
        int stage = 0;
        plan::SpaceId destination;
        auto operator<=>(const Read&) const = default;
    };
    std::map<plan::ValueId, int>
        written;           // stored values, and results of row reductions, with the stage that computes them
    std::set<Read> reads;  // everything else is computed where it is needed, if it can be
};

// The intermediate results of a plan, which are reused for the next plan with similar decisions. Immutable.
struct Realisation;

struct Realised {
    plan::Plan plan;
    std::shared_ptr<const Realisation> how;
};

// Returns the plan of these decisions, including delays, recomputation and a first stage without hops. Unneeded values
// are omitted; results of the model are stored even if the decisions do not name them. Fails as `evaluate` does. With
// `before`, of the same model, only the stages that differ are rebuilt; the plan is the same.
base::Result<Realised> realise(const analysis::Analysis& analysis, const Decisions& decisions,
                               const Realisation* before = nullptr);

}  // namespace hopscope::placement
