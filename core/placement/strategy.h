#pragma once

// From an analysis to a plan. A plan is decided by its stored values: everything else follows from the dep table.

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

// The plan of a rule. Fails with Unsupported, naming operator, module path and source, if the model cannot be split.
base::Result<plan::Plan> makePlan(const analysis::Analysis& analysis, Strategy strategy);

// The values that a rule stores. Fails as makePlan does.
base::Result<std::set<plan::ValueId>> strategyStores(const analysis::Analysis& analysis, Strategy strategy);

// The plan that stores exactly `stored` (outputs are always stored), each value computed in the earliest stage that this
// allows and recomputed wherever it is not stored; or, with Unsupported, the reason why it is not legal: which value is
// needed on which rows and is neither stored nor computable there. Values that no later stage reads are then not
// stored. `read` (part of `stored`) holds values that every consumer reads from the store, in a later stage than the
// one that makes them.
base::Result<plan::Plan> evaluate(const analysis::Analysis& analysis, const std::set<plan::ValueId>& stored,
                                  const std::set<plan::ValueId>& read = {});

// The decisions of a solver beyond the set of stored values. Stages count from 0.
struct Decisions {
    struct Read {  // `value`, needed on `rows` by the loop over `destination` of stage `stage`, comes from its store
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

// Intermediate results of a plan, for the next one with similar decisions. Immutable.
struct Realisation;

struct Realised {
    plan::Plan plan;
    std::shared_ptr<const Realisation> how;
};

// The plan of these decisions. Delays, recomputation and a first stage without hops follow the decisions; unneeded
// values are omitted, and results that are not named are stored as well. Fails as `evaluate` does. With `before`, of
// the same model, only the stages that differ are built again; the plan is the same.
base::Result<Realised> realise(const analysis::Analysis& analysis, const Decisions& decisions,
                               const Realisation* before = nullptr);

}  // namespace hopscope::placement
