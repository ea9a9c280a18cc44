#pragma once

// Private to analysis: handles x[:n], where n is the number of rows of another node table. Samplers number the targets
// of a layer first, so that row i of the targets is row i of the sources.

#include <optional>

#include "analysis/rows/decompose.h"
#include "analysis/rows/rules.h"

namespace hopscope::analysis {

// Replaces the slice by a look-up by row number; returns nullopt for all other operators. There must not be more
// targets than sources, which the executor checks on the data.
std::optional<base::Result<std::vector<ValueId>>> decomposeFirstRows(Emitter& emitter, const RuleContext& c);

}  // namespace hopscope::analysis
