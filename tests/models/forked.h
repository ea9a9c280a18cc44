#pragma once

// Work in child processes forked from one that has LibTorch loaded already: a crash or a hang is one result among
// others.

#include <cstdint>
#include <functional>
#include <string>

namespace hopscope::models {

struct ChildResult {
    int exitCode = -1;  // -1: ended by `signal`
    int signal = 0;
    double seconds = 0;
    std::string text;  // what the work returned; cut at 16,000 bytes; survives a crash if set through `say`
};

struct Work {
    // Returns the child's exit code; `say` replaces the text.
    std::function<int(std::size_t job, const std::function<void(const std::string&)>& say)> run;
    std::function<void(std::size_t job, const ChildResult& result)> finished;  // in the parent, as they end
};

struct Limits {
    int children = 1;         // at a time
    unsigned seconds = 600;   // then SIGALRM
    std::int64_t memory = 0;  // bytes of address space; 0: no limit
};

// Jobs 0 .. count-1. The caller must not have started threads.
void runForked(std::size_t count, const Limits& limits, const Work& work);

}  // namespace hopscope::models
