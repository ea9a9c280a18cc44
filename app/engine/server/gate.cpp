#include "server/gate.h"

#include <chrono>

namespace hopscope::engine {

void RunGate::pause()
{
    const std::lock_guard lock(m_mutex);
    m_paused = true;
    m_stepping = false;
}

void RunGate::resume()
{
    const std::lock_guard lock(m_mutex);
    m_paused = m_stepping = false;
    m_changed.notify_all();
}

void RunGate::step(protocol::RunStep unit)
{
    const std::lock_guard lock(m_mutex);
    m_paused = false;
    m_stepping = true;
    m_unit = unit;
    m_changed.notify_all();
}

bool RunGate::ended(protocol::RunStep unit)
{
    const std::lock_guard lock(m_mutex);
    if (m_stepping && m_unit == unit) {
        m_paused = true;
        m_stepping = false;
    }
    return m_paused;
}

bool RunGate::paused()
{
    const std::lock_guard lock(m_mutex);
    return m_paused;
}

double RunGate::wait(const std::stop_token& stop)
{
    const auto began = std::chrono::steady_clock::now();
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, stop, [&] { return !m_paused; });
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

}  // namespace hopscope::engine
