#pragma once

// Private to analysis: the parts of a concatenation where the model takes it apart again: torch.cat([h, g]).view(2, -1, 8),
// .chunk(2), both[n:], and look-ups in it and sums into it by numbers that begin with a part, both[index + n].

#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

// The values that replace the operator's outputs, computed on the parts; nullopt if it does nothing of this.
std::optional<base::Result<std::vector<ValueId>>> decomposeCatParts(Emitter& emitter, const RuleContext& context);

}  // namespace hopscope::analysis
