#pragma once

// Private to analysis: the parts of a concatenation that the model separates again: torch.cat([h, g]).view(2, -1, 8),
// .chunk(2), both[n:], and look-ups in it and sums into it by numbers offset by the start of a part, both[index + n].

#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

// The values that replace the operator's outputs, computed on the parts; nullopt for other operators.
std::optional<base::Result<std::vector<ValueId>>> decomposeCatParts(Emitter& emitter, const RuleContext& context);

}  // namespace hopscope::analysis
