#pragma once

// The action of a step of a batch.

#include <cstdint>

#include "base/names.h"

namespace hopscope::plan {

// Rows are read, rows are numbered for the batch, or an operator computes.
enum class BatchStep : std::uint8_t { Rows, Numbers, Operator };

constexpr auto namesOf(BatchStep)
{
    return std::to_array<base::Named<BatchStep>>(
        {{BatchStep::Rows, "rows"}, {BatchStep::Numbers, "numbers"}, {BatchStep::Operator, "operator"}});
}

}  // namespace hopscope::plan
