#pragma once

// Private to solver: work that looks only now and then whether it shall end. It runs on a thread of its own, so that the
// caller can go on without it. The threads are few and serve one task after the other.

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

// Runs the task. True: it has ended, and what it has written is the caller's to read; an exception of it is thrown here.
// False: stopped, or at its end of time, it did not end within a tenth of a second and was left behind, or did not begin
// because of others that were. A process that exits gives those half a second to end.
bool runAside(const std::shared_ptr<Task>& task, const std::stop_token& stop,
              std::chrono::steady_clock::time_point end);

}  // namespace hopscope::solver
