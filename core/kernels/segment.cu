#include <cstdint>

#include <cuda_runtime.h>

#include "kernels/segment.h"

// A group of threads per destination, a thread per column (or four, where rows are aligned): each walks the positions
// in order, with products and sums rounded one by one, so that the result equals segmentCpu's bit for bit.

namespace hopscope::kernels {

namespace {

constexpr int kThreads = 256;
constexpr float kInfinity = __builtin_huge_valf();

template <Combine combine>
__device__ float start()
{
    return combine == Combine::Max ? -kInfinity : combine == Combine::Min ? kInfinity : 0.0f;
}

template <Combine combine>
__device__ float step(float best, float value)
{
    if constexpr (combine == Combine::Max) return value > best || value != value ? value : best;
    if constexpr (combine == Combine::Min) return value < best || value != value ? value : best;
    return __fadd_rn(best, value);
}

template <int columns>
struct Columns {
    float at[columns];
};

template <int columns>
__device__ Columns<columns> load(const float* from)
{
    Columns<columns> value;
    if constexpr (columns == 4) {
        const float4 four = *reinterpret_cast<const float4*>(from);
        value.at[0] = four.x, value.at[1] = four.y, value.at[2] = four.z, value.at[3] = four.w;
    } else {
        value.at[0] = *from;
    }
    return value;
}

template <Combine combine, int columns>
__device__ void combineColumns(const SegmentArguments& a, std::int64_t d, std::int64_t c)
{
    const std::int64_t begin = a.offsets[d], end = a.offsets[d + 1];
    float* to = a.out + d * a.width + c;
    float result[columns];
    for (int k = 0; k < columns; ++k) result[k] = a.accumulate ? to[k] : begin == end ? a.empty : start<combine>();
    const std::int64_t head = a.weight != nullptr ? c / (a.width / a.heads) : 0;
#pragma unroll 4
    for (std::int64_t p = begin; p < end; ++p) {
        const std::int64_t row = a.columns != nullptr ? a.columns[p] : p;
        const Columns<columns> value = load<columns>(a.source + row * a.sourceStride + c);
        for (int k = 0; k < columns; ++k) {
            const float scaled =
                a.weight != nullptr ? __fmul_rn(a.weight[p * a.heads + head], value.at[k]) : value.at[k];
            result[k] = step<combine>(result[k], scaled);
        }
    }
    const bool mean = combine == Combine::Mean && begin != end;
    for (int k = 0; k < columns; ++k) to[k] = mean ? __fdiv_rn(result[k], static_cast<float>(end - begin)) : result[k];
}

template <Combine combine, int columns>
__global__ void segmentKernel(SegmentArguments a, int group)
{
    const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    const std::int64_t d = thread / group;
    if (d >= a.destinations) return;
    for (std::int64_t c = thread % group * columns; c < a.width; c += static_cast<std::int64_t>(group) * columns)
        combineColumns<combine, columns>(a, d, c);
}

bool alignedBy(const void* pointer, std::int64_t stride)
{
    return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0 && stride % 4 == 0;
}

template <Combine combine>
int launch(const SegmentArguments& a, cudaStream_t stream)
{
    const bool four = alignedBy(a.source, a.sourceStride) && a.width % 4 == 0 && a.width / a.heads % 4 == 0;
    const std::int64_t parts = four ? a.width / 4 : a.width;
    int group = 1;
    while (group < 32 && group < parts) group *= 2;
    const auto blocks = static_cast<unsigned>((a.destinations * group + kThreads - 1) / kThreads);
    if (four) segmentKernel<combine, 4><<<blocks, kThreads, 0, stream>>>(a, group);
    else segmentKernel<combine, 1><<<blocks, kThreads, 0, stream>>>(a, group);
    return static_cast<int>(cudaGetLastError());
}

}  // namespace

int segmentCuda(const SegmentArguments& arguments, void* stream)
{
    if (arguments.destinations == 0 || arguments.width == 0) return 0;
    const auto queue = static_cast<cudaStream_t>(stream);
    switch (arguments.combine) {
    case Combine::Sum: return launch<Combine::Sum>(arguments, queue);
    case Combine::Mean: return launch<Combine::Mean>(arguments, queue);
    case Combine::Max: return launch<Combine::Max>(arguments, queue);
    case Combine::Min: return launch<Combine::Min>(arguments, queue);
    }
    return static_cast<int>(cudaErrorInvalidValue);
}

}  // namespace hopscope::kernels
