#pragma once

// Private to pipeline: finds models whose numbers exceed the range of their type.

#include <optional>

#include "analysis/analysis.h"

namespace hopscope::pipeline {

// Consecutive rounds of plain sums over neighbours, without an operator between them that bounds the numbers.
struct Growth {
    ir::OpId op;       // the sum at which numbers exceed the range of their type
    int rounds = 0;    // up to this sum
    double power = 0;  // of ten: the growth of numbers of one sign, if weights do not change their size
};

// Finds the first such sum, assuming that each row gets the average number of messages of its table. Returns nullopt if
// numbers remain in range. Assumes that unknown operators bound their results. Linear in the operators.
std::optional<Growth> growthBeyondType(const analysis::Analysis& analysis,
                                       const std::map<ir::SpaceId, std::int64_t>& sizes);

}  // namespace hopscope::pipeline
