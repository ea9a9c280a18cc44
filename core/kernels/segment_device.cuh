#pragma once

// Device code of the segment kernels: the walk over positions, and the three kernels. Products and sums are
// rounded one by one, so that the result equals segmentCpu's bit for bit. No warp instructions, shared memory or
// barriers: any order of blocks and threads gives the same result.

#include <cstdint>

#include <cuda_runtime.h>

#include "kernels/elements_device.cuh"

namespace hopscope::kernels {

namespace {

struct SumStep {
    __device__ static float start() { return 0.0f; }
    __device__ static float apply(float sum, float value) { return __fadd_rn(sum, value); }
};

struct MaxStep {
    __device__ static float start() { return -__builtin_huge_valf(); }
    __device__ static float apply(float best, float value) { return value > best || value != value ? value : best; }
};

struct MinStep {
    __device__ static float start() { return __builtin_huge_valf(); }
    __device__ static float apply(float best, float value) { return value < best || value != value ? value : best; }
};

// Neighbouring columns of a row, read and written at once: 16 bytes where rows are aligned, else one element.
template <class T, int n>
struct alignas(sizeof(T) * n < 16 ? sizeof(T) * n : 16) Pack {
    T at[n];
};

template <int n>
struct Columns {
    float at[n];
};

template <int n>
__device__ Columns<n> all(float value)
{
    Columns<n> result;
#pragma unroll
    for (int k = 0; k < n; ++k) result.at[k] = value;
    return result;
}

template <int n, class T>
__device__ Columns<n> load(const T* from)
{
    const Pack<T, n> pack = *reinterpret_cast<const Pack<T, n>*>(from);
    Columns<n> result;
#pragma unroll
    for (int k = 0; k < n; ++k) result.at[k] = widen(pack.at[k]);
    return result;
}

template <int n, class T>
__device__ void store(const Columns<n>& value, T* to)
{
    Pack<T, n> pack;
#pragma unroll
    for (int k = 0; k < n; ++k) narrow(value.at[k], pack.at[k]);
    *reinterpret_cast<Pack<T, n>*>(to) = pack;
}

template <class Step, int n>
__device__ void apply(Columns<n>& result, const Columns<n>& value)
{
#pragma unroll
    for (int k = 0; k < n; ++k) result.at[k] = Step::apply(result.at[k], value.at[k]);
}

// `rows` rows of out (or pieces) are shared out among groups of `lanes` threads, each group taking one of the row's
// `tiles` of columns at a time: narrow rows have many groups in a block, wide rows have many groups for a row.
struct Share {
    std::int64_t rows, tiles;
    int lanes;
};

template <int n, class Work>
__device__ void eachTile(const Share& share, std::int64_t width, const Work& work)
{
    const std::int64_t groups = blockDim.x / static_cast<unsigned>(share.lanes);
    const std::int64_t lane = threadIdx.x % static_cast<unsigned>(share.lanes);
    const std::int64_t items = share.rows * share.tiles;
    std::int64_t item = blockIdx.x * groups + threadIdx.x / static_cast<unsigned>(share.lanes);
    for (; item < items; item += gridDim.x * groups) {
        const std::int64_t column = (item % share.tiles * share.lanes + lane) * n;
        if (column < width) work(item / share.tiles, column);
    }
}

constexpr int kBatch = 4;  // positions whose loads are on their way at the same time

// Rows of source at kBatch positions from p; those after `last` are as `last`, to be left unused.
__device__ inline void sourceRows(const SegmentArguments& a, std::int64_t p, std::int64_t last, std::int64_t* rows)
{
#pragma unroll
    for (int u = 0; u < kBatch; ++u) rows[u] = (p + u < last ? p + u : last) - a.columnFirst;
    if (a.columns.data == nullptr) return;
    if (a.columns.wide) {
#pragma unroll
        for (int u = 0; u < kBatch; ++u) rows[u] = static_cast<const std::int64_t*>(a.columns.data)[rows[u]];
    } else {
#pragma unroll
        for (int u = 0; u < kBatch; ++u) rows[u] = static_cast<const std::int32_t*>(a.columns.data)[rows[u]];
    }
}

template <class T, int n>
__device__ void scaleBatch(const SegmentArguments& a, std::int64_t p, std::int64_t last, std::int64_t head,
                           Columns<n>* values)
{
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
        const std::int64_t row = (p + u < last ? p + u : last) - a.weightFirst;
        const float scale = widen(static_cast<const T*>(a.weight)[row * a.heads + head]);
#pragma unroll
        for (int k = 0; k < n; ++k) values[u].at[k] = __fmul_rn(scale, values[u].at[k]);
    }
}

// Combines positions [begin, end) into `result`, in order.
template <class Step, class T, int n>
__device__ Columns<n> walk(const SegmentArguments& a, std::int64_t begin, std::int64_t end, std::int64_t column,
                           Columns<n> result)
{
    const T* const source = static_cast<const T*>(a.source);
    const std::int64_t head = a.weight != nullptr ? column / (a.width / a.heads) : 0;
    for (std::int64_t p = begin; p < end; p += kBatch) {
        std::int64_t rows[kBatch];
        sourceRows(a, p, end - 1, rows);
        const T* from[kBatch];
#pragma unroll
        for (int u = 0; u < kBatch; ++u) from[u] = rowAt(source, a.host, rows[u], a.sourceStride) + column;
        Columns<n> values[kBatch];
#pragma unroll
        for (int u = 0; u < kBatch; ++u) values[u] = load<n>(from[u]);
        if (a.weight != nullptr) scaleBatch<T, n>(a, p, end - 1, head, values);
#pragma unroll
        for (int u = 0; u < kBatch; ++u)
            if (p + u < end) apply<Step, n>(result, values[u]);
    }
    return result;
}

template <class Step, class T, int n>
__device__ Columns<n> startOf(const SegmentArguments& a, const T* to)
{
    return a.accumulate ? load<n>(to) : all<n>(Step::start());
}

template <class T, int n>
__device__ void finish(const SegmentArguments& a, std::int64_t positions, Columns<n> result, T* to)
{
    if (a.combine == Combine::Mean) {
#pragma unroll
        for (int k = 0; k < n; ++k) result.at[k] = __fdiv_rn(result.at[k], static_cast<float>(positions));
    }
    store<n>(result, to);
}

// A destination that is no hub, or a hub piece by piece for callers that gave no pieces.
template <class Step, class T, int n>
__device__ Columns<n> walkAll(const SegmentArguments& a, std::int64_t begin, std::int64_t end, std::int64_t column,
                              Columns<n> result)
{
    const bool hub = end - begin > kPiece;
    while (begin < end) {
        const std::int64_t stop = hub && end - begin > kPiece ? begin + kPiece : end;
        const Columns<n> part = walk<Step, T, n>(a, begin, stop, column, hub ? all<n>(Step::start()) : result);
        if (hub) apply<Step, n>(result, part);
        else result = part;
        begin = stop;
    }
    return result;
}

// One row of out after the other; hubs are left out where there are pieces of them.
template <class Step, class T, int n>
__global__ void destinationKernel(SegmentArguments a, Share share)
{
    eachTile<n>(share, a.width, [&](std::int64_t d, std::int64_t column) {
        const std::int64_t begin = number(a.offsets, d), end = number(a.offsets, d + 1);
        if (a.pieceCount > 0 && end - begin > kPiece) return;
        T* const to = static_cast<T*>(a.out) + d * a.width + column;
        if (begin == end) {
            if (!a.accumulate) store<n>(all<n>(a.empty), to);
            return;
        }
        const Columns<n> start = startOf<Step, T, n>(a, to);
        finish<T, n>(a, end - begin, walkAll<Step, T, n>(a, begin, end, column, start), to);
    });
}

// A row of `partial` per piece.
template <class Step, class T, int n>
__global__ void pieceKernel(SegmentArguments a, Share share)
{
    eachTile<n>(share, a.width, [&](std::int64_t i, std::int64_t column) {
        const HubPiece piece = a.pieces[i];
        store<n>(walk<Step, T, n>(a, piece.begin, piece.end, column, all<n>(Step::start())),
                 a.partial + i * a.width + column);
    });
}

// The pieces of each hub in order, by the threads that meet its first piece.
template <class Step, class T>
__global__ void hubKernel(SegmentArguments a, Share share)
{
    eachTile<1>(share, a.width, [&](std::int64_t first, std::int64_t column) {
        const std::int64_t d = a.pieces[first].destination - a.pieceFirst;
        const std::int64_t begin = number(a.offsets, d), end = number(a.offsets, d + 1);
        if (a.pieces[first].begin != begin) return;
        const std::int64_t last = first + (end - begin + kPiece - 1) / kPiece;
        T* const to = static_cast<T*>(a.out) + d * a.width + column;
        Columns<1> result = startOf<Step, T, 1>(a, to);
#pragma unroll 4
        for (std::int64_t i = first; i < last; ++i) apply<Step, 1>(result, load<1>(a.partial + i * a.width + column));
        finish<T, 1>(a, end - begin, result, to);
    });
}

}  // namespace

}  // namespace hopscope::kernels
