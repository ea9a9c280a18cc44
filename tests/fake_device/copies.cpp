// Copies as CUDA makes them: between host and device only whole, of one type; others by way of temporaries.

#include "fake_device/guard.h"
#include "fake_device/memory.h"
#include "fake_device/operators.h"
#include "fake_device/pinned.h"

namespace hopscope::fake_device {

namespace {

std::int64_t bytesOf(const at::Tensor& t) { return t.numel() * static_cast<std::int64_t>(t.element_size()); }

std::size_t sizeOf(const at::Tensor& t) { return static_cast<std::size_t>(bytesOf(t)); }

bool sameLayout(const at::Tensor& a, const at::Tensor& b)
{
    if (a.is_contiguous() && b.is_contiguous()) return true;
    return a.strides() == b.strides() && a.is_non_overlapping_and_dense();
}

bool goesWhole(const at::Tensor& from, const at::Tensor& to)
{
    return from.scalar_type() == to.scalar_type() && sameLayout(from, to);
}

// A blocking copy converts on the host, one that does not block on the device.
at::Tensor copyByTemporaries(const at::Tensor& from, const at::Tensor& to, bool nonBlocking)
{
    const bool convertsAtSource = nonBlocking != from.is_cpu();
    if (convertsAtSource) {
        const at::Tensor whole = to.is_contiguous() ? to : at::empty_like(to, at::MemoryFormat::Contiguous);
        whole.copy_(from.to(to.scalar_type()).contiguous(), nonBlocking);
        if (!whole.is_same(to)) to.copy_(whole, nonBlocking);
        return to;
    }
    const bool direct = to.is_contiguous() && from.scalar_type() == to.scalar_type();
    const at::Tensor whole =
        direct ? to : at::empty_like(to, to.options().dtype(from.scalar_type()), at::MemoryFormat::Contiguous);
    whole.copy_(from.contiguous(), nonBlocking);
    if (!direct) to.copy_(whole, nonBlocking);
    return to;
}

void waitFor(int lane)
{
    ++state().counts.hostWaits;
    clocks().hostWaits(clocks().at(lane));
}

// Pageable memory is staged: the call comes back when it has been read, without an order that could be relied on.
void finishUpload(const at::Tensor& from, bool nonBlocking, bool isPinned, Mark mark)
{
    if (!nonBlocking) waitFor(mark.lane);
    else if (isPinned) pinned().protect(from.const_data_ptr(), sizeOf(from), Direction::Up, mark);
    else clocks().hostWaitsUntil(clocks().at(mark.lane).seconds);
}

void checkPinned(const at::Tensor& host, Direction direction, int lane)
{
    pinned().checkCopy(host.const_data_ptr(), sizeOf(host), direction, lane);
}

at::Tensor upload(const at::Tensor& from, const at::Tensor& to, bool nonBlocking)
{
    const Mark mark = clocks().launch(laneOfTensor(to));
    const bool isPinned = pinned().holds(from.const_data_ptr());
    if (isPinned) checkPinned(from, Direction::Up, mark.lane);
    touchTensor(to, mark, true);
    {
        const Pinned::Reach reach(from.const_data_ptr(), isPinned ? sizeOf(from) : 0, Direction::Up);
        hostView(to).copy_(from);
    }
    clocks().charge(mark.lane, Engine::HostToDevice, bytesOf(to));
    ++state().counts.uploads;
    state().counts.pageableUploads += isPinned ? 0 : 1;
    state().counts.bytesUp += bytesOf(to);
    finishUpload(from, nonBlocking, isPinned, mark);
    return to;
}

at::Tensor download(const at::Tensor& from, const at::Tensor& to, bool nonBlocking)
{
    const bool isPinned = pinned().holds(to.const_data_ptr());
    if (nonBlocking && !isPinned) refuse("asynchronous download into pageable memory");
    const Mark mark = clocks().launch(laneOfTensor(from));
    if (isPinned) checkPinned(to, Direction::Down, mark.lane);
    touchTensor(from, mark, false);
    {
        const Pinned::Reach reach(to.const_data_ptr(), isPinned ? sizeOf(to) : 0, Direction::Down);
        to.copy_(hostView(from));
    }
    clocks().charge(mark.lane, Engine::DeviceToHost, bytesOf(from));
    ++state().counts.downloads;
    state().counts.bytesDown += bytesOf(from);
    if (nonBlocking) pinned().protect(to.const_data_ptr(), sizeOf(to), Direction::Down, mark);
    else waitFor(mark.lane);
    return to;
}

at::Tensor copyOnDevice(const at::Tensor& from, const at::Tensor& to)
{
    const Mark mark = clocks().launch(laneOfTensor(to));
    touchTensor(from, mark, false);
    touchTensor(to, mark, true);
    hostView(to).copy_(hostView(from));
    clocks().charge(mark.lane, Engine::Compute, bytesOf(from) + bytesOf(to));
    return to;
}

// On the source's stream, with both streams waiting for each other.
at::Tensor copyBetweenDevices(const at::Tensor& from, const at::Tensor& to)
{
    if (!state().peerAccess) refuse("a copy between devices without peer access");
    const int source = laneOfTensor(from), target = laneOfTensor(to);
    clocks().streamWaits(source, clocks().record(target));
    const Mark mark = clocks().launch(source);
    touchTensor(from, mark, false);
    touchTensor(to, mark, true);
    hostView(to).copy_(hostView(from));
    clocks().charge(source, Engine::Peer, bytesOf(to));
    state().counts.bytesBetween += bytesOf(to);
    clocks().streamWaits(target, clocks().record(source));
    return to;
}

}  // namespace

at::Tensor copyTensor(const at::Tensor& given, const at::Tensor& to, bool nonBlocking)
{
    const Lock lock(mutex());
    const at::Tensor from = given.sizes() == to.sizes() ? given : given.expand_as(to);
    if (to.numel() == 0) return to;
    if (from.device() == to.device()) return copyOnDevice(from, to);
    if (!from.is_cpu() && !to.is_cpu()) return copyBetweenDevices(from, to);
    if (!goesWhole(from, to)) return copyByTemporaries(from, to, nonBlocking);
    return from.is_cpu() ? upload(from, to, nonBlocking) : download(from, to, nonBlocking);
}

}  // namespace hopscope::fake_device
