#pragma once

// Private to analysis: the first rows of a table, h[:n], with indices into the table itself: the targets of a sampled
// neighbourhood are the first of its nodes. A row of h[:n] has the number that it has in h. A lookup in h[:n] is
// therefore a lookup in h, and an aggregation into h[:n] can be computed for all rows first.

#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

// True if they are the first rows of the table that they were selected from.
bool isPrefix(const RuleContext& c, SpaceId part);

// Look-ups in such a part, and aggregations into it; nullopt for all other operators.
std::optional<base::Result<std::vector<ValueId>>> decomposePrefixes(Emitter& emitter, const RuleContext& context);

// out[order] = y, where both were made with the rows in this order: the rows are back in the original order, and all of
// them are written, so the previous contents of out do not matter.
std::optional<base::Result<std::vector<ValueId>>> decomposeUnsorting(Emitter& emitter, const RuleContext& context);

}  // namespace hopscope::analysis
