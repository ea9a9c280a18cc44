#pragma once

// Private to kernels: where the parts of a strip lie in its scratch memory.

#include "kernels/strip.h"

namespace hopscope::kernels {

constexpr std::int64_t kStripDestinations = 128;  // at most, in one strip
constexpr std::int64_t kNarrow = 16;              // rows of no more elements are copied before they are computed on

// All places in bytes.
struct StripLayout {
    std::int64_t capacity = 0;                      // rows of edges that there is room for: a power of two up to kPiece
    std::int64_t packed = 0;                        // rows up to which destinations are taken into one strip
    std::vector<std::int64_t> edges, destinations;  // by buffer
    std::vector<std::int64_t> sums;                 // by step: of an aggregation, its sums of a piece and of all pieces
    std::int64_t pointers[2] = {0, 0}, copies[2] = {0, 0};  // by operand
    std::int64_t next = 0;                                  // pointers
    std::int64_t bytes = 0;
};

StripLayout layoutOf(const StripProgram& program);

}  // namespace hopscope::kernels
