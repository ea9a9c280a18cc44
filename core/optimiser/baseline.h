#pragma once

// Placements that follow from one label per value, the only stage in which the value is computed. Values that a later
// stage uses are stored and read back. Pins and budgets are ignored.

#include "base/choices.h"
#include "base/result.h"
#include "optimiser/placement.h"

namespace hopscope::optimiser {

enum class Baseline : std::uint8_t {
    DepthCut,       // the label is the depth
    SourceRule,     // the depth, then every cut is moved towards the inputs
    DepthCutHops,   // as DepthCut, but every hop on a path counts, even one that is only used locally
    SourceRuleHops  // as SourceRule, with hops counted in the same way
};

// Returns the baseline that corresponds to a rule.
Baseline baselineOf(base::Strategy rule);

// Returns the placement of a baseline, which may use more stages than the instance has. Fails with Unsupported if the
// labels do not result in a placement, because a value is needed on rows on which it cannot be computed in its stage.
// Linear.
base::Result<Placement> baseline(const Instance& instance, Baseline which);

}  // namespace hopscope::optimiser
