#pragma once

// Private to executor: represents sets of destinations as ascending ranges that neither overlap nor touch.

#include <map>
#include <vector>

#include "executor/journal.h"
#include "executor/rows/block.h"

namespace hopscope::executor {

using Ranges = std::vector<Destinations>;
using Chunks = std::map<std::int64_t, Chunk>;  // by first destination, without overlaps

// Unites ranges in any order, overlapping or not.
Ranges united(Ranges ranges);
Ranges intersection(const Ranges& a, const Ranges& b);
// Returns the parts of [0, count) outside the ranges.
Ranges gaps(const Ranges& ranges, std::int64_t count);
// Returns the parts of `a` that are not in `b`.
Ranges difference(const Ranges& a, const Ranges& b);
std::int64_t sizeOf(const Ranges& ranges);

Ranges rangesOf(const Chunks& chunks);
// Inserts a later record, which replaces the parts of earlier ones that it overlaps.
void insert(Chunks& chunks, const Chunk& chunk);
// Selects records without overlaps, in case two processes have computed the same rows: those that leave the fewest
// destinations open and, among these, the later ones. O(n log n).
Chunks cover(const std::vector<Chunk>& chunks);

// Returns the position of each range's first destination within all ranges.
std::vector<std::int64_t> startsOf(const Ranges& ranges);

// Returns the destinations from a position within all ranges on, up to the end of their range. `starts` are those of the
// ranges, in which destinations have this order. O(log n).
Destinations restFrom(std::int64_t position, const Ranges& ranges, const std::vector<std::int64_t>& starts,
                      const std::int64_t* order);

}  // namespace hopscope::executor
