#pragma once

// Private to roles: features that a sample should contain because models may treat them differently: an edge that
// occurs twice, a self-loop, a hub, a row without edges. The edges of a relation are given by their two ends, columns
// of equal length.

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/roles/int_column.h"
#include "analysis/roles/row_set.h"

namespace hopscope::analysis::landmarks {

// Returns the position of an edge that occurs again later; -1 if none was found. Exact for up to 100,000 edges; of more
// edges, only a share, chosen by hash, is compared. Linear, on all cores.
std::int64_t repeatedEdge(const IntColumn& source, const IntColumn& destination, std::uint64_t seed);

// Returns the position of the first self-loop; -1 if there is none.
std::int64_t selfLoop(const IntColumn& source, const IntColumn& destination);

// Returns the most frequent number in an evenly spaced sample of the column; -1 if the column is empty.
std::int64_t mostFrequent(const IntColumn& ends);

// Returns the first of `rows` rows that no column refers to; -1 if there is none. Linear, on all cores.
std::int64_t untouchedRow(std::int64_t rows, std::span<const IntColumn> ends);

// Returns the positions of the edges between rows of these sets, in ascending order. Linear, on all cores.
std::vector<std::int64_t> edgesBetween(const IntColumn& source, const RowSet& sources, const IntColumn& destination,
                                       const RowSet& destinations);

}  // namespace hopscope::analysis::landmarks
