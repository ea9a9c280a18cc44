#pragma once

// Private to executor: what the calling thread takes from a GPU's allocator and gives back.

#include <memory>
#include <vector>

#include <c10/util/ThreadLocalDebugInfo.h>

#include "executor/device_context.h"

namespace hopscope::executor {

// Listens while it is alive, by the hook that LibTorch has for profilers. Bytes are those asked for: the hook tells rounded
// ones, but the allocator's statistics count both.
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
