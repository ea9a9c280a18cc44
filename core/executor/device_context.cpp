#include "executor/device_context.h"

#include <dlfcn.h>

#include <chrono>
#include <fstream>
#include <string>

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace hopscope::executor {

namespace {

using c10::DeviceType;
using c10::impl::VirtualGuardImpl;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::int64_t availableHostMemory()
{
    std::ifstream file("/proc/meminfo");
    std::string name, unit;
    std::int64_t kilobytes = 0;
    while (file >> name >> kilobytes >> unit)
        if (name == "MemAvailable:") return kilobytes * 1024;
    return std::int64_t{1} << 30;
}

// The loader leaves libtorch_cuda out of a program that names none of its symbols.
void loadCuda() { ::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL); }

c10::DeviceAllocator* cudaAllocator() { return c10::getDeviceAllocator(DeviceType::CUDA); }

}  // namespace

DeviceContext::DeviceContext(const std::string& device)
{
    if (device == "cpu") return;
    loadCuda();
    m_device = c10::Device(device == "cuda" ? "cuda:0" : device);
    const VirtualGuardImpl guard(DeviceType::CUDA);
    m_compute = guard.getDefaultStream(m_device);
    m_copy = guard.getStreamFromGlobalPool(m_device, false);
    m_downloaded.emplace(DeviceType::CUDA);
    m_begin.emplace(DeviceType::CUDA, c10::EventFlag::BACKEND_DEFAULT);
}

at::Tensor DeviceContext::hostBuffer(at::IntArrayRef shape, at::ScalarType dtype) const
{
    return at::empty(shape, at::TensorOptions().dtype(dtype).pinned_memory(cuda()));
}

at::Tensor DeviceContext::upload(const at::Tensor& host)
{
    if (!cuda()) return host;
    at::Tensor there;
    {
        const c10::StreamGuard onCopyStream(*m_copy);
        there = host.to(m_device, /*non_blocking=*/true);
    }
    c10::Event copied(DeviceType::CUDA);
    copied.record(*m_copy);
    copied.block(*m_compute);
    there.record_stream(*m_compute);
    return there;
}

at::Tensor DeviceContext::download(const at::Tensor& onDevice)
{
    if (!cuda()) return onDevice;
    at::Tensor host = hostBuffer(onDevice.sizes(), onDevice.scalar_type());
    c10::Event computed(DeviceType::CUDA);
    computed.record(*m_compute);
    computed.block(*m_copy);
    const c10::StreamGuard onCopyStream(*m_copy);
    onDevice.record_stream(*m_copy);
    host.copy_(onDevice, /*non_blocking=*/true);
    m_downloaded->record(*m_copy);
    return host;
}

void DeviceContext::finishDownloads()
{
    if (cuda()) m_downloaded->synchronize();
}

void DeviceContext::synchronize()
{
    if (!cuda()) return;
    const VirtualGuardImpl guard(DeviceType::CUDA);
    guard.synchronizeStream(*m_compute);
    guard.synchronizeStream(*m_copy);
}

void DeviceContext::startCompute()
{
    m_beginSeconds = now();
    if (cuda()) m_begin->record(*m_compute);
}

double DeviceContext::finishCompute()
{
    if (!cuda()) return now() - m_beginSeconds;
    c10::Event end(DeviceType::CUDA, c10::EventFlag::BACKEND_DEFAULT);
    end.record(*m_compute);
    end.synchronize();
    return m_begin->elapsedTime(end) / 1e3;
}

void DeviceContext::setLimit(std::int64_t bytes)
{
    if (!cuda()) setCpuLimit(bytes);
}

std::int64_t DeviceContext::freeMemory() const
{
    if (!cuda()) return availableHostMemory();
    return static_cast<std::int64_t>(cudaAllocator()->getMemoryInfo(m_device.index()).first);
}

MemoryStats DeviceContext::memory() const
{
    if (!cuda()) return cpuMemory();
    const auto stats = cudaAllocator()->getDeviceStats(m_device.index());
    const auto& allocated = stats.allocated_bytes[0];  // over all pools
    return {allocated.current, allocated.peak};
}

void DeviceContext::resetPeak()
{
    if (!cuda()) resetCpuPeak();
    else cudaAllocator()->resetPeakStats(m_device.index());
}

void* DeviceContext::computeStream() const { return m_compute ? m_compute->native_handle() : nullptr; }

}  // namespace hopscope::executor
