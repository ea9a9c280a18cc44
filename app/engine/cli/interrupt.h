#pragma once

#include <stop_token>
#include <thread>

#include "base/ending.h"

namespace hopscope::engine {

// Turns SIGINT, SIGTERM and SIGHUP into a stop request for as long as it lives; what does not hear it ends the process with
// 130 (base/ending.h). A second signal ends the process at once. Child processes get the default handling back. At most one instance at a time.
class Interrupt {
public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    [[nodiscard]] std::stop_token token() const { return m_source.get_token(); }

private:
    std::stop_source m_source;
    base::Ending m_ending;
    std::thread m_thread;

    void watch();
};

}  // namespace hopscope::engine
