#pragma once

// Private to analysis: relations whose destinations are given as offsets into the sources (CSR). The destinations are
// written out once, in the prologue; the operators by which a model derives them from the offsets are recognised, and
// become a look-up or an aggregation by that column.

#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

// Emits the destinations of each relation with offsets: columns[1] of its table, and columns[0] if no input has the
// sources.
base::Status writeOffsetsOut(Emitter& emitter, Builder& builder);

// offsets[1:], offsets[:-1] and offsets[:N], also as narrow.
std::optional<Outcomes> partOfOffsets(RuleContext& c, ValueId x);
// End - Begin, by sub.
std::optional<Compressed> countsOf(RuleContext& c);
// offsets[-1], as a number.
std::optional<Linear> lastOffset(RuleContext& c, ValueId x);
// repeat_interleave(counts).
std::optional<Outcomes> repeatedIds(RuleContext& c);

// repeat_interleave(x, counts) as a look-up, segment_reduce as an aggregation, both by the destinations. Empty segments
// give the same as in PyTorch: 0 for sum, NaN for mean, infinities for extrema, 1 for prod.
std::optional<base::Result<std::vector<ValueId>>> decomposeCompressed(Emitter& emitter, const RuleContext& c);

}  // namespace hopscope::analysis
