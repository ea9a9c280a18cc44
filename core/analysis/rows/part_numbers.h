#pragma once

// Private to analysis: the starts of the parts of a concatenation, and row numbers that are shifted by them: index + n,
// and columns of such numbers that are joined.

#include "analysis/rows/decompose.h"
#include "analysis/rows/linear.h"

namespace hopscope::analysis {

// The number of rows before each part, and in total.
std::vector<Linear> startsOf(const RuleContext& c, SpaceId cat);

// True if the rows of a part belong to no table.
bool isAdded(const RuleContext& c, SpaceId part);

// A position, counted from the first row.
Linear fromFront(const RuleContext& c, SpaceId cat, const Linear& position);

// The part that contains a position, and the distance from its beginning (more than 0 among added rows alone).
struct RowPlace {
    std::size_t part;
    std::int64_t row;
};
std::optional<RowPlace> placeOf(const RuleContext& c, SpaceId cat, const Linear& position);

// The column of numbers that an index of several dimensions repeats for each feature: index.view(-1, 1).expand(-1, 8).
// Invalid for other values.
ValueId columnUnder(const RuleContext& c, ValueId index);

// The numbers of each column of a joined index, within one part of the table.
struct PartNumbers {
    std::size_t part;
    ValueId ids;
};
// Returns nothing if a column does not belong to a single part. Numbers of added rows need no role: those that are too
// large or negative are found when they are used.
std::vector<PartNumbers> partsOfNumbers(Emitter& emitter, const RuleContext& c, SpaceId cat, ValueId index);

}  // namespace hopscope::analysis
