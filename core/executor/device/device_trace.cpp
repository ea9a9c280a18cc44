#include "executor/device/device_trace.h"

#include <unordered_map>

#include <c10/core/Allocator.h>
#include <c10/core/CachingDeviceAllocator.h>

namespace hopscope::executor {

class DeviceTrace::Listener final : public c10::MemoryReportingInfoBase {
public:
    explicit Listener(c10::Device device) : m_device(device), m_asked(asked()) {}

    void reportMemoryUsage(void* data, std::int64_t bytes, std::size_t, std::size_t, c10::Device device) override
    {
        if (device != m_device) return;
        if (bytes > 0) taken(data);
        else given(data);
    }
    [[nodiscard]] bool memoryProfilingEnabled() const override { return true; }
    [[nodiscard]] const std::vector<AllocationTrace::Event>& events() const { return m_events; }

private:
    // Bytes requested since the process began.
    [[nodiscard]] std::int64_t asked() const
    {
        return c10::getDeviceAllocator(m_device.type())->getDeviceStats(m_device.index()).requested_bytes[0].allocated;
    }

    void taken(const void* data)
    {
        const std::int64_t now = asked();
        m_live[data] = m_blocks;
        m_events.push_back({m_blocks++, now - m_asked});
        m_asked = now;
    }

    void given(const void* data)
    {
        const auto it = m_live.find(data);
        if (it == m_live.end()) return;
        m_events.push_back({it->second, 0});
        m_live.erase(it);
    }

    c10::Device m_device;
    std::int64_t m_asked;
    std::vector<AllocationTrace::Event> m_events;
    std::unordered_map<const void*, std::int32_t> m_live;
    std::int32_t m_blocks = 0;
};

DeviceTrace::DeviceTrace(c10::Device device)
    : m_listener(std::make_shared<Listener>(device)),
      m_guard(c10::DebugInfoKind::PROFILER_STATE, m_listener)
{}

const std::vector<AllocationTrace::Event>& DeviceTrace::events() const { return m_listener->events(); }

}  // namespace hopscope::executor
