#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "protocol/run.h"

namespace hopscope::engine {

// Pauses a run between batches. Thread-safe.
class RunGate {
public:
    explicit RunGate(bool paused) : m_paused(paused) {}

    void pause();
    void resume();
    void step(protocol::RunStep unit);  // the run continues until one more unit has ended

    // Called on the run's thread when a batch or a stage has ended. Returns true if the run has to wait now.
    bool ended(protocol::RunStep unit);
    [[nodiscard]] bool paused();
    // Waits until the run may continue or is stopped. Returns the seconds spent waiting.
    double wait(const std::stop_token& stop);

private:
    std::mutex m_mutex;
    std::condition_variable_any m_changed;
    bool m_paused;
    bool m_stepping = false;
    protocol::RunStep m_unit = protocol::RunStep::Batch;
};

}  // namespace hopscope::engine
