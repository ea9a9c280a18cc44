#pragma once

// Private to solver: runs work that rarely checks whether it must end on a separate thread, so that the caller can
// continue without it. A few threads serve all tasks.

#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>

namespace hopscope::solver {

class Task {
public:
    virtual ~Task() = default;
    // Does the work. Must not use anything that belongs to the caller, who may have abandoned the task.
    virtual void run() = 0;
    void interrupt() { m_interrupted = true; }
    // True if the task should end as soon as it can.
    [[nodiscard]] bool interrupted() const { return m_interrupted; }

private:
    std::atomic<bool> m_interrupted = false;
};

// Runs the task and rethrows its exception. True: the task has ended, and its results can be read. False: it did not
// end within a tenth of a second after a stop or its deadline and was abandoned, or it did not begin because abandoned
// tasks occupy all threads. A process that exits gives abandoned tasks half a second to end.
bool runAside(const std::shared_ptr<Task>& task, const std::stop_token& stop,
              std::chrono::steady_clock::time_point end);

}  // namespace hopscope::solver
