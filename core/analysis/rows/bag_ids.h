#pragma once

// Private to analysis: recognises the operators by which models compute the bag of each row from the starts of the
// bags.

#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

// Returns the number in a tensor of one element, if it is known as a size.
std::optional<Linear> numberIn(const RuleContext& c, ValueId v);

// Recognises starts[1:], the end of each bag but the last.
std::optional<Outcomes> innerOffsets(RuleContext& c, ValueId x);
// Recognises cat([starts, size]) and cat([starts[1:], size]), where `size` is the size of the table of rows.
std::optional<Outcomes> joinedOffsets(RuleContext& c, const std::vector<ValueId>& parts);
// True for diff(starts, append=size).
bool appendsSize(const RuleContext& c, ValueId x);

// Recognises searchsorted(offsets, arange(size), right=True), bucketize(arange(size), offsets, right=True) and ids + 1
// - 1. The results of the first two are one more than the destinations if the offsets include that of the first
// destination.
std::optional<base::Result<std::vector<ValueId>>> decomposeBagIds(Emitter& emitter, const RuleContext& c);

}  // namespace hopscope::analysis
