#pragma once

// Private to executor: the executing device of one run. A GPU has three queues: copies to it, computing, copies from it;
// events order them. Everything here is called by the thread that runs the plan, except `freeMemory`. On the CPU there is
// one queue, the calling thread, and copies are the identity.

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
    // `device` is resolved. Throws what LibTorch throws where the driver fails.
    explicit DeviceContext(const std::string& device);
    ~DeviceContext();
    DeviceContext(const DeviceContext&) = delete;
    DeviceContext& operator=(const DeviceContext&) = delete;

    [[nodiscard]] c10::Device device() const { return m_device; }
    [[nodiscard]] bool gpu() const { return !m_device.is_cpu(); }

    // Queues a copy to the device; what is queued for computing after `order(Upload, Compute)` sees it. `host` must stay
    // as it is until the copy has been waited for, if it is pinned; else the call waits.
    at::Tensor upload(const at::Tensor& host);
    // Memory for such copies, and one into a part of it.
    at::Tensor allocate(at::IntArrayRef shape, at::ScalarType dtype);
    void uploadInto(const at::Tensor& onDevice, const at::Tensor& host);
    // Queues a copy into `host`, which may be read after an event of the Download lane has been waited for.
    void download(const at::Tensor& onDevice, const at::Tensor& host);
    // A copy on the host, at once.
    at::Tensor fetch(const at::Tensor& onDevice);

    // Queued work of `later` from here on waits for what `earlier` has been given so far.
    void order(Lane earlier, Lane later);
    // Where a lane is: can be waited for, and timed.
    c10::Event mark(Lane lane);
    void synchronize();

    // What the process may reserve on the device, for as long as this lives; 0: no limit.
    void setLimit(std::int64_t bytes);
    // Where the allocator does not see to it: gives back what it keeps beyond the limit, and throws c10::OutOfMemoryError
    // if tensors have taken more since `resetPeak`.
    void checkLimit();
    // Gives back what the allocator keeps for later.
    void emptyCache();
    [[nodiscard]] std::int64_t freeMemory() const;  // what LibTorch keeps for later is free, too
    [[nodiscard]] MemoryStats memory() const;
    void resetPeak();
    // What has been run and has no kernel on GPUs that gives the same bits each time, in LibTorch's words.
    [[nodiscard]] std::set<std::string> unsteadyOperators() const;
    [[nodiscard]] void* stream(Lane lane) const;  // the native handle

private:
    class Unsteady;
    c10::Stream& lane(Lane lane) { return *m_lanes[static_cast<std::size_t>(lane)]; }

    c10::Device m_device = c10::Device(c10::DeviceType::CPU);
    std::optional<c10::DeviceGuard> m_guard;
    std::array<std::optional<c10::Stream>, laneCount> m_lanes;
    std::unique_ptr<Unsteady> m_unsteady;
    std::int64_t m_limit = 0;
    bool m_limited = true;  // by the allocator itself
};

// "cuda:1" as LibTorch's device, of the accelerator's type.
c10::Device deviceNamed(const std::string& device);

}  // namespace hopscope::executor
