#pragma once

// Private to executor: gathers rows of a table in the host's memory.

#include <functional>

#include <ATen/ATen.h>

namespace hopscope::executor {

// Allocates the memory that rows are copied into.
using RowBuffer = std::function<at::Tensor(at::IntArrayRef shape, at::ScalarType dtype)>;

// Returns the rows `rows` (numbers of 32 or 64 bits) of a table along its dimension `dim`. They are copied on all
// cores: by the prefetching kernel if the elements of a row are contiguous, otherwise by LibTorch.
at::Tensor pickRows(const at::Tensor& table, std::int64_t dim, const at::Tensor& rows, const RowBuffer& buffer);

// Allocates pageable memory by LibTorch.
at::Tensor pageable(at::IntArrayRef shape, at::ScalarType dtype);

}  // namespace hopscope::executor
