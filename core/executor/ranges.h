#pragma once

// Private to executor: sets of destinations as ascending ranges that neither overlap nor touch.

#include <map>
#include <vector>

#include "executor/block.h"
#include "executor/journal.h"

namespace hopscope::executor {

using Ranges = std::vector<Destinations>;
using Chunks = std::map<std::int64_t, Chunk>;  // by first destination, none overlaps another one

// Unites ranges in any order, overlapping or not.
Ranges united(Ranges ranges);
Ranges intersection(const Ranges& a, const Ranges& b);
// The parts of [0, count) outside of the ranges.
Ranges gaps(const Ranges& ranges, std::int64_t count);
// The parts of `a` that are not in `b`.
Ranges difference(const Ranges& a, const Ranges& b);
std::int64_t sizeOf(const Ranges& ranges);

Ranges rangesOf(const Chunks& chunks);
// A later record replaces the parts of earlier ones that it overlaps.
void insert(Chunks& chunks, const Chunk& chunk);
// Selects records if some overlap because two processes have computed the same rows: those that leave the fewest
// destinations open and, among these, the later ones. O(n log n).
Chunks cover(const std::vector<Chunk>& chunks);

}  // namespace hopscope::executor
