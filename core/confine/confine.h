#pragma once

// The sandbox of a process that opens a model. It is entered before the first byte of the file is read. Afterwards the
// process has only the rights that evaluating a model needs. Landlock (landlock(7)) guards files, the network and other
// processes; seccomp(2) guards the other services of the kernel; RLIMIT_DATA limits the memory.

#include <string>
#include <vector>

namespace hopscope::confine {

// The files that remain accessible, in addition to the program, its libraries and Linux's facts about the machine.
// Names may be links.
struct Access {
    std::vector<std::string> read;       // files, or folders with all that is below; missing ones are left out
    std::vector<std::string> write;      // folders in which everything may be created, changed and removed
    std::vector<std::string> rearrange;  // folders in which folders may be renamed, and removed if they are empty
};

// "confined", or "not confined: " and the reason, as in "not confined: this kernel has no Landlock".
using State = std::string;

// Confines this process and its future children. Call it while the process has a single thread: other threads would keep
// their rights. It cannot be undone; a second call takes away more. It costs about a millisecond.
State enter(const Access& access);
// The result that enter() would have. A child tries it; this process does not change.
State tried();
// The result of the last enter() or renounce() in this process or in one that it was forked from. Before the first call
// it is "not confined: this command opens no model".
const State& state();
// To be called instead of enter(); state() then gives the reason.
void renounce(const std::string& why);

// The two parts of enter(). An empty text means success; otherwise it is the reason.
std::string guardFiles(const Access& access);
std::string guardSystemCalls();

}  // namespace hopscope::confine
