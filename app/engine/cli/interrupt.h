#pragma once

#include <csignal>
#include <stop_token>
#include <thread>

#include "base/ending.h"

namespace hopscope::engine {

// Turns SIGINT, SIGTERM and SIGHUP into a stop request during its lifetime. If a call cannot be interrupted, the
// process exits with 130 (base/ending.h). A second signal ends the process at once. Child processes regain the default
// handling. At most one instance may exist at a time.
class Interrupt {
public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    [[nodiscard]] std::stop_token token() const { return m_source.get_token(); }

private:
    void watch();

    std::stop_source m_source;
    base::Ending m_ending;
    std::thread m_thread;
};

// Blocks these signals during its lifetime, between two Interrupts.
class SignalsHeld {
public:
    SignalsHeld();
    ~SignalsHeld();
    SignalsHeld(const SignalsHeld&) = delete;
    SignalsHeld& operator=(const SignalsHeld&) = delete;

private:
    sigset_t m_before{};
};

}  // namespace hopscope::engine
