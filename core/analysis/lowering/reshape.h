#pragma once

// Private to analysis: determines which dimensions of a reshaped tensor are still whole row dimensions. Sizes are
// replaced by pseudo sizes, a distinct large prime per row space, so that no feature size can be mistaken for a number
// of rows.

#include <functional>

#include "analysis/analysis.h"

namespace hopscope::analysis {

// Returns a prime above 99,990, which is different for each space.
std::int64_t pseudoSize(SpaceId space);

// Replaces the one -1 in `wanted` by the remaining size of `shape`. If the sizes are not divisible, the result cannot
// match.
std::vector<std::int64_t> resolveMinusOne(const std::vector<std::int64_t>& shape, std::vector<std::int64_t> wanted);

// Groups both shapes into runs of equal product; a row dimension must be alone in its run on both sides. Returns the
// row space of each target dimension, or nullopt if rows mix with another dimension.
std::optional<std::vector<SpaceId>> regroup(const std::vector<std::int64_t>& shape, const std::vector<SpaceId>& dims,
                                            const std::vector<std::int64_t>& target,
                                            const std::function<bool(SpaceId)>& labelled);

// Returns the order of dimensions after movedim: result[i] is the old number of dimension i. Negative numbers count
// from the end.
std::vector<int> movedDims(const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to, int rank);

}  // namespace hopscope::analysis
