#pragma once

// Placements that follow from one label per value, the only stage in which the value is computed. Values that a later
// stage uses are stored and read back. Pins and budgets are ignored.

#include "base/choices.h"
#include "base/result.h"
#include "optimiser/placement.h"

namespace hopscope::optimiser {

enum class Hops : std::uint8_t {
    Depth,  // the depth of a value counts the hops of its receptive field
    All     // every hop on a path counts, even one that is only used locally
};

// Returns the placement of a rule: by Depth the label of a value is its depth; by SourceRule, every cut is then moved
// towards the inputs. It may use more stages than the instance has. Fails with Unsupported if the labels do not result
// in a placement, because a value is needed on rows on which it cannot be computed in its stage. Linear.
base::Result<Placement> baseline(const Instance& instance, base::Strategy rule, Hops hops = Hops::Depth);

}  // namespace hopscope::optimiser
