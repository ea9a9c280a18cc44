#pragma once

// Private to analysis.

#include <optional>

#include "ir/program.h"

namespace hopscope::analysis {

// Replaces look-ups in a part of a table by an input's numbers, such as torch.split(h, [users, items])[1][ids] or
// h[n:][ids], by look-ups in the table, h[numbers[ids]]. The numbers result from the same operator on
// arange(h.size(0)), so that they count and refuse as the part does. Numbers of an input that are shifted, as in
// h[ids + n], are taken from those of all rows in the same way. Linear in the operators.
ir::Program lookUpParts(const ir::Program& program);

// Returns the input that the value adds a number to, or subtracts one from; none for other values.
std::optional<ir::ValueId> shiftedInput(const ir::Program& program, ir::ValueId v);

}  // namespace hopscope::analysis
