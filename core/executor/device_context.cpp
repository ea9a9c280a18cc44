#include "executor/device_context.h"

#include <fstream>
#include <string>

#include <ATen/Context.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "executor/accelerator.h"

namespace hopscope::executor {

using c10::impl::VirtualGuardImpl;

namespace {

std::int64_t availableHostMemory()
{
    std::ifstream file("/proc/meminfo");
    std::string name, unit;
    std::int64_t kilobytes = 0;
    while (file >> name >> kilobytes >> unit)
        if (name == "MemAvailable:") return kilobytes * 1024;
    return std::int64_t{1} << 30;
}

c10::DeviceAllocator& allocator() { return *c10::getDeviceAllocator(accelerator().type()); }

}  // namespace

c10::Device deviceNamed(const std::string& device)
{
    if (device == "cpu") return {c10::DeviceType::CPU};
    const std::size_t colon = device.find(':');
    const int index = colon == std::string::npos ? 0 : std::stoi(device.substr(colon + 1));
    return {accelerator().type(), static_cast<c10::DeviceIndex>(index)};
}

// The same bits from run to run, and no coarser arithmetic than the model's own: LibTorch's switches, put back afterwards.
class DeviceContext::Exactness {
public:
    Exactness()
    {
        c.setDeterministicAlgorithms(true, /*warn_only=*/true);
        c.setDeterministicFillUninitializedMemory(false);
        c.setDeterministicCuDNN(true);
        c.setBenchmarkCuDNN(false);
        c.setAllowTF32CuBLAS(false);
        c.setAllowTF32CuDNN(false);
        c.setAllowFP16ReductionCuBLAS(false, false);
        c.setAllowBF16ReductionCuBLAS(false, false);
    }
    ~Exactness()
    {
        c.setDeterministicAlgorithms(deterministic, warnOnly);
        c.setDeterministicFillUninitializedMemory(fill);
        c.setDeterministicCuDNN(cudnn);
        c.setBenchmarkCuDNN(benchmark);
        c.setAllowTF32CuBLAS(tf32);
        c.setAllowTF32CuDNN(tf32Cudnn);
        c.setAllowFP16ReductionCuBLAS(reduced(half), splitK(half));
        c.setAllowBF16ReductionCuBLAS(reduced(bfloat), splitK(bfloat));
    }
    Exactness(const Exactness&) = delete;
    Exactness& operator=(const Exactness&) = delete;

private:
    using Option = at::CuBLASReductionOption;
    static bool reduced(Option o) { return o == Option::AllowReducedPrecisionWithSplitK; }
    static bool splitK(Option o) { return o != Option::DisallowReducedPrecisionDisallowSplitK; }

    at::Context& c = at::globalContext();
    bool deterministic = c.deterministicAlgorithms(), warnOnly = c.deterministicAlgorithmsWarnOnly();
    bool fill = c.deterministicFillUninitializedMemory();
    bool cudnn = c.deterministicCuDNN(), benchmark = c.benchmarkCuDNN();
    bool tf32 = c.allowTF32CuBLAS(), tf32Cudnn = c.allowTF32CuDNN();
    Option half = c.allowFP16ReductionCuBLAS(), bfloat = c.allowBF16ReductionCuBLAS();
};

DeviceContext::DeviceContext(const std::string& device) : m_device(deviceNamed(device))
{
    if (!gpu()) return;
    accelerator().initialise();
    m_guard.emplace(m_device);
    m_exactness = std::make_unique<Exactness>();
    const VirtualGuardImpl guard(m_device.type());
    m_lanes = {guard.getStreamFromGlobalPool(m_device, false), guard.getDefaultStream(m_device),
               guard.getStreamFromGlobalPool(m_device, false)};
}

// What LibTorch has kept for later is there for the next run, and for other programs.
DeviceContext::~DeviceContext()
{
    if (!gpu()) return;
    try {
        synchronize();
        emptyCache();
    } catch (const std::exception&) {  // a device that has failed has said so before
    }
}

at::Tensor DeviceContext::upload(const at::Tensor& host)
{
    if (!gpu()) return host;
    const c10::StreamGuard onUploads(lane(Lane::Upload));
    at::Tensor there = at::empty_like(host, host.options().device(m_device).pinned_memory(false));
    there.copy_(host, /*non_blocking=*/host.is_pinned());
    there.record_stream(lane(Lane::Compute));
    return there;
}

void DeviceContext::download(const at::Tensor& onDevice, const at::Tensor& host)
{
    const c10::StreamGuard onDownloads(lane(Lane::Download));
    onDevice.record_stream(lane(Lane::Download));
    host.copy_(onDevice, /*non_blocking=*/host.is_pinned());
}

at::Tensor DeviceContext::fetch(const at::Tensor& onDevice) { return gpu() ? onDevice.cpu() : onDevice; }

void DeviceContext::order(Lane earlier, Lane later)
{
    if (!gpu()) return;
    c10::Event reached(m_device.type());
    reached.record(lane(earlier));
    reached.block(lane(later));
}

c10::Event DeviceContext::mark(Lane at)
{
    c10::Event reached(m_device.type(), c10::EventFlag::BACKEND_DEFAULT);
    reached.record(lane(at));
    return reached;
}

void DeviceContext::synchronize()
{
    if (!gpu()) return;
    const VirtualGuardImpl guard(m_device.type());
    for (const auto& stream : m_lanes) guard.synchronizeStream(*stream);
}

void DeviceContext::setLimit(std::int64_t bytes)
{
    if (!gpu()) return setCpuLimit(bytes);
    m_limit = bytes;
    m_limited = accelerator().limitMemory(m_device.index(), bytes);
}

void DeviceContext::checkLimit()
{
    if (m_limited || m_limit == 0 || memory().reserved <= m_limit) return;
    synchronize();
    emptyCache();
    const std::int64_t reserved = memory().reserved;
    if (reserved > m_limit)
        C10_THROW_ERROR(OutOfMemoryError, std::to_string(reserved) + " bytes are reserved, beyond the limit");
}

void DeviceContext::emptyCache()
{
    if (gpu()) allocator().emptyCache();
}

std::int64_t DeviceContext::freeMemory() const
{
    if (!gpu()) return availableHostMemory();
    const MemoryStats here = memory();
    return static_cast<std::int64_t>(allocator().getMemoryInfo(m_device.index()).first) + here.reserved - here.current;
}

MemoryStats DeviceContext::memory() const
{
    if (!gpu()) return cpuMemory();
    const auto stats = allocator().getDeviceStats(m_device.index());
    const auto& allocated = stats.allocated_bytes[0];  // over all pools
    const auto& reserved = stats.reserved_bytes[0];
    return {allocated.current, allocated.peak, reserved.current, reserved.peak};
}

void DeviceContext::resetPeak()
{
    if (!gpu()) resetCpuPeak();
    else allocator().resetPeakStats(m_device.index());
}

void* DeviceContext::stream(Lane at) const
{
    const auto& found = m_lanes[static_cast<std::size_t>(at)];
    return found ? found->native_handle() : nullptr;
}

}  // namespace hopscope::executor
