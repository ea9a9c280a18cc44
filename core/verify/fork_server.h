#pragma once

// Starts child processes in which LibTorch is already loaded and prepared (loader/prepare.h). Loading it, which mostly
// means registering its operators, takes far longer than forking a process that has loaded it. A process can be forked
// safely only while it has a single thread, since locks of other threads remain locked in the fork. A program therefore
// forks a server before it starts threads, and the server forks children on request.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hopscope::verify {

// The main function of a child. `handed`: its own descriptors, in the order in which they were passed to forkChild().
using ChildMain = int (*)(const std::string& argument, const std::vector<int>& handed);
using ChildBeginning = void (*)();

// Starts the server. Call it once, while the program has one thread. The server only waits, and ends whenever the
// program does. Its children call `main` and exit with its result. Before they open a file, they call `first` if it is
// given. If no server can be started, forkChild() returns nullopt.
void beginForkServer(ChildMain main, ChildBeginning first = nullptr);

// How a child has ended.
struct ChildEnd {
    int status = 0;           // as waitpid() stores it
    std::int64_t peak = 0;    // bytes: the highest anonymous resident memory observed
    bool overMemory = false;  // the child was killed because of its memory limit
};

// A child of the server, in its own process group, with no signals blocked and empty standard input. It is killed if
// this program dies, or when this object is destroyed. A process between the server and the child watches the child, so
// that this program needs no permission to see or signal it.
class ForkedChild {
public:
    ForkedChild(ForkedChild&& other) noexcept;
    ForkedChild(const ForkedChild&) = delete;
    ForkedChild& operator=(const ForkedChild&) = delete;
    ForkedChild& operator=(ForkedChild&&) = delete;
    ~ForkedChild();

    [[nodiscard]] pid_t pid() const { return m_pid; }
    // Waits until the child ends, at most this long; returns nullopt if it has not ended. If the server ends first,
    // with all of its children, the result is that of a killed child.
    [[nodiscard]] std::optional<ChildEnd> ended(std::chrono::milliseconds within);
    // Kills the child and waits for its end.
    ChildEnd kill();

private:
    friend std::optional<ForkedChild> forkChild(const std::string& argument, const std::string& log,
                                                std::int64_t memory, const std::vector<int>& handed);
    ForkedChild(int channel, pid_t pid) : m_channel(channel), m_pid(pid) {}

    int m_channel;  // to the process that watches the child
    pid_t m_pid;
};

inline constexpr std::size_t mostHanded = 2;  // the most descriptors that a child can be given

// Calls main(argument, handed) in a new child, whose output and errors replace the contents of the file `log`. The
// child is killed if it exceeds `memory` anonymous bytes (0: no limit). Can be called from any thread. Returns nullopt
// if no child can be started, as without a server; start a program instead.
std::optional<ForkedChild> forkChild(const std::string& argument, const std::string& log, std::int64_t memory = 0,
                                     const std::vector<int>& handed = {});

}  // namespace hopscope::verify
