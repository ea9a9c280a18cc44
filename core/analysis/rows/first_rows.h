#pragma once

// Private to analysis: x[:n], where n is the number of rows of another node table. Samplers number the targets of a layer
// first; row i of the targets is row i of the sources.

#include <optional>

#include "analysis/rows/decompose.h"
#include "analysis/rows/rules.h"

namespace hopscope::analysis {

// A look-up by row number in place of the slice; nullopt for any other operator. There must be no more targets than
// sources: the executor checks it on the data.
std::optional<base::Result<std::vector<ValueId>>> decomposeFirstRows(Emitter& emitter, const RuleContext& c);

}  // namespace hopscope::analysis
