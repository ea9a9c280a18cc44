#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/tensor.h"

namespace hopscope::graph {

// Copies elements [first, first + count), counted in row-major order, of any strided view to packed memory. Linear.
void copyElements(const base::TensorView& view, std::int64_t first, std::int64_t count, std::byte* out);

// Visits all elements in row-major order as packed pieces; views in C order are not copied. Memory stays below 1 MiB.
void forEachPiece(const base::TensorView& view,
                  const std::function<void(const std::byte* bytes, std::int64_t elements)>& visit);

}  // namespace hopscope::graph
