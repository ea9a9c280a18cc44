#pragma once

// Segment kernels: gather, scale and combine rows along a block's in-edges without an edge-by-feature temporary.
// Deterministic: each destination is summed by one thread in edge order.

#include <cstddef>
#include <cstdint>

namespace hopscope::kernels {

enum class Combine : std::uint8_t { Sum, Mean, Max, Min };

// For each destination d in [0, destinations) and each position p in [offsets[d], offsets[d + 1]):
//   out[d, :] = combine over p of  weight(p, h) * source[columns[p], :]
// `width` floats per row, split into `heads` equal parts (weight is [positions, heads], or null for 1). Rows of source
// are `sourceStride` floats apart. Destinations without positions get `empty`. With `accumulate` (Sum only) the
// positions are added to what out holds, and destinations without positions keep it. Products and sums are rounded one
// by one in position order, as gather, multiply and index_add do; NaN wins in Max and Min.
struct SegmentArguments {
    const std::int64_t* offsets = nullptr;
    const std::int64_t* columns = nullptr;  // null: position p itself (rows already gathered)
    const float* weight = nullptr;
    const float* source = nullptr;
    float* out = nullptr;
    std::int64_t destinations = 0;
    std::int64_t width = 0;
    std::int64_t heads = 1;
    std::int64_t sourceStride = 0;
    Combine combine = Combine::Sum;
    float empty = 0;
    bool accumulate = false;
};

// Rows [first, last) of the destinations, on the calling thread; SIMD by the best instruction set of the machine.
void segmentCpu(const SegmentArguments& arguments, std::int64_t first, std::int64_t last);

// Copies rows[i] of `source` (rowBytes each, sourceStride apart) to out, for i in [first, last), prefetching ahead.
void gatherRowsCpu(const std::byte* source, std::int64_t sourceStrideBytes, const std::int64_t* rows, std::byte* out,
                   std::int64_t rowBytes, std::int64_t first, std::int64_t last);

// All destinations on a GPU, pointers in device memory, on `stream` (a cudaStream_t), bit for bit as segmentCpu. Gives
// a CUDA error code, 0 if all went well; kNoCuda in builds without CUDA (those with it define HOPSCOPE_CUDA).
constexpr int kNoCuda = -1;
int segmentCuda(const SegmentArguments& arguments, void* stream);

}  // namespace hopscope::kernels
