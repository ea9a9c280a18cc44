#pragma once

// Why no legal plan respects the pins: an irreducible infeasible subset of them, and suggested fixes.

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
    Answer answer;                  // of the repaired instance: its cost is the price; empty where none is asked for
};

struct InfeasibleSubset {
    std::vector<std::size_t>
        pins;             // indices into Instance::pins; irreducible: without any one of them the others are feasible
    bool budget = false;  // the host budget is part of it
    std::vector<Repair> repairs;  // each leaves a legal plan; cheapest first where prices are asked for
};

// The questions about repairs to answer. Prices take longest, since each needs an optimum, followed by the proof that
// no larger number of stages helps.
struct RepairQuestions {
    bool prices = true, moreStages = true;
};

// An irreducible infeasible subset by a deletion filter (one feasibility problem per pin), and the repairs that make the
// whole instance feasible: more stages (the smallest number, up to three more or up to the last stage that a pin names),
// for each pin of the subset dropping it (and, if other conflicts remain, a pin of each of those), a larger budget.
// A subset without pins and budget means that there are too few stages for any plan. `options` limits each solve
// separately, and none takes longer than ten seconds; strategy and incumbent are ignored. Fails with Unsupported without a
// solver, with Input if the instance is feasible, with Resources if the deadline left a question open.
base::Result<InfeasibleSubset> explainInfeasibility(const Instance& instance, const Options& options = {},
                                                    const RepairQuestions& asked = {});

// The instance with a repair applied.
Instance repaired(const Instance& instance, const Repair& repair);

// "use 4 stages", "remove the pin 'store conv0'", "raise the host budget to 18".
std::string describeRepair(const Instance& instance, const Repair& repair);

}  // namespace hopscope::optimiser
