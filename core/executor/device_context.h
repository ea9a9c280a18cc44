#pragma once

// Private to executor: the executing device. On a GPU host buffers are pinned, copies run on their own stream and events
// order them; on the CPU every call is the identity.

#include <optional>

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include "executor/memory.h"

namespace hopscope::executor {

class DeviceContext {
public:
    explicit DeviceContext(const std::string& device);

    [[nodiscard]] c10::Device device() const { return m_device; }
    [[nodiscard]] bool cuda() const { return m_device.is_cuda(); }

    // A buffer to gather rows into: pinned on a GPU machine.
    at::Tensor hostBuffer(at::IntArrayRef shape, at::ScalarType dtype) const;
    // Asynchronous on the copy stream; the compute stream waits for it.
    at::Tensor upload(const at::Tensor& host);
    // Asynchronous on the copy stream after what the compute stream has queued; ready after `finishDownloads`.
    at::Tensor download(const at::Tensor& onDevice);
    void finishDownloads();
    void synchronize();

    // Compute time is measured on the device: between the two calls.
    void startCompute();
    double finishCompute();  // seconds; waits for the device

    void setLimit(std::int64_t bytes);
    [[nodiscard]] std::int64_t freeMemory() const;
    [[nodiscard]] MemoryStats memory() const;
    void resetPeak();
    void* computeStream() const;  // the native handle of the stream that operators run on

private:
    c10::Device m_device = c10::Device(c10::DeviceType::CPU);
    std::optional<c10::Stream> m_compute, m_copy;
    std::optional<c10::Event> m_downloaded, m_begin;
    double m_beginSeconds = 0;
};

}  // namespace hopscope::executor
