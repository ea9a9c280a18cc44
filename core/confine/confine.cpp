#include "confine/confine.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>

#include "base/proc.h"

namespace hopscope::confine {

namespace {

constexpr rlim_t leastMemory = rlim_t(1) << 30;  // where hardly any is free, the kernel decides

State& current()
{
    static State state = "not confined: this command opens no model";
    return state;
}

// What is private to this process and may be written, in bytes; 0 if unknown.
rlim_t dataSize()
{
    std::ifstream status("/proc/self/status");
    std::string word;
    rlim_t kibibytes = 0;
    while (status >> word)
        if (word == "VmData:") status >> kibibytes;
    return kibibytes << 10;
}

// An allocation beyond what the machine has fails here, in words, before the kernel ends a process of its choice.
void limitResources()
{
    constexpr rlimit noCore{0, 0};
    setrlimit(RLIMIT_CORE, &noCore);
    rlimit data{};
    const rlim_t used = dataSize(), available = static_cast<rlim_t>(base::availableMemory());
    if (used == 0 || available == 0 || getrlimit(RLIMIT_DATA, &data) != 0) return;
    data.rlim_cur = std::min(data.rlim_max, used + std::max(available, leastMemory));
    setrlimit(RLIMIT_DATA, &data);
}

}  // namespace

State enter(const Access& access)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)access;
    renounce("sanitizers need what is taken away");
#else
    limitResources();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        renounce("the kernel does not let go of privileges");
        return current();
    }
    std::string missing = guardFiles(access);
    if (const std::string more = guardSystemCalls(); !more.empty()) missing += (missing.empty() ? "" : "; ") + more;
    current() = missing.empty() ? "confined" : "not confined: " + missing;
#endif
    return current();
}

const State& state() { return current(); }

void renounce(const std::string& why) { current() = "not confined: " + why; }

}  // namespace hopscope::confine
