#pragma once

// What the decisions of a placement cost, value by value, and what their alternatives would cost.

#include <optional>
#include <vector>

#include "optimiser/reoptimise.h"

namespace hopscope::optimiser {

using base::DecisionKind;

struct Explanation {
    DecisionKind kind = DecisionKind::Stored;
    NodeId node;
    double write = 0;                   // what is paid for this value: its write,
    double read = 0;                    // reads
    double compute = 0;                 // and computations over all stages
    std::vector<int> stages;            // that read it (Stored), compute it (Recomputed) or run it (Delayed)
    bool possible = true;               // false: no legal plan decides otherwise
    std::optional<double> alternative;  // the cost of the best plan found that does; none after the deadline, too
    double saves = 0;                   // alternative - the placement's cost: what the decision is worth
};

// One per decision, in order of stages and nodes. Alternatives come from reoptimise(), so `saves` can be too high, never
// too low for an optimal placement. Outputs have to be stored and are left out. One small solve per decision.
base::Result<std::vector<Explanation>> explain(const Instance& instance, const Placement& placement,
                                               const ReoptimiseOptions& options = {});

}  // namespace hopscope::optimiser
