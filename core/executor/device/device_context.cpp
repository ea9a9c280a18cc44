#include "executor/device/device_context.h"

#include <atomic>
#include <string>

#include <ATen/Context.h>
#include <ATen/core/CachingHostAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include "base/proc.h"
#include "executor/device/accelerator.h"
#include "executor/measure.h"

namespace hopscope::executor {

using c10::impl::VirtualGuardImpl;

namespace {

constexpr double gpuShare = 1 / 1.5;  // of the memory that nothing else takes, for batches without a limit
constexpr double cpuShare = 1 / 4.0;

std::atomic<bool> lost = false, started = false;

c10::DeviceAllocator& allocator() { return *c10::getDeviceAllocator(accelerator().type()); }

}  // namespace

c10::Device deviceNamed(const std::string& device)
{
    if (device == "cpu") return {c10::DeviceType::CPU};
    const std::size_t colon = device.find(':');
    const int index = colon == std::string::npos ? 0 : std::stoi(device.substr(colon + 1));
    return {accelerator().type(), static_cast<c10::DeviceIndex>(index)};
}

namespace {

// Ensures the same bits from run to run, and no coarser arithmetic than the model's own. Applies to the rest of the
// process, in which nothing needs other settings. Products of half types may be split along their sums: the parts are
// summed in float32, in the same order every time with cuBLAS's workspace of fixed size, and cuBLAS, which LibTorch
// prefers to cuBLASLt, refuses products for which splitting is ruled out.
void computeExactly()
{
    at::Context& c = at::globalContext();
    c.setDeterministicAlgorithms(true, /*warn_only=*/true);
    c.setDeterministicFillUninitializedMemory(false);
    c.setDeterministicCuDNN(true);
    c.setBenchmarkCuDNN(false);
    c.setAllowTF32CuBLAS(false);
    c.setAllowTF32CuDNN(false);
    c.setAllowFP16ReductionCuBLAS(false, /*allow_splitk=*/true);
    c.setAllowBF16ReductionCuBLAS(false, /*allow_splitk=*/true);
}

}  // namespace

// Operators that LibTorch warns of: the order of their sums differs from run to run.
class DeviceContext::Unsteady final : public c10::WarningHandler {
public:
    void process(const c10::Warning& warning) override
    {
        const std::string& text = warning.msg();
        if (text.find("deterministic") == std::string::npos) return WarningHandler::process(warning);
        names.insert(text.substr(0, text.find(' ')));
    }
    std::set<std::string> names;
    c10::WarningUtils::WarningHandlerGuard guard{this};
};

DeviceContext::DeviceContext(const std::string& device) : m_device(deviceNamed(device))
{
    if (!gpu()) return;
    accelerator().initialise();
    m_guard.emplace(m_device);
    computeExactly();
    m_unsteady = std::make_unique<Unsteady>();
    const VirtualGuardImpl guard(m_device.type());
    m_lanes = {guard.getStreamFromGlobalPool(m_device, false), guard.getDefaultStream(m_device),
               guard.getStreamFromGlobalPool(m_device, false)};
    takeWorkspace();
    started = true;
}

// The first matrix product on a stream allocates cuBLAS's workspace of 32 MiB, which stays until the process ends. It is no
// part of the batch that happens to come first.
void DeviceContext::takeWorkspace()
{
    const c10::StreamGuard computing(lane(Lane::Compute));
    const at::Tensor one = at::zeros({1, 1}, at::TensorOptions().dtype(at::kFloat).device(m_device));
    at::mm(one, one);
}

// Makes the memory that LibTorch has cached, on the device and pinned on the host, available to the next run, and to other
// programs.
DeviceContext::~DeviceContext()
{
    if (!gpu()) return;
    try {
        synchronize();
        emptyCache();
        unpin();
    } catch (const std::exception&) {  // the failed operation has raised this before
        lost = true;
    }
}

bool deviceLost() { return lost; }

bool gpuStarted() { return started; }

at::Tensor DeviceContext::upload(const at::Tensor& host)
{
    if (!gpu()) return host;
    at::Tensor there = allocate(host.sizes(), host.scalar_type());
    uploadInto(there, host);
    return there;
}

at::Tensor DeviceContext::allocate(at::IntArrayRef shape, at::ScalarType dtype)
{
    const c10::StreamGuard onUploads(lane(Lane::Upload));
    at::Tensor there = at::empty(shape, at::TensorOptions().dtype(dtype).device(m_device));
    there.record_stream(lane(Lane::Compute));
    return there;
}

void DeviceContext::uploadInto(const at::Tensor& onDevice, const at::Tensor& host)
{
    const c10::StreamGuard onUploads(lane(Lane::Upload));
    onDevice.copy_(host, /*non_blocking=*/host.is_pinned());
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

void DeviceContext::order(const c10::Event& earlier, Lane later) { earlier.block(lane(later)); }

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
    if (bytes == 0 && m_limit == 0) return;  // a limit that the user has set for LibTorch stays
    m_limit = bytes;
    m_limited = accelerator().limitMemory(m_device.index(), bytes);
}

void DeviceContext::checkLimit()
{
    const MemoryStats most = memory();
    if (m_limited || m_limit == 0 || most.reservedPeak <= m_limit) return;
    synchronize();
    emptyCache();
    if (most.peak > m_limit || memory().reserved > m_limit)
        C10_THROW_ERROR(OutOfMemoryError, std::to_string(most.reservedPeak) + " bytes were reserved, beyond the limit");
}

void DeviceContext::emptyCache()
{
    if (gpu()) allocator().emptyCache();
}

void DeviceContext::unpin()
{
    if (gpu()) at::getHostAllocator(m_device.type())->empty_cache();
}

std::int64_t DeviceContext::freeMemory() const
{
    if (!gpu()) {
        const std::int64_t known = base::availableMemory();
        return known > 0 ? known : std::int64_t{1} << 30;
    }
    const MemoryStats here = memory();
    return static_cast<std::int64_t>(allocator().getMemoryInfo(m_device.index()).first) + here.reserved - here.current;
}

std::int64_t DeviceContext::totalMemory() const
{
    if (!gpu()) return base::totalMemory();
    return static_cast<std::int64_t>(allocator().getMemoryInfo(m_device.index()).second);
}

double leftToBatches(double budget, double held, std::optional<std::int64_t> limit)
{
    return std::max((budget - held) * (limit ? 1 : gpuShare), 1.0);
}

double DeviceContext::budget(std::optional<std::int64_t> limit) const
{
    if (gpu()) return static_cast<double>(limit.value_or(freeMemory() + memory().current));
    const double bytes = limit ? static_cast<double>(tensorLimit(*limit) - cpuMemory().current)
                               : static_cast<double>(freeMemory()) * cpuShare;
    return std::min(bytes, cpuBatchBytes);
}

MemoryStats DeviceContext::memory() const
{
    if (!gpu()) return cpuMemory();
    const auto stats = allocator().getDeviceStats(m_device.index());
    const auto& allocated = stats.allocated_bytes[0];  // over all pools
    const auto& reserved = stats.reserved_bytes[0];
    return {.current = allocated.current,
            .peak = allocated.peak,
            .reserved = reserved.current,
            .reservedPeak = reserved.peak};
}

void DeviceContext::resetPeak()
{
    if (!gpu()) resetCpuPeak();
    else allocator().resetPeakStats(m_device.index());
}

std::set<std::string> DeviceContext::unsteadyOperators() const
{
    return m_unsteady ? m_unsteady->names : std::set<std::string>();
}

void* DeviceContext::stream(Lane at) const
{
    const auto& found = m_lanes[static_cast<std::size_t>(at)];
    return found ? found->native_handle() : nullptr;
}

}  // namespace hopscope::executor
