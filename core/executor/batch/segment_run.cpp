#include "executor/batch/segment_run.h"

#include <algorithm>

#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "executor/device/accelerator.h"
#include "executor/failure.h"
#include "kernels/segment.h"

namespace hopscope::executor {

kernels::Index index(const at::Tensor& numbers)
{
    if (!numbers.defined()) return {};
    if (numbers.scalar_type() == at::kInt) return numbers.const_data_ptr<std::int32_t>();
    return numbers.const_data_ptr<std::int64_t>();
}

at::Tensor ownersOf(const at::Tensor& offsets, std::int64_t messages)
{
    const at::Tensor counts = offsets.slice(0, 1) - offsets.slice(0, 0, offsets.numel() - 1);
    return at::repeat_interleave(counts, std::optional(messages));
}

kernels::HostRows hostRows(const DividedTable& table)
{
    if (!table.places.defined()) return {};
    return {.places = table.places.const_data_ptr<std::int32_t>(),
            .data = table.host.const_data_ptr(),
            .cached = static_cast<std::int32_t>(table.cached.size(0))};
}

at::Tensor gatheredOnHost(const at::Tensor& host, const at::Tensor& rows)
{
    return host.index_select(0, rows.cpu()).to(rows.device());
}

namespace {

std::optional<kernels::Element> elementOf(at::ScalarType type)
{
    switch (type) {
    case at::kFloat: return kernels::Element::Float32;
    case at::kHalf: return kernels::Element::Float16;
    case at::kBFloat16: return kernels::Element::BFloat16;
    default: return std::nullopt;
    }
}

bool hasKernel(const SegmentInputs& in)
{
    if (in.source.dim() == 0 || !elementOf(in.source.scalar_type())) return false;
    if (in.computed != in.source.scalar_type() && in.computed != at::kFloat) return false;
    if (in.weight.defined() && in.weight.scalar_type() != in.computed) return false;
    return in.source.size(0) == 0 || in.source.select(0, 0).is_contiguous();
}

std::vector<std::int64_t> resultShape(const SegmentInputs& in)
{
    std::vector<std::int64_t> shape = in.source.sizes().vec();
    shape[0] = in.offsets.numel() - 1;
    return shape;
}

kernels::SegmentArguments kernelArguments(const Segment& segment, const SegmentInputs& in, at::Tensor& out)
{
    kernels::SegmentArguments a;
    a.offsets = index(in.offsets);
    a.columns = index(in.columns);
    if (in.weight.defined()) a.weight = in.weight.const_data_ptr();
    a.source = in.source.const_data_ptr();
    a.out = out.mutable_data_ptr();
    a.element = *elementOf(in.computed);
    a.sourceElement = *elementOf(in.source.scalar_type());
    a.destinations = in.offsets.numel() - 1;
    a.width = segment.width;
    a.heads = segment.heads;
    a.sourceStride = in.source.size(0) > 1 ? in.source.stride(0) : segment.width;
    a.weightFirst = in.first;
    a.columnFirst = in.columnFirst;
    a.combine = segment.combine;
    a.empty = static_cast<float>(segment.empty);
    a.host = hostRows({in.source, in.places, in.host});
    return a;
}

at::Tensor mean(const at::Tensor& sums, const at::Tensor& offsets, double empty)
{
    std::vector<std::int64_t> column(static_cast<std::size_t>(sums.dim()), 1);
    column[0] = sums.size(0);
    const at::Tensor counts = (offsets.slice(0, 1) - offsets.slice(0, 0, offsets.numel() - 1)).view(column);
    return at::where(counts > 0, sums / counts, at::scalar_tensor(empty, sums.options())).to(sums.scalar_type());
}

// On a GPU, adding by row number sorts all numbers first to be deterministic; adding along offsets does not.
at::Tensor byOffsets(const Segment& segment, const SegmentInputs& in, const at::Tensor& messages)
{
    const auto how = [&] {
        switch (segment.combine) {
        case kernels::Combine::Sum: return "sum";
        case kernels::Combine::Mean: return "mean";
        case kernels::Combine::Max: return "max";
        case kernels::Combine::Min: return "min";
        }
        return "";
    };
    const at::Tensor offsets = in.count >= 0 ? in.offsets - in.first : in.offsets;
    const at::Tensor wide = messages.to(at::toOpMathType(messages.scalar_type())).contiguous();
    const at::Tensor out =
        at::segment_reduce(wide, how(), {}, {}, offsets, 0, /*unsafe=*/true).to(messages.scalar_type());
    std::vector<std::int64_t> column(static_cast<std::size_t>(out.dim()), 1);
    column[0] = out.size(0);
    const at::Tensor filled = (offsets.slice(0, 1) > offsets.slice(0, 0, offsets.numel() - 1)).view(column);
    return at::where(filled, out, at::scalar_tensor(segment.empty, out.options()));
}

at::Tensor runGeneric(const Segment& segment, SegmentInputs in)
{
    if (in.count >= 0 && in.columns.defined()) in.columns = in.columns.narrow(0, in.first - in.columnFirst, in.count);
    at::Tensor messages = in.places.defined()    ? gatheredOnHost(in.host, in.columns)
                          : in.columns.defined() ? in.source.index_select(0, in.columns)
                                                 : in.source;
    messages = messages.to(in.computed);
    if (in.weight.defined()) {
        std::vector<std::int64_t> shape = in.weight.sizes().vec();
        while (static_cast<std::int64_t>(shape.size()) < messages.dim()) shape.push_back(1);
        messages = messages * in.weight.reshape(shape);
    }
    if (!messages.is_cpu() && messages.is_floating_point()) return byOffsets(segment, in, messages);
    const at::Tensor where = ownersOf(in.offsets, messages.size(0)).to(at::kLong);
    const bool sums = segment.combine == kernels::Combine::Mean || segment.combine == kernels::Combine::Sum;
    const bool average = segment.combine == kernels::Combine::Mean;
    at::Tensor out = at::full(resultShape(in), average ? 0.0 : segment.empty, messages.options());
    if (!sums) {
        const char* const how = segment.combine == kernels::Combine::Max ? "amax" : "amin";
        return out.index_reduce(0, where, messages, how, false);
    }
    out = out.index_add(0, where, messages);
    return average ? mean(out, in.offsets, segment.empty) : out;
}

}  // namespace

void checkCurrent(c10::Device device)
{
    const c10::Device current = c10::impl::VirtualGuardImpl(device.type()).getDevice();
    if (current == device) return;
    raise(base::ErrorCode::Internal, "a kernel for cuda:" + std::to_string(device.index()) +
                                         " would be launched on cuda:" + std::to_string(current.index()));
}

bool launched(int code, Session& session)
{
    if (code == 0) return true;
    if (code == kernels::kOutOfMemory) C10_THROW_ERROR(OutOfMemoryError, "a kernel could not be loaded");
    const std::string why = kernels::cudaErrorText(code);
    if (!kernels::kernelsCannotRun(code))
        raise(base::ErrorCode::Internal, "the segment kernel failed on the GPU: " + why);
    session.noteOnce("the segment kernels cannot run on this GPU (" + why +
                     "); using LibTorch's general operators, which are slower");
    return false;
}

namespace {

// False if the kernels cannot run on this GPU.
bool runOnGpu(kernels::SegmentArguments a, const SegmentInputs& in, Session& session)
{
    at::Tensor partial;
    if (in.pieces.defined()) {
        a.pieces = static_cast<const kernels::HubPiece*>(in.pieces.const_data_ptr());
        a.pieceFirst = in.pieceFirst;
        a.pieceCount = in.pieces.numel() / static_cast<std::int64_t>(sizeof(kernels::HubPiece));
        partial = at::empty({a.pieceCount * a.width}, in.source.options().dtype(at::kFloat));
        a.partial = partial.mutable_data_ptr<float>();
    }
    checkCurrent(session.device.device());
    return launched(accelerator().segment(a, session.device.stream(Lane::Compute)), session);
}

}  // namespace

// Equal shares of edges, not of destinations: degrees are skewed.
void inShares(const kernels::Index& offsets, std::int64_t destinations, std::int64_t width,
              const std::function<void(std::int64_t first, std::int64_t last)>& work)
{
    const std::int64_t begin = offsets[0], edges = offsets[destinations] - begin;
    const std::int64_t pieces =
        std::clamp<std::int64_t>((edges + destinations) * width / 65536, 1, 8 * at::get_num_threads());
    const auto bound = [&](std::int64_t piece) {
        if (piece == pieces) return destinations;
        // Offset plus index grows strictly, so that destinations without edges are shared out as well.
        const std::int64_t wanted = (edges + destinations) * piece / pieces;
        std::int64_t low = 0, high = destinations;
        while (low < high) {
            const std::int64_t middle = (low + high) / 2;
            if (offsets[middle] - begin + middle < wanted) low = middle + 1;
            else high = middle;
        }
        return low;
    };
    at::parallel_for(0, pieces, 1, [&](std::int64_t first, std::int64_t last) { work(bound(first), bound(last)); });
}

at::Tensor runSegment(const Segment& segment, const SegmentInputs& given, Session& session)
{
    SegmentInputs in = given;
    if (!hasKernel(in)) return runGeneric(segment, in);
    if (in.weight.defined()) in.weight = in.weight.contiguous();
    at::Tensor out = at::empty(resultShape(in), in.source.options().dtype(in.computed));
    const kernels::SegmentArguments a = kernelArguments(segment, in, out);
    if (session.device.gpu()) return runOnGpu(a, in, session) ? out : runGeneric(segment, in);
    inShares(a.offsets, a.destinations, a.width,
             [&](std::int64_t first, std::int64_t last) { kernels::segmentCpu(a, first, last); });
    return out;
}

// A maximum of one row is the row.
at::Tensor pickDivided(const DividedTable& table, const at::Tensor& rows, Session& session)
{
    Segment one;
    one.combine = kernels::Combine::Max;
    for (std::int64_t d = 1; d < table.cached.dim(); ++d) one.width *= table.cached.size(d);
    SegmentInputs in;
    in.source = table.cached;
    in.columns = rows;
    in.computed = table.cached.scalar_type();
    in.offsets = at::arange(rows.numel() + 1, rows.options());
    in.places = table.places;
    in.host = table.host;
    return runSegment(one, in, session);
}

}  // namespace hopscope::executor
