#pragma once

// A process that is asked to stop ends within a second, also while LibTorch loads or interprets a file: these calls cannot be
// interrupted.

#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace hopscope::base {

// Exists during a call that no stop request reaches.
class Uninterruptible {
public:
    Uninterruptible();
    ~Uninterruptible();
    Uninterruptible(const Uninterruptible&) = delete;
    Uninterruptible& operator=(const Uninterruptible&) = delete;
};

// Does the work of a destructor, on another thread, before the process ends during an Uninterruptible.
class BeforeEnding {
public:
    explicit BeforeEnding(std::function<void()> work);
    ~BeforeEnding();
    BeforeEnding(const BeforeEnding&) = delete;
    BeforeEnding& operator=(const BeforeEnding&) = delete;

private:
    std::list<std::function<void()>>::iterator m_place;
};

// After begin(), the process has 0.7 s; from then on it ends at once, with `code` and without destructors, as soon as
// an Uninterruptible exists. Its children have to end with it (PR_SET_PDEATHSIG). All other work ends by its own stop
// requests. The destructor cancels the end.
class Ending {
public:
    void begin(int code);

private:
    std::once_flag m_begun;
    std::jthread m_watch;
};

}  // namespace hopscope::base
