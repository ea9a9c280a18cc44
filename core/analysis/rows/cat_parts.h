#pragma once

// Private to analysis: handles parts of a concatenation that the model separates again, as in torch.cat([h, g]).view(2,
// -1, 8), .chunk(2) or both[n:]. Also handles look-ups in a concatenation, and sums into it, by numbers that are
// shifted by the start of a part: both[index + n].

#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

// Returns the values that replace the operator's outputs, computed on the parts; nullopt for other operators.
std::optional<base::Result<std::vector<ValueId>>> decomposeCatParts(Emitter& emitter, const RuleContext& context);

}  // namespace hopscope::analysis
