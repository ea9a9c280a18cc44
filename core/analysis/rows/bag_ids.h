#pragma once

// Private to analysis: bags of rows for which only the first positions are given, and the operators by which models
// compute the bag of each row from these.

#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

// The number in a tensor of one element, if it is known as a size.
std::optional<Linear> numberIn(const RuleContext& c, ValueId v);

// starts[1:], the end of each row but the last.
std::optional<Outcomes> innerOffsets(RuleContext& c, ValueId x);
// cat([starts, size]) and cat([starts[1:], size]), where `size` is that of the table of the rows.
std::optional<Outcomes> joinedOffsets(RuleContext& c, const std::vector<ValueId>& parts);
// diff(starts, append=size)
bool appendsSize(const RuleContext& c, ValueId x);

// searchsorted(offsets, arange(size), right=True) and bucketize(arange(size), offsets, right=True), which are one more
// than the destinations if the offsets begin with that of the first one; and ids + 1 - 1.
std::optional<base::Result<std::vector<ValueId>>> decomposeBagIds(Emitter& emitter, const RuleContext& c);

}  // namespace hopscope::analysis
