#pragma once

// Private to executor: controls the device on which a run is executed. A GPU has three queues (CUDA streams), for
// copies to the device, computation, and copies to the host, synchronised by events. On a CPU there are no queues, and
// copies return their argument. Only the thread that runs the plan may call these functions, except for freeMemory().

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include "executor/memory.h"

namespace hopscope::executor {

enum class Lane : std::uint8_t { Upload, Compute, Download };
inline constexpr int laneCount = 3;

class DeviceContext {
public:
    // `device` is the result of resolveDevice(). LibTorch's exceptions pass through if the driver fails.
    explicit DeviceContext(const std::string& device);
    ~DeviceContext();
    DeviceContext(const DeviceContext&) = delete;
    DeviceContext& operator=(const DeviceContext&) = delete;

    [[nodiscard]] c10::Device device() const { return m_device; }
    [[nodiscard]] bool gpu() const { return !m_device.is_cpu(); }

    // Queues a copy to the device. Operators may use it after order(Upload, Compute). If `host` is pinned, it must not
    // change until the copy has finished; otherwise the call waits for the copy.
    at::Tensor upload(const at::Tensor& host);
    // Allocate device memory for several copies, and queue a copy into a part of it.
    at::Tensor allocate(at::IntArrayRef shape, at::ScalarType dtype);
    void uploadInto(const at::Tensor& onDevice, const at::Tensor& host);
    // Queues a copy into `host`, which may be read after waiting for a later event of the Download lane.
    void download(const at::Tensor& onDevice, const at::Tensor& host);
    // Copies to the host and waits for it.
    at::Tensor fetch(const at::Tensor& onDevice);

    // Makes work that is queued in `later` from now on wait for everything queued in `earlier` so far.
    void order(Lane earlier, Lane later);
    // Returns an event after everything that is queued in the lane, for waiting and for timing.
    c10::Event mark(Lane lane);
    void synchronize();

    // Limits the bytes that the process may reserve on the device during the lifetime of this object; 0: no limit.
    void setLimit(std::int64_t bytes);
    // If the allocator does not enforce the limit itself, releases cached memory beyond it, and throws
    // c10::OutOfMemoryError if tensors have exceeded it since resetPeak().
    void checkLimit();
    // Releases the allocator's cached memory.
    void emptyCache();
    // Releases pinned memory of the host that is no longer used.
    void unpin();
    [[nodiscard]] std::int64_t freeMemory() const;  // bytes, including the allocator's cached memory
    [[nodiscard]] std::int64_t totalMemory() const;
    // On a CPU: returns the bytes that a batch may take, the rest of the limit, which applies to the whole process, or,
    // without a limit, a share of the free memory. Negative if the limit is already exceeded. On a GPU: returns the bytes
    // that may be held there in all: the limit or, without one, what is free or held already.
    [[nodiscard]] double budget(std::optional<std::int64_t> limit) const;
    [[nodiscard]] MemoryStats memory() const;
    void resetPeak();
    // Returns the executed operators that have no deterministic kernel on GPUs, under LibTorch's names.
    [[nodiscard]] std::set<std::string> unsteadyOperators() const;
    [[nodiscard]] void* stream(Lane lane) const;  // the native handle

private:
    class Unsteady;
    void takeWorkspace();
    c10::Stream& lane(Lane lane) { return *m_lanes[static_cast<std::size_t>(lane)]; }

    c10::Device m_device = c10::Device(c10::DeviceType::CPU);
    std::optional<c10::DeviceGuard> m_guard;
    std::array<std::optional<c10::Stream>, laneCount> m_lanes;
    std::unique_ptr<Unsteady> m_unsteady;
    std::int64_t m_limit = 0;
    bool m_limited = true;  // the allocator enforces the limit
};

// Returns the part of a GPU's budget that batches may use while `held` bytes are held outside of them; at least 1.
double leftToBatches(double budget, double held, std::optional<std::int64_t> limit);

// Returns LibTorch's device for a name such as "cuda:1", with the device type of the accelerator. Of a list, it returns
// the first one.
c10::Device deviceNamed(const std::string& device);

}  // namespace hopscope::executor
