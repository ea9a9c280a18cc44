#pragma once

// Ends a process about a second after a stop request, even while LibTorch loads or interprets a file in a call that
// cannot be interrupted.

#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace hopscope::base {

// Declares, for the lifetime of the object, that a call does not react to stop requests.
class Uninterruptible {
public:
    Uninterruptible();
    ~Uninterruptible();
    Uninterruptible(const Uninterruptible&) = delete;
    Uninterruptible& operator=(const Uninterruptible&) = delete;
};

// Registers the work of a destructor. If the process ends during an Uninterruptible, another thread does this work
// first.
class BeforeEnding {
public:
    explicit BeforeEnding(std::function<void()> work);
    ~BeforeEnding();
    BeforeEnding(const BeforeEnding&) = delete;
    BeforeEnding& operator=(const BeforeEnding&) = delete;

private:
    std::list<std::function<void()>>::iterator m_place;
};

// Looks for an Uninterruptible every 20 ms, from 0.7 s after begin() on. If one exists, ends the process with exit code
// `code`, without running destructors. Child processes must end with their parent (PR_SET_PDEATHSIG). All other work
// reacts to its own stop requests. The destructor cancels the request.
class Ending {
public:
    void begin(int code);

private:
    std::once_flag m_begun;
    std::jthread m_watch;
};

}  // namespace hopscope::base
