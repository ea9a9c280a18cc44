#include "confine/confine.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/proc.h"
#include "base/wait.h"

namespace hopscope::confine {

namespace {

constexpr rlim_t leastMemory = rlim_t(1) << 30;  // where hardly any is free, the kernel decides

State& current()
{
    static State state = "not confined: this command opens no model";
    return state;
}

// An allocation beyond the machine's memory fails in this process, with a sentence, before the kernel has to end one.
[[maybe_unused]] void limitResources()
{
    constexpr rlimit noCore{0, 0};
    setrlimit(RLIMIT_CORE, &noCore);
    rlimit data{};
    const rlim_t used = static_cast<rlim_t>(base::privateMemory()),
                 available = static_cast<rlim_t>(base::availableMemory());
    if (used == 0 || available == 0 || getrlimit(RLIMIT_DATA, &data) != 0) return;
    data.rlim_cur = std::min(data.rlim_max, used + std::max(available, leastMemory));
    setrlimit(RLIMIT_DATA, &data);
}

}  // namespace

State enter(const Access& access)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)access;
    renounce("sanitizers need the rights that a confined process gives up");
#else
    limitResources();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        renounce("the kernel does not let this process give up privileges");
        return current();
    }
    std::string missing = guardFiles(access);
    if (const std::string more = guardSystemCalls(); !more.empty()) missing += (missing.empty() ? "" : "; ") + more;
    current() = missing.empty() ? "confined" : "not confined: " + missing;
#endif
    return current();
}

State tried()
{
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return "not confined: " + std::string(std::strerror(errno));
    const pid_t child = fork();
    if (child == 0) {
        const State state = enter({});
        _exit(write(ends[1], state.data(), state.size()) == static_cast<ssize_t>(state.size()) ? 0 : 1);
    }
    close(ends[1]);
    std::array<char, 4096> text{};
    const ssize_t size = child > 0 ? read(ends[0], text.data(), text.size()) : -1;
    close(ends[0]);
    if (child > 0) base::waitForEnd(child);
    return size > 0 ? State(text.data(), static_cast<std::size_t>(size))
                    : "not confined: no child process can be started";
}

const State& state() { return current(); }

void renounce(const std::string& why) { current() = "not confined: " + why; }

}  // namespace hopscope::confine
