#pragma once

// Private to analysis: handles the first rows of a table, h[:n], with indices into the table itself, since the targets
// of a sampled neighbourhood are the first of its nodes. A row of h[:n] has the number that it has in h. A lookup in
// h[:n] is therefore a lookup in h, and an aggregation into h[:n] can be computed for all rows first.

#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

// True if a part consists of the first rows of the table that it was selected from.
bool isPrefix(const RuleContext& c, SpaceId part);

// Rewrites look-ups in such a part and aggregations into it; returns nullopt for all other operators.
std::optional<base::Result<std::vector<ValueId>>> decomposePrefixes(Emitter& emitter, const RuleContext& context);

// Rewrites out[order] = y, where both out and y were computed from rows in this order. The rows return to the original
// order; all of them are written, so the previous contents of out do not matter.
std::optional<base::Result<std::vector<ValueId>>> decomposeUnsorting(Emitter& emitter, const RuleContext& context);

}  // namespace hopscope::analysis
