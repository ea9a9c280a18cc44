#pragma once

// Private to the optimiser: finds a legal plan close to one that is no longer legal, without a solver.

#include <optional>

#include "optimiser/placement.h"

namespace hopscope::optimiser {

// Adapts `incumbent`, a placement of the same instance with other pins, to the pins: it keeps the stores that are
// allowed, and its stages unless a hop has to wait for a new store. A value that can no longer be computed where it is
// needed is stored or, if that is not allowed, values computed from it are stored. The result is legal and has its
// cost, but is not cheap; nullopt if the stages or the host budget do not suffice. Linear in the instance and its
// stages, times the number of stores that are added.
std::optional<Placement> repaired(const Instance& instance, const Placement& incumbent);

}  // namespace hopscope::optimiser
