#pragma once

// Private to solver: work that rarely checks whether it must end. It runs on a separate thread, so that the caller can
// continue without it. A few threads serve all tasks.

#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>

namespace hopscope::solver {

class Task {
public:
    virtual ~Task() = default;
    // Uses nothing that belongs to the caller, who may be gone.
    virtual void run() = 0;
    void interrupt() { m_interrupted = true; }
    // The task ends as soon as it can.
    [[nodiscard]] bool interrupted() const { return m_interrupted; }

private:
    std::atomic<bool> m_interrupted = false;
};

// Runs the task. True: it has ended, and its results can be read; rethrows its exception. False: it did not end within
// a tenth of a second after a stop or its deadline and was abandoned, or did not begin because other abandoned tasks
// occupy the threads. A process that exits gives those half a second to end.
bool runAside(const std::shared_ptr<Task>& task, const std::stop_token& stop,
              std::chrono::steady_clock::time_point end);

}  // namespace hopscope::solver
