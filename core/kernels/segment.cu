#include <cstdint>

#include <cuda_runtime.h>

#include "kernels/launch.cuh"
#include "kernels/segment_device.cuh"

// Host side of the segment kernels: how many columns a thread takes at once, how many threads a row, and the launches.

namespace hopscope::kernels {

namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kWide = 16;  // bytes of the widest load

struct Launch {
    Share share;
    Blocks blocks;
};

// Lanes fit the width exactly (no warp is needed whole), so that rows of 3 or 602 columns leave none of them idle.
Launch plan(std::int64_t rows, std::int64_t parts, bool oneRowPerBlock)
{
    Launch launch;
    const std::int64_t tiles = (parts + kThreads - 1) / kThreads;
    const std::int64_t lanes = (parts + tiles - 1) / tiles;
    const std::int64_t groups = oneRowPerBlock ? 1 : kThreads / lanes;
    launch.share = Share{rows, tiles, static_cast<int>(lanes)};
    launch.blocks.count = (rows * tiles + groups - 1) / groups;
    launch.blocks.threads = static_cast<int>(groups * lanes);
    return launch;
}

bool aligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % kWide == 0; }

// True if every n columns can be read and written at once and share a weight.
template <class T, int n>
bool packs(const SegmentArguments& a)
{
    const bool rows =
        aligned(a.source) && aligned(a.host.data) && aligned(a.out) && aligned(a.partial) && a.width % n == 0;
    const std::int64_t part = a.weight != nullptr ? a.width / a.heads : a.width;
    return rows && a.sourceStride % n == 0 && part % n == 0;
}

template <class Step, class T, int n>
int launchAll(const SegmentArguments& a, cudaStream_t stream)
{
    const Launch all = plan(a.destinations, a.width / n, false);
    int code = launch(destinationKernel<Step, T, n>, all.blocks, stream, a, all.share);
    if (code != 0 || a.pieceCount == 0) return code;
    // A block per piece and tile, not more: a few hubs should reach every multiprocessor.
    const Launch pieces = plan(a.pieceCount, a.width / n, true);
    code = launch(pieceKernel<Step, T, n>, pieces.blocks, stream, a, pieces.share);
    if (code != 0) return code;
    const Launch hubs = plan(a.pieceCount, a.width, false);
    return launch(hubKernel<Step, T>, hubs.blocks, stream, a, hubs.share);
}

template <class Step, class T>
int launchElements(const SegmentArguments& a, cudaStream_t stream)
{
    constexpr int n = static_cast<int>(kWide / sizeof(T));
    return packs<T, n>(a) ? launchAll<Step, T, n>(a, stream) : launchAll<Step, T, 1>(a, stream);
}

template <class Step>
int launchStep(const SegmentArguments& a, cudaStream_t stream)
{
    switch (a.element) {
    case Element::Float32: return launchElements<Step, float>(a, stream);
    case Element::Float16: return launchElements<Step, HalfElement>(a, stream);
    case Element::BFloat16: return launchElements<Step, BrainElement>(a, stream);
    }
    return static_cast<int>(cudaErrorInvalidValue);
}

}  // namespace

int segmentCuda(const SegmentArguments& arguments, void* stream)
{
    if (arguments.destinations == 0 || arguments.width == 0) return 0;
    const auto queue = static_cast<cudaStream_t>(stream);
    switch (arguments.combine) {
    case Combine::Sum:
    case Combine::Mean: return launchStep<SumStep>(arguments, queue);
    case Combine::Max: return launchStep<MaxStep>(arguments, queue);
    case Combine::Min: return launchStep<MinStep>(arguments, queue);
    }
    return static_cast<int>(cudaErrorInvalidValue);
}

const char* cudaErrorText(int code)
{
    if (code == kNoCuda) return "this build has no CUDA kernels";
    return cudaGetErrorString(static_cast<cudaError_t>(code));
}

}  // namespace hopscope::kernels
