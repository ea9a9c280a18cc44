#pragma once

#include <cstdint>

namespace hopscope::kernels {

// Inner products of rows, part by part: out[r * parts + p] is the sum of a * b over part p of row r, `part` elements of
// parts * part. Strides in elements; 0: the same row for all.
struct RowDots {
    const float *a = nullptr, *b = nullptr;
    std::int64_t strideA = 0, strideB = 0;
    float* out = nullptr;
    std::int64_t parts = 1, part = 1;
};

// Rows [first, last), on the calling thread, by the best instruction set of the machine. Products are rounded before
// they are added up, in an order that depends only on the machine's vectors. An empty part gives 0.
void rowDotsCpu(const RowDots& dots, std::int64_t first, std::int64_t last);

}  // namespace hopscope::kernels
