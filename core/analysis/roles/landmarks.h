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

// The position of an edge that occurs again later; -1 if none was found. Exact for up to 100,000 edges; of more edges,
// only a share is compared, chosen by hash. Linear, on all cores.
std::int64_t repeatedEdge(const IntColumn& source, const IntColumn& destination, std::uint64_t seed);

// The position of the first self-loop; -1 if there is none.
std::int64_t selfLoop(const IntColumn& source, const IntColumn& destination);

// The most frequent number among evenly spaced ones; -1 in an empty column.
std::int64_t mostFrequent(const IntColumn& ends);

// The first of `rows` rows that none of the columns refers to; -1 if there is none. Linear, on all cores.
std::int64_t untouchedRow(std::int64_t rows, std::span<const IntColumn> ends);

// The positions of the edges between rows of these sets, in ascending order. Linear, on all cores.
std::vector<std::int64_t> edgesBetween(const IntColumn& source, const RowSet& sources, const IntColumn& destination,
                                       const RowSet& destinations);

}  // namespace hopscope::analysis::landmarks
