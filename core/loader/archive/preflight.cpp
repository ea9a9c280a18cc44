#include "loader/archive/preflight.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <new>

#include "base/units.h"
#include "base/wait.h"

namespace hopscope::loader {

namespace {

void keepQuiet()
{
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (nowhere >= 0) dup2(nowhere, stream);
}

constexpr int tooLittleMemory = 86;

// The address space of this process; 0 if unknown.
std::uint64_t addressSpace()
{
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

int exitCodeOf(const std::function<void()>& work)
{
    try {
        work();
    } catch (const std::bad_alloc&) {
        return tooLittleMemory;
    }
    return 0;
}

// A crash is expected here: no core file, no handler of this process, and no life after the parent's. `used`: bytes of memory.
void becomeExpendable(const ChildLimits& limits, std::uint64_t used)
{
    const rlimit memory{used + limits.bytes, used + limits.bytes};
    if (used > 0) setrlimit(RLIMIT_AS, &memory);
    constexpr rlimit noCore{0, 0};
    setrlimit(RLIMIT_CORE, &noCore);
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGINT, SIGTERM, SIGALRM})
        std::signal(signal, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(limits.seconds);
}

}  // namespace

base::Status survives(const std::string& path, const std::function<void()>& work, const ChildLimits& limits)
{
    const std::uint64_t used = addressSpace();
    const pid_t child = fork();
    if (child < 0)
        return base::fail(base::ErrorCode::Resources, std::string("cannot start a child process: ") + strerror(errno));
    if (child == 0) {
        keepQuiet();
        becomeExpendable(limits, used);
        _exit(exitCodeOf(work));
    }
    const int status = base::waitForEnd(child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == tooLittleMemory)
        return base::fail(base::ErrorCode::Resources,
                          "PyTorch's reader takes more than " + base::formatBytes(static_cast<double>(limits.bytes)) +
                              " of memory for " + path,
                          "the file is damaged or malicious: export the model again", path);
    if (!WIFSIGNALED(status)) return {};
    // Nothing in a file does that.
    if (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM)
        return base::fail(base::ErrorCode::Resources,
                          "the process that was to try reading " + path + " was killed (signal " +
                              std::to_string(WTERMSIG(status)) + ")",
                          "was there too little memory? Close other programs and try again", path);
    if (WTERMSIG(status) == SIGALRM)
        return base::fail(base::ErrorCode::Input,
                          "PyTorch's reader did not finish reading " + path + " within " +
                              std::to_string(limits.seconds) + " s",
                          "the file is damaged or malicious: export the model again", path);
    return base::fail(base::ErrorCode::Input,
                      "PyTorch's reader crashes on " + path + " (signal " + std::to_string(WTERMSIG(status)) + ")",
                      "the file is damaged or malicious: export the model again", path);
}

}  // namespace hopscope::loader
