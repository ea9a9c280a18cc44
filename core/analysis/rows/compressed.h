#pragma once

// Private to analysis: handles relations whose destinations are given as offsets into the sources (CSR). The prologue
// expands the offsets to a column of destinations once. Operators by which a model derives destinations from the
// offsets are recognised, and become look-ups or aggregations by this column.

#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

// Emits the destinations of each relation with offsets: columns[1] of its table, and columns[0] if no input has the
// sources.
base::Status writeOffsetsOut(Emitter& emitter, Builder& builder);

// Recognises offsets[1:], offsets[:-1] and offsets[:N], also as narrow.
std::optional<Outcomes> partOfOffsets(RuleContext& c, ValueId x);
// Recognises End - Begin, computed by sub.
std::optional<Compressed> countsOf(RuleContext& c);
// Recognises offsets[-1] as a number.
std::optional<Linear> lastOffset(RuleContext& c, ValueId x);
// Recognises repeat_interleave(counts).
std::optional<Outcomes> repeatedIds(RuleContext& c);

// Rewrites repeat_interleave(x, counts) to a look-up and segment_reduce to an aggregation, both by the destinations.
// Empty segments give the same results as in PyTorch: 0 for sum, NaN for mean, infinities for extrema, 1 for prod.
std::optional<base::Result<std::vector<ValueId>>> decomposeCompressed(Emitter& emitter, const RuleContext& c);

}  // namespace hopscope::analysis
