#pragma once

#include <cstdint>

namespace hopscope::kernels {

// Inner products of rows, part by part: out[r * parts + p] is the sum of a * b over part p of row r. A row has `parts`
// parts of `part` elements each. Strides are in elements; with a stride of 0, all rows are the same.
struct RowDots {
    const float *a = nullptr, *b = nullptr;
    std::int64_t strideA = 0, strideB = 0;
    float* out = nullptr;
    std::int64_t parts = 1, part = 1;
};

// Computes rows [first, last) on the calling thread, with the best instruction set of the machine. Products are rounded
// before they are added up, in an order that depends only on the machine's vectors. An empty part gives 0.
void rowDotsCpu(const RowDots& dots, std::int64_t first, std::int64_t last);

}  // namespace hopscope::kernels
