#pragma once

// The kinds of steps that a batch consists of.

#include <cstdint>

#include "base/names.h"

namespace hopscope::plan {

// A step reads rows, numbers rows for the batch, or computes an operator.
enum class BatchStep : std::uint8_t { Rows, Numbers, Operator };

constexpr auto namesOf(BatchStep)
{
    return std::to_array<base::Named<BatchStep>>(
        {{BatchStep::Rows, "rows"}, {BatchStep::Numbers, "numbers"}, {BatchStep::Operator, "operator"}});
}

}  // namespace hopscope::plan
