#pragma once

// Private to executor: chooses the width of row numbers. Copies to a GPU have 32 bits where these suffice; the numbers
// of rows within a batch always have 32 bits.

#include <cstdint>

#include <ATen/ATen.h>

#include "executor/rows/pick_rows.h"

namespace hopscope::executor {

// Return the type of numbers that are at most `most`, and its bytes.
at::ScalarType numberType(std::int64_t most);
std::int64_t numberBytes(std::int64_t most);

// Copies numbers of 64 bits that are at most `most` into the buffer, in numberType(most), on all cores.
at::Tensor narrowed(const at::Tensor& numbers, std::int64_t most, const RowBuffer& buffer);

// Raises Resources if a batch has more rows of one table than its maps can number.
void checkLocalRows(std::int64_t rows);

}  // namespace hopscope::executor
