#pragma once

// Explains a placement: the costs of its decisions, value by value, and of their alternatives.

#include <optional>
#include <vector>

#include "optimiser/reoptimise.h"

namespace hopscope::optimiser {

using base::DecisionKind;

struct Explanation {
    DecisionKind kind = DecisionKind::Stored;
    NodeId node;
    double write = 0;         // the cost of writing the value
    double read = 0;          // the cost of reading it, over all stages
    double compute = 0;       // the cost of computing it, over all stages
    std::vector<int> stages;  // the stages that read it (Stored), compute it (Recomputed) or run it (Delayed)
    bool possible = true;     // false: no legal plan decides otherwise
    std::optional<double>
        alternative;   // the cost of the best plan found that decides otherwise; nullopt: none was found
    double saves = 0;  // alternative - the placement's cost: the benefit of the decision; 0 without an alternative
};

// Returns one explanation per decision, in order of stages and nodes. Omits the storing of outputs, which is required.
// Alternatives come from reoptimise(), until the deadline of `options`; `saves` can therefore be too high. An
// alternative replaces the pins that answer the same question. Fails with Cancelled if stopped.
base::Result<std::vector<Explanation>> explain(const Instance& instance, const Placement& placement,
                                               const ReoptimiseOptions& options = {});

}  // namespace hopscope::optimiser
