#pragma once

// Private to kernels: the layout of a strip's scratch memory.

#include "kernels/strip.h"

namespace hopscope::kernels {

constexpr std::int64_t kStripDestinations = 128;  // at most, in one strip
constexpr std::int64_t kNarrow = 16;              // rows up to this width are copied before operators read them

// The parts of a strip's scratch memory. All positions are in bytes.
struct StripLayout {
    std::int64_t capacity = 0;                              // the most rows of edges: a power of two up to kPiece
    std::int64_t packed = 0;                                // the most rows of a strip with several destinations
    std::vector<std::int64_t> edges, destinations;          // by buffer
    std::vector<std::int64_t> sums;                         // by step: sums of an aggregation over one and all pieces
    std::int64_t pointers[2] = {0, 0}, copies[2] = {0, 0};  // by operand
    std::int64_t next = 0;                                  // pointers
    std::int64_t bytes = 0;
};

std::int64_t itemBytes(StripElement element);
StripLayout layoutOf(const StripProgram& program);

}  // namespace hopscope::kernels
