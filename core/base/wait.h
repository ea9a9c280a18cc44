#pragma once

// Waiting for child processes.

#include <sys/wait.h>

#include <cerrno>

namespace hopscope::base {

// Until a child of this process has ended, whatever signals arrive meanwhile; its status as waitpid() has it.
inline int waitForEnd(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return status;
}

}  // namespace hopscope::base
