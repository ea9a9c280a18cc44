#pragma once

// Private to executor: records the calling thread's allocations on a GPU.

#include <memory>
#include <vector>

#include <c10/util/ThreadLocalDebugInfo.h>

#include "executor/device/device_context.h"

namespace hopscope::executor {

// Records allocations during its lifetime, with LibTorch's hook for profilers. The hook reports rounded sizes; the
// requested sizes are found with the help of the allocator's statistics.
class DeviceTrace {
public:
    explicit DeviceTrace(c10::Device device);
    [[nodiscard]] const std::vector<AllocationTrace::Event>& events() const;

private:
    class Listener;
    std::shared_ptr<Listener> m_listener;
    c10::DebugInfoGuard m_guard;
};

}  // namespace hopscope::executor
