#pragma once

// Private to analysis: where the parts of a concatenation begin, and row numbers that are shifted by that: index + n, and columns
// of such numbers that are joined.

#include "analysis/rows/decompose.h"
#include "analysis/rows/linear.h"

namespace hopscope::analysis {

// How many rows come before each part, and how many there are.
std::vector<Linear> startsOf(const RuleContext& c, SpaceId cat);

// Whether the rows of a part belong to no table.
bool isAdded(const RuleContext& c, SpaceId part);

// A position as it is counted from the first row.
Linear fromFront(const RuleContext& c, SpaceId cat, const Linear& position);

// Where a position lies: in which part, and how far behind its beginning (more than 0 among added rows alone).
struct RowPlace {
    std::size_t part;
    std::int64_t row;
};
std::optional<RowPlace> placeOf(const RuleContext& c, SpaceId cat, const Linear& position);

// The column of numbers that an index of several dimensions repeats for each feature: index.view(-1, 1).expand(-1, 8). Invalid
// where it is something else.
ValueId columnUnder(const RuleContext& c, ValueId index);

// The numbers of each column of a joined index, within one part of the table.
struct PartNumbers {
    std::size_t part;
    ValueId ids;
};
// Nothing where a column is about no single part. Numbers of added rows need no role: those that are too large or negative are
// found when they are used.
std::vector<PartNumbers> partsOfNumbers(Emitter& emitter, const RuleContext& c, SpaceId cat, ValueId index);

}  // namespace hopscope::analysis
