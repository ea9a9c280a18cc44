#pragma once

// Child processes that begin with LibTorch loaded and prepared (loader/prepare.h). A program takes a quarter of a second to load it, mostly to register
// its operators, and a fork of a program that has done so takes a few milliseconds. It can be forked only while it has
// a single thread, since locks of other threads remain locked in a fork forever. Therefore a program forks a server
// before its first thread, and the server forks children on request.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hopscope::verify {

// `handed`: the child's own descriptors, in the order in which they were given.
using ChildMain = int (*)(const std::string& argument, const std::vector<int>& handed);
using ChildBeginning = void (*)();

// Call once, while the program has one thread. The server only waits, and ends with the program in any case. Its
// children call `main` and exit with its result. Before they open a file they call `first`, if it is given. If no
// server can be started, forkChild() returns nullopt.
void beginForkServer(ChildMain main, ChildBeginning first = nullptr);

// The way in which a child has ended.
struct ChildEnd {
    int status = 0;           // as waitpid() returns it
    std::int64_t peak = 0;    // bytes: the highest anonymous resident memory observed
    bool overMemory = false;  // it was killed because of its limit
};

// A child of the server, in a process group of its own, with no signals blocked. Its standard input is empty. It is killed
// if this program dies, and with this object. A process between the server and the child watches it, so that this program needs
// no right to see or to signal it.
class ForkedChild {
public:
    ForkedChild(ForkedChild&& other) noexcept;
    ForkedChild(const ForkedChild&) = delete;
    ForkedChild& operator=(const ForkedChild&) = delete;
    ForkedChild& operator=(ForkedChild&&) = delete;
    ~ForkedChild();

    [[nodiscard]] pid_t pid() const { return m_pid; }
    // Waits at most this long for the child to end; nullopt if it has not. If the server ends first, and all of its
    // children with it, the result is that of a killed child.
    [[nodiscard]] std::optional<ChildEnd> ended(std::chrono::milliseconds within);
    // Ends it and waits for that.
    ChildEnd kill();

private:
    friend std::optional<ForkedChild> forkChild(const std::string& argument, const std::string& log,
                                                std::int64_t memory, const std::vector<int>& handed);
    ForkedChild(int channel, pid_t pid) : m_channel(channel), m_pid(pid) {}

    int m_channel;  // to the process that watches it
    pid_t m_pid;
};

inline constexpr std::size_t mostHanded = 2;  // descriptors

// Calls main(argument, handed) in a new child, whose output and errors replace the contents of the file `log`. The
// child is killed above `memory` anonymous bytes (0: no limit). Can be called from any thread. Returns nullopt if there
// is no server: start a program instead.
std::optional<ForkedChild> forkChild(const std::string& argument, const std::string& log, std::int64_t memory = 0,
                                     const std::vector<int>& handed = {});

}  // namespace hopscope::verify
