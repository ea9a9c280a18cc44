#pragma once

// What the tests of the fake device share.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>

#include <ATen/ATen.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "executor/device/accelerator.h"
#include "fake_device/fake_device.h"

namespace hopscope::fake_device {

struct Fresh {
    Fresh()
    {
        install();
        reset();
    }
    ~Fresh() { reset(); }
};

inline c10::DeviceType type() { return executor::accelerator().type(); }

inline c10::Device gpu(int index = 0) { return {type(), static_cast<c10::DeviceIndex>(index)}; }

inline at::TensorOptions on(int index, at::ScalarType dtype = at::kFloat)
{
    return at::TensorOptions().dtype(dtype).device(gpu(index));
}

inline c10::Stream defaultStream(int index = 0)
{
    return c10::impl::VirtualGuardImpl(type()).getDefaultStream(gpu(index));
}

inline c10::Stream pooledStream(int index = 0)
{
    return c10::impl::VirtualGuardImpl(type()).getStreamFromGlobalPool(gpu(index), false);
}

inline void finish(const c10::Stream& stream) { c10::impl::VirtualGuardImpl(type()).synchronizeStream(stream); }

inline void wait(const c10::Stream& later, const c10::Stream& earlier)
{
    c10::Event event(type());
    event.record(earlier);
    event.block(later);
}

inline at::Tensor pinnedBytes(std::int64_t bytes)
{
    return at::zeros({bytes}, at::TensorOptions().dtype(at::kByte).pinned_memory(true));
}

// The signal that ends a child process which does this; 0: none.
inline int signalOf(const std::function<void()>& work)
{
    const pid_t child = fork();
    if (child == 0) {
        std::fclose(stderr);
        for (const int signal : {SIGSEGV, SIGABRT}) std::signal(signal, SIG_DFL);
        work();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

inline c10::CachingDeviceAllocator::DeviceStats stats(int index = 0)
{
    return c10::getDeviceAllocator(type())->getDeviceStats(static_cast<c10::DeviceIndex>(index));
}

inline std::int64_t reserved(int index = 0) { return stats(index).reserved_bytes[0].current; }

// A kernel over two destinations, the rows of a graph with three edges.
struct Kernel {
    at::Tensor offsets, columns, source, out;
    kernels::HostRows host = {};

    explicit Kernel(int device)
        : offsets(at::tensor({0, 2, 3}, at::kLong).to(gpu(device))),
          columns(at::tensor({0, 1, 1}, at::kLong).to(gpu(device))),
          source(at::arange(8, at::kFloat).view({2, 4}).to(gpu(device))),
          out(at::empty({2, 4}, on(device)))
    {}

    int run(void* stream = nullptr) const
    {
        kernels::SegmentArguments a;
        a.offsets = offsets.const_data_ptr<std::int64_t>();
        a.columns = columns.const_data_ptr<std::int64_t>();
        a.source = source.const_data_ptr<float>();
        a.out = out.mutable_data_ptr<float>();
        a.destinations = 2;
        a.width = a.sourceStride = 4;
        a.host = host;
        return executor::accelerator().segment(a, stream);
    }
};

}  // namespace hopscope::fake_device
