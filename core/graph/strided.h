#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/tensor.h"

namespace hopscope::graph {

// Copies the elements [first, first + count), in row-major order, of a strided view to contiguous memory. Linear.
void copyElements(const base::TensorView& view, std::int64_t first, std::int64_t count, std::byte* out);

// Visits all elements in row-major order in contiguous pieces. Views in C order are not copied; others take less than 1
// MiB of memory.
void forEachPiece(const base::TensorView& view,
                  const std::function<void(const std::byte* bytes, std::int64_t elements)>& visit);

}  // namespace hopscope::graph
