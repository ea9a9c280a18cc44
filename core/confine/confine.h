#pragma once

// Provides the sandbox of a process that opens a model. It is entered before the first byte of the file is read.
// Afterwards the process lacks rights that evaluating a model does not need. Landlock (landlock(7)) guards files;
// seccomp(2) guards the network, other processes and further services of the kernel; RLIMIT_DATA limits the memory.

#include <string>
#include <vector>

namespace hopscope::confine {

// The files that remain accessible, in addition to the program, its libraries, GPUs and Linux's facts about the machine.
// Names may be links.
struct Access {
    std::vector<std::string>
        read;  // files, or folders with all below them and the files that links directly in them name; missing: skipped
    std::vector<std::string> write;  // folders in which files, folders and links may be created, changed and removed
    std::vector<std::string>
        rearrange;  // folders in which folders may be created and renamed, and removed if they are empty
};

// "confined", or "not confined: " and the reason, as in "not confined: this kernel has no Landlock".
using State = std::string;

// Confines this process and its future children. Call it while the process has a single thread: other threads would
// keep their rights. It cannot be undone; a second call takes away more.
State enter(const Access& access);
// Returns the result that enter() would have. A child process tries it, so this process does not change.
State tried();
// Returns the result of the last enter() or renounce() in this process or in one that it was forked from. Before the
// first call, it is "not confined: this command opens no model".
const State& state();
// Declares that this process is not confined. Call it instead of enter(); state() then gives the reason.
void renounce(const std::string& why);

// Perform two of the steps of enter(). Return an empty text on success, and otherwise the reason for the failure.
std::string guardFiles(const Access& access);
std::string guardSystemCalls();

}  // namespace hopscope::confine
