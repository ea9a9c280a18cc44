#pragma once

// Declares segment kernels, which gather, scale and combine rows along in-edges without an edge-by-feature temporary.
// The result is defined to the bit (except for the payload of NaN), and is the same on CPU, GPU and every instruction
// set.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hopscope::kernels {

enum class Combine : std::uint8_t { Sum, Mean, Max, Min };
enum class Element : std::uint8_t { Float32, Float16, BFloat16 };

// Integers of 64 or 32 bits.
struct Index {
    const void* data = nullptr;
    bool wide = true;

    Index() = default;
    Index(const std::int64_t* numbers) : data(numbers) {}
    Index(const std::int32_t* numbers) : data(numbers), wide(false) {}

    // Returns a number on the host; the data must be in host memory.
    [[nodiscard]] std::int64_t operator[](std::int64_t i) const
    {
        return wide ? static_cast<const std::int64_t*>(data)[i] : static_cast<const std::int32_t*>(data)[i];
    }
};

// The length of the pieces of a hub, which is a destination with more positions than that. It limits the longest loop of
// a GPU thread; the partial rows are few in comparison with the rows that they combine.
constexpr std::int64_t kPiece = 1024;

// Positions [begin, end) of a hub: kPiece of them, or the remainder in its last piece.
struct HubPiece {
    std::int64_t destination = 0;
    std::int64_t begin = 0, end = 0;
};

// GPU only: a table with some of its rows on the device. Row r is row places[r] there if places[r] < cached;
// otherwise it is row r of `data`, pinned memory of the host, which kernels read across the link. Both have rows at the
// same distance.
struct HostRows {
    const std::int32_t* places = nullptr;  // by row, on the device; null: all rows lie on the device, in their order
    const void* data = nullptr;
    std::int32_t cached = 0;
};

// For each destination d in [0, destinations) and each position p in [offsets[d], offsets[d + 1]):
//   out[d, :] = combine over p of  weight[p - weightFirst, h] * source[columns[p - columnFirst], :]
// A row has `width` elements, split into `heads` equal parts h (weight is [positions, heads], or null for 1). Rows of
// out are contiguous; rows of source are `sourceStride` elements apart. Offsets need not begin at 0: they may be a
// slice of a larger graph's, whose columns keep their own positions (columnFirst = 0) or are those of the slice
// (columnFirst = offsets[0]); likewise weights.
//
// Arithmetic: elements are widened to float32, products and sums are rounded to float32 one by one (never fused), and
// the result is rounded once to the element type. A destination starts from 0 (Max: -infinity, Min: infinity) and
// combines its positions in order; a destination without positions is `empty`. A hub starts in the same way and
// combines its pieces in order: positions [offsets[d] + i * kPiece, offsets[d] + (i + 1) * kPiece), each combined as a
// destination of its own. Mean divides the sum by the number of positions. In Max and Min a value replaces the best one
// so far if it is greater (less) or NaN, and nothing but NaN replaces NaN. With `accumulate` (Sum only), a destination
// starts from the contents of out instead of 0 (the pieces of a hub still start from 0), and destinations without
// positions keep these contents.
struct SegmentArguments {
    Index offsets;                 // destinations + 1
    Index columns;                 // null: row p - columnFirst of source (rows already gathered)
    const void* weight = nullptr;  // elements of the same type as out
    const void* source = nullptr;
    void* out = nullptr;
    Element element = Element::Float32;
    // CPU, if `element` is Float32: the element type of the source. Widening is exact.
    Element sourceElement = Element::Float32;
    std::int64_t destinations = 0;
    std::int64_t width = 0;
    std::int64_t heads = 1;
    std::int64_t sourceStride = 0;
    std::int64_t weightFirst = 0;
    std::int64_t columnFirst = 0;
    Combine combine = Combine::Sum;
    float empty = 0;
    bool accumulate = false;
    // GPU only: all of hubPieces, in device memory, and room for pieceCount * width floats, so that hubs are spread
    // over the GPU. null: one group of threads computes each hub; the result is the same.
    const HubPiece* pieces = nullptr;
    std::int64_t pieceCount = 0;
    std::int64_t pieceFirst = 0;  // the number of destination 0 in `pieces`, which may be those of a larger graph
    float* partial = nullptr;
    HostRows host;  // of the source
};

// Computes destinations [first, last) on the calling thread, with the best instruction set of the machine.
void segmentCpu(const SegmentArguments& arguments, std::int64_t first, std::int64_t last);

// Copies row rows[i] of `source` to row i of `out`, for i in [first, last), prefetching ahead. Rows have rowBytes bytes
// and are sourceStrideBytes apart in `source`.
void gatherRowsCpu(const std::byte* source, std::int64_t sourceStrideBytes, Index rows, std::byte* out,
                   std::int64_t rowBytes, std::int64_t first, std::int64_t last);

// Returns the pieces of all hubs in order, from offsets in host memory. If the result is empty, leave `pieces` null.
std::vector<HubPiece> hubPieces(Index offsets, std::int64_t destinations);

// Some return codes of segmentCuda. The last two are CUDA's own.
constexpr int kNoCuda = -1;      // a build without CUDA kernels (those with them define HOPSCOPE_CUDA)
constexpr int kOutOfMemory = 2;  // the device ran out of memory while it loaded the kernel
constexpr int kNoImage = 209;    // the kernels were not built for this device, see kernelsCannotRun

// Computes all destinations on the current device, on `stream` (a cudaStream_t). All pointers, including those of
// columns and offsets, must refer to memory of the device, except HostRows::data. The function only launches kernels: it
// allocates nothing, selects no device and does not wait. Returns the CUDA error code of the first launch that failed, or
// 0 if all were accepted; kNoCuda without CUDA kernels.
int segmentCuda(const SegmentArguments& arguments, void* stream);

// Returns whether a code of segmentCuda means that these kernels can never run on this device with this driver, as
// opposed to a failed launch.
bool kernelsCannotRun(int code);

// Returns CUDA's description of an error code.
const char* cudaErrorText(int code);

}  // namespace hopscope::kernels
