#include "kernels/launch.cuh"
#include "kernels/strip_device.cuh"

// Host side of the strip kernels: their blocks, and the launches.

namespace hopscope::kernels {

namespace {

Blocks blocksFor(const StripLaunch& l, std::int64_t items)
{
    const std::int64_t most = l.shared ? items : kLaunchGroups;  // groups
    const std::int64_t groups = items < most ? items : most;
    Blocks blocks;
    blocks.count = (groups + l.groups - 1) / l.groups;
    blocks.threads = l.lanes * l.groups;
    blocks.shared = l.shared ? static_cast<int>(l.groups * l.groupBytes) : 0;
    return blocks;
}

template <class T, int shape = kNoShape>
int launchElement(const StripLaunch& l, cudaStream_t stream)
{
    int code = launch(stripKernel<T, shape>, blocksFor(l, l.count), stream, l);
    if (l.pieceCount == 0) return code;
    const Blocks blocks = blocksFor(l, l.pieceCount);
    for (std::uint32_t phase = 1; code == 0 && phase != 0 && phase <= l.phases; phase <<= 1) {
        code = launch(stripPieceKernel<T, shape>, blocks, stream, l, phase);
        if (code == 0) code = launch(stripHubKernel<T>, blocks, stream, l, phase);
    }
    return code;
}

template <int... shapes>
int launchSingle(const StripLaunch& l, cudaStream_t stream, std::integer_sequence<int, shapes...>)
{
    int code = 0;
    const bool known = ((l.shape == shapes && (code = launchElement<float, shapes>(l, stream), true)) || ...);
    return known ? code : launchElement<float>(l, stream);
}

}  // namespace

int launchStrips(const StripLaunch& l, void* stream)
{
    const auto queue = static_cast<cudaStream_t>(stream);
    switch (l.element) {
    case StripElement::Float32: return launchSingle(l, queue, std::make_integer_sequence<int, kShapeCount>());
    case StripElement::Float64: return launchElement<double>(l, queue);
    case StripElement::Float16: return launchElement<HalfElement>(l, queue);
    case StripElement::BFloat16: return launchElement<BrainElement>(l, queue);
    }
    return static_cast<int>(cudaErrorInvalidValue);
}

}  // namespace hopscope::kernels
