#pragma once

// Placements that follow from one label per value: the only stage in which it is computed. Values that a later stage
// uses are stored and read back. Pins and budgets are ignored.

#include "base/choices.h"
#include "base/result.h"
#include "optimiser/placement.h"

namespace hopscope::optimiser {

enum class Baseline : std::uint8_t {
    DepthCut,       // the label is the depth
    SourceRule,     // the depth, then every cut is moved towards the inputs
    DepthCutHops,   // as DepthCut, but every hop on a path counts, also one that is used only locally
    SourceRuleHops  // as SourceRule, likewise
};

// The baseline that corresponds to a rule.
Baseline baselineOf(base::Strategy rule);

// Fails with Unsupported if labels do not result in a placement (a value is needed on rows on which it cannot be
// computed in its stage). May use more stages than the instance has. Linear.
base::Result<Placement> baseline(const Instance& instance, Baseline which);

}  // namespace hopscope::optimiser
