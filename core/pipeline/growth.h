#pragma once

// Private to pipeline.

#include <optional>

#include "analysis/analysis.h"

namespace hopscope::pipeline {

// Rounds of plain sums over neighbours, one after the other, with nothing between them that keeps numbers small.
struct Growth {
    ir::OpId op;       // the sum at which numbers become larger than their type holds
    int rounds = 0;    // up to there
    double power = 0;  // of ten: the growth of numbers of one sign, if weights do not change their size
};

// The first such sum, with as many messages for each row as the table has on average; nullopt if numbers fit. Unknown
// operators count as if they kept numbers small. Linear in the operators.
std::optional<Growth> growthBeyondType(const analysis::Analysis& analysis,
                                       const std::map<ir::SpaceId, std::int64_t>& sizes);

}  // namespace hopscope::pipeline
