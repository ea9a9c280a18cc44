#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "protocol/run.h"

namespace hopscope::engine {

// Where a run waits while it is paused: between batches. Thread-safe.
class RunGate {
public:
    explicit RunGate(bool paused) : m_paused(paused) {}

    void pause();
    void resume();
    void step(protocol::RunStep unit);  // goes on until one more has ended

    // On the run's thread: a batch or a stage has ended. Whether the run has to wait now.
    bool ended(protocol::RunStep unit);
    [[nodiscard]] bool paused();
    // Returns when the run may go on, or at a stop. The seconds that this took.
    double wait(const std::stop_token& stop);

private:
    std::mutex m_mutex;
    std::condition_variable_any m_changed;
    bool m_paused;
    bool m_stepping = false;
    protocol::RunStep m_unit = protocol::RunStep::Batch;
};

}  // namespace hopscope::engine
