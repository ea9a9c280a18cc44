#pragma once

// The costs of a placement's decisions, value by value, and of their alternatives.

#include <optional>
#include <vector>

#include "optimiser/reoptimise.h"

namespace hopscope::optimiser {

using base::DecisionKind;

struct Explanation {
    DecisionKind kind = DecisionKind::Stored;
    NodeId node;
    double write = 0;                   // the costs of this value over all stages: of its write,
    double read = 0;                    // its reads
    double compute = 0;                 // and its computations
    std::vector<int> stages;            // the stages that read it (Stored), compute it (Recomputed) or run it (Delayed)
    bool possible = true;               // false: no legal plan decides otherwise
    std::optional<double> alternative;  // the cost of the best plan found that does; also none after the deadline
    double saves = 0;                   // alternative - the placement's cost: the benefit of the decision
};

// One per decision, in order of stages and nodes. Alternatives come from reoptimise(), so `saves` can be too high, never
// too low for an optimal placement. Omits outputs, which have to be stored. One small solve per decision.
base::Result<std::vector<Explanation>> explain(const Instance& instance, const Placement& placement,
                                               const ReoptimiseOptions& options = {});

}  // namespace hopscope::optimiser
