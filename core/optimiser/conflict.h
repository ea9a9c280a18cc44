#pragma once

// Why pins leave no legal plan, and the ways out.

#include <cstddef>
#include <vector>

#include "optimiser/solve.h"

namespace hopscope::optimiser {

enum class RepairKind : std::uint8_t { MoreStages, DropPin, RaiseBudget };

struct Repair {
    RepairKind kind = RepairKind::DropPin;
    int stages = 0;       // MoreStages: the new number of stages
    std::size_t pin = 0;  // DropPin: index into Instance::pins
    double budget = 0;    // RaiseBudget: the smallest budget that suffices
    Answer answer;        // of the repaired instance: its cost is the price
};

struct Conflict {
    std::vector<std::size_t> pins;  // indices into Instance::pins; taking any one of them out resolves the conflict
    bool budget = false;            // the host budget is part of it
    std::vector<Repair> repairs;    // cheapest first; each has been solved, and its plan is legal
};

// A minimal conflicting subset by a deletion filter (one feasibility question per pin), and the repairs that make the
// instance feasible: up to three more stages, each pin of the conflict dropped (alone, and only where that suffices for
// all of the pins), a larger budget. An empty conflict with repairs: the instance has too few stages even without pins.
// Fails with Unsupported without a solver, with Input where the instance is feasible.
base::Result<Conflict> explainConflict(const Instance& instance, const Options& options = {});

// The instance with a repair applied.
Instance repaired(const Instance& instance, const Repair& repair);

}  // namespace hopscope::optimiser
