#pragma once

// Private to the optimiser: a legal plan close to one that is not legal any longer, without a solver.

#include <optional>

#include "optimiser/placement.h"

namespace hopscope::optimiser {

// `incumbent`, a placement of the same instance but for its pins, as these want it: its stores, but for what must not be
// stored, and its stages, later where a hop has to wait for a new store. What cannot be computed any longer where it is
// needed is stored, or where that must not be, what is computed from it. Legal and priced, not cheap; nothing where the stages
// do not suffice, or the host budget. Linear in the instance and its stages, times the number of stores that are added.
std::optional<Placement> repaired(const Instance& instance, const Placement& incumbent);

}  // namespace hopscope::optimiser
