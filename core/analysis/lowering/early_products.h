#pragma once

// Private to analysis: moves products with weights before the gathers whose rows they multiply.

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/analysis.h"

namespace hopscope::analysis {

// The number of rows of a table in the data, by its number of rows in the sample.
using RowCounts = std::map<std::int64_t, std::int64_t>;

// Replaces products with rows that are gathered, added up and placed side by side: linear(cat(x[i], x[j] - x[i], e)) is
// the sum of (x (A - B))[i], (x B)[j] and e C, where A, B and C are the columns of the weight. A part is multiplied
// before the gather if all of its summands are gathered from tables with fewer rows; the other parts are multiplied
// where they are. Nothing is moved if reading the products would cost more than reading the rows and multiplying them.
// A concatenation of such sums becomes a sum of gathers from concatenated tables. Adds the products to `moved`. Linear
// in the operators and their parts.
ir::Program multiplyBeforeGathers(const ir::Program& program, const RowCounts& rows, std::vector<Reassociation>& moved);

}  // namespace hopscope::analysis
