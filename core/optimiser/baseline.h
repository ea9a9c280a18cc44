#pragma once

// Placements that follow from one label per value, the only stage in which the value is computed. Values that a later
// stage uses are stored and read back. Pins and budgets are ignored.

#include "base/choices.h"
#include "base/result.h"
#include "optimiser/placement.h"

namespace hopscope::optimiser {

// Returns the placement of a rule, which may use more stages than the instance has. The label is the depth; by the
// source rule every cut is then moved towards the inputs. Fails with Unsupported if the labels do not result in a
// placement, because a value is needed on rows on which it cannot be computed in its stage. Linear.
base::Result<Placement> baseline(const Instance& instance, base::Strategy rule);

}  // namespace hopscope::optimiser
