#pragma once

// Takes rights away from this process before it reads a file of somebody else: what is not needed for evaluating a model cannot
// be done any more, whatever the file makes the process do. Linux's Landlock (landlock(7)) guards files, the network and other
// processes, seccomp(2) the kernel's other services, and limits the memory.

#include <string>
#include <vector>

namespace hopscope::confine {

// What remains reachable beside the program, its libraries and what Linux tells about the machine. All names may be links.
struct Access {
    std::vector<std::string> read;       // files, or folders with all that is below; missing ones are left out
    std::vector<std::string> write;      // folders, in which everything may be made, changed and removed
    std::vector<std::string> rearrange;  // folders, in which folders may be renamed, and removed where they are empty
};

// "confined", or why and in what the process is not: "not confined: this kernel has no Landlock".
using State = std::string;

// From now on, and for all children. Call it while the process has a single thread: others would keep their rights. Cannot be
// undone; a second call takes away more. Costs about a millisecond.
State enter(const Access& access);
// What enter() would answer, found out by a child. For a process that stays as it is.
State tried();
// The answer of the last enter() of this process or of one that it was forked from; "not confined: ..." before.
const State& state();
// Instead of enter(), with the reason.
void renounce(const std::string& why);

// Landlock and seccomp, which enter() is made of: empty, or what is missing.
std::string guardFiles(const Access& access);
std::string guardSystemCalls();

}  // namespace hopscope::confine
