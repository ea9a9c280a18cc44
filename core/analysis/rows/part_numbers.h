#pragma once

// Private to analysis: the starts of the parts of a concatenation, and row numbers that are shifted by these starts:
// index + n, or several such columns joined.

#include "analysis/rows/decompose.h"
#include "analysis/rows/linear.h"

namespace hopscope::analysis {

// Returns the number of rows before each part, followed by the total.
std::vector<Linear> startsOf(const RuleContext& c, SpaceId cat);

// True if the rows of a part belong to no table.
bool isAdded(const RuleContext& c, SpaceId part);

// Returns a position as counted from the first row.
Linear fromFront(const RuleContext& c, SpaceId cat, const Linear& position);

// The part that contains a position, and the distance from the start of the part, which is greater than 0 only among
// added rows.
struct RowPlace {
    std::size_t part;
    std::int64_t row;
};
std::optional<RowPlace> placeOf(const RuleContext& c, SpaceId cat, const Linear& position);

// Returns the column of numbers that an index of several dimensions repeats for each feature, as in index.view(-1,
// 1).expand(-1, 8). Invalid for other values.
ValueId columnUnder(const RuleContext& c, ValueId index);

// The numbers of one column of a joined index, all within one part of the table.
struct PartNumbers {
    std::size_t part;
    ValueId ids;
};
// Splits an index into its columns. Returns nothing if a column does not belong to a single part. Numbers of added rows
// need no role: those that are negative or too large are detected when they are used.
std::vector<PartNumbers> partsOfNumbers(Emitter& emitter, const RuleContext& c, SpaceId cat, ValueId index);

}  // namespace hopscope::analysis
