#pragma once

// Waits for child processes.

#include <sys/wait.h>

#include <cerrno>

namespace hopscope::base {

// Waits until a child of this process has ended, even if signals arrive. Returns its status as waitpid() gives it; 0 if
// there is no such child.
inline int waitForEnd(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return status;
}

}  // namespace hopscope::base
