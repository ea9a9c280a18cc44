#pragma once

// Explains why there is no legal plan: finds an irreducible infeasible subset of the pins and the host budget, and
// suggests repairs.

#include <cstddef>
#include <string>
#include <vector>

#include "optimiser/solve.h"

namespace hopscope::optimiser {

enum class RepairKind : std::uint8_t { MoreStages, DropPins, RaiseBudget };

struct Repair {
    RepairKind kind = RepairKind::DropPins;
    int stages = 0;                 // MoreStages: the new number of stages
    std::vector<std::size_t> pins;  // DropPins: indices into Instance::pins; one, unless there are several conflicts
    double budget = 0;              // RaiseBudget: the smallest budget that suffices
    Answer answer;  // for the repaired instance; its cost is the price. Empty if prices are not asked for
};

struct InfeasibleSubset {
    std::vector<std::size_t>
        pins;             // indices into Instance::pins; irreducible: without any one of them, the others are feasible
    bool budget = false;  // the host budget belongs to the subset
    std::vector<Repair> repairs;  // each leads to a legal plan; cheapest first if prices are asked for
};

// The questions about repairs that are answered. Prices take longest, because each needs an optimum; the proof that no
// larger number of stages helps is second.
struct RepairQuestions {
    bool prices = true, moreStages = true;
};

// Finds an irreducible infeasible subset by a deletion filter, which solves one feasibility problem for each pin and
// for the budget, and the repairs that make the whole instance feasible. MoreStages is the smallest number for which a
// plan is found, up to three more or up to the last stage that a pin names (at most 50 more). DropPins drops one pin of
// the subset and, if other conflicts remain, a pin of each of these. RaiseBudget is offered if the budget belongs to
// the subset. A subset without pins and budget means that there are too few stages for any plan. `options` limits each
// solve separately, and solves for repairs take at most ten seconds each; strategy, incumbent and onImprovement are
// ignored. Fails with Unsupported without a solver, with Input if the instance is feasible, and with Resources or
// Cancelled if the subset is not found before the deadline or a stop. Omits repairs that are not found in time.
base::Result<InfeasibleSubset> explainInfeasibility(const Instance& instance, const Options& options = {},
                                                    const RepairQuestions& asked = {});

// Returns the instance with a repair applied.
Instance repaired(const Instance& instance, const Repair& repair);

// "use 4 stages", "remove the pin 'store conv0'", "raise the host budget to 18".
std::string describeRepair(const Instance& instance, const Repair& repair);

}  // namespace hopscope::optimiser
