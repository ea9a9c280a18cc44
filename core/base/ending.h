#pragma once

// A process that is asked to stop ends within a second, also while LibTorch loads or interprets a file: these calls cannot be
// interrupted.

#include <mutex>
#include <thread>

namespace hopscope::base {

// Lives around a call that no stop request reaches and that writes nothing which would have to be removed.
class Uninterruptible {
public:
    Uninterruptible();
    ~Uninterruptible();
    Uninterruptible(const Uninterruptible&) = delete;
    Uninterruptible& operator=(const Uninterruptible&) = delete;
};

// After begin(), the process has 0.7 s; from then on it ends at once, with `code` and without destructors, whenever an
// Uninterruptible lives. Its children have to end with it (PR_SET_PDEATHSIG). All else ends by its own stop requests. The
// destructor calls it off.
class Ending {
public:
    void begin(int code);

private:
    std::once_flag m_begun;
    std::jthread m_watch;
};

}  // namespace hopscope::base
