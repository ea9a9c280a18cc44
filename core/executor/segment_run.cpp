#include "executor/segment_run.h"

#include <algorithm>

#include <ATen/Parallel.h>

#include "executor/failure.h"
#include "kernels/segment.h"

namespace hopscope::executor {

namespace {

bool rowsAreDense(const at::Tensor& t)
{
    if (t.dim() == 0 || t.scalar_type() != at::kFloat) return false;
    return t.size(0) == 0 || t.select(0, 0).is_contiguous();
}

std::vector<std::int64_t> resultShape(const SegmentInputs& in)
{
    std::vector<std::int64_t> shape = in.source.sizes().vec();
    shape[0] = in.offsets.numel() - 1;
    return shape;
}

kernels::Combine combine(Combination c)
{
    switch (c) {
    case Combination::Mean: return kernels::Combine::Mean;
    case Combination::Max: return kernels::Combine::Max;
    case Combination::Min: return kernels::Combine::Min;
    default: return kernels::Combine::Sum;
    }
}

kernels::SegmentArguments kernelArguments(const Segment& segment, const SegmentInputs& in, at::Tensor& out)
{
    kernels::SegmentArguments a;
    a.offsets = in.offsets.const_data_ptr<std::int64_t>();
    if (in.columns.defined()) a.columns = in.columns.const_data_ptr<std::int64_t>();
    if (in.weight.defined()) a.weight = in.weight.const_data_ptr<float>();
    a.source = in.source.const_data_ptr<float>();
    a.out = out.mutable_data_ptr<float>();
    a.destinations = in.offsets.numel() - 1;
    a.width = segment.width;
    a.heads = segment.heads;
    a.sourceStride = in.source.size(0) > 1 ? in.source.stride(0) : segment.width;
    a.combine = combine(segment.combination);
    a.empty = static_cast<float>(segment.empty);
    return a;
}

// Equal shares of edges, not of destinations: degrees are skewed.
void runOnCpu(const kernels::SegmentArguments& a)
{
    const std::int64_t edges = a.offsets[a.destinations];
    const std::int64_t pieces =
        std::clamp<std::int64_t>((edges + a.destinations) * a.width / 65536, 1, 8 * at::get_num_threads());
    const auto bound = [&](std::int64_t piece) {
        if (piece == pieces) return a.destinations;
        // Offset plus index grows strictly, so that destinations without edges are shared out as well.
        const std::int64_t wanted = (edges + a.destinations) * piece / pieces;
        std::int64_t low = 0, high = a.destinations;
        while (low < high) {
            const std::int64_t middle = (low + high) / 2;
            if (a.offsets[middle] + middle < wanted) low = middle + 1;
            else high = middle;
        }
        return low;
    };
    at::parallel_for(0, pieces, 1,
                     [&](std::int64_t first, std::int64_t last) { kernels::segmentCpu(a, bound(first), bound(last)); });
}

at::Tensor ordinals(const at::Tensor& offsets)
{
    const at::Tensor counts = offsets.slice(0, 1) - offsets.slice(0, 0, offsets.numel() - 1);
    return at::repeat_interleave(counts);
}

at::Tensor runGeneric(const Segment& segment, const SegmentInputs& in)
{
    at::Tensor messages = in.columns.defined() ? in.source.index_select(0, in.columns) : in.source;
    if (in.weight.defined()) {
        std::vector<std::int64_t> shape = in.weight.sizes().vec();
        while (static_cast<std::int64_t>(shape.size()) < messages.dim()) shape.push_back(1);
        messages = messages * in.weight.reshape(shape);
    }
    const at::Tensor where = ordinals(in.offsets);
    at::Tensor out = at::full(resultShape(in), segment.empty, messages.options());
    switch (segment.combination) {
    case Combination::Sum: return out.index_add(0, where, messages);
    case Combination::Mean: return out.index_reduce(0, where, messages, "mean", false);
    case Combination::Max: return out.index_reduce(0, where, messages, "amax", false);
    case Combination::Min: return out.index_reduce(0, where, messages, "amin", false);
    }
    return out;
}

}  // namespace

at::Tensor runSegment(const Segment& segment, const SegmentInputs& given)
{
    SegmentInputs in = given;
    const bool kernel = rowsAreDense(in.source) && (!in.weight.defined() || in.weight.scalar_type() == at::kFloat);
    if (!kernel) return runGeneric(segment, in);
    if (in.weight.defined()) in.weight = in.weight.contiguous();
    at::Tensor out = at::empty(resultShape(in), in.source.options());
    const kernels::SegmentArguments a = kernelArguments(segment, in, out);
    if (!in.source.is_cuda()) {
        runOnCpu(a);
        return out;
    }
    return kernels::segmentCuda(a, in.stream) == 0 ? out : runGeneric(segment, in);
}

}  // namespace hopscope::executor
