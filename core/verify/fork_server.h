#pragma once

// Child processes that begin with LibTorch loaded. A program takes a quarter of a second to load it, most of that to register
// its operators, and a fork of one that has done so a few milliseconds; but only while it has a single thread, since locks that
// others hold stay locked in a fork for ever. So a program forks a server before its first thread, and that forks children
// whenever it is asked to.

#include <sys/types.h>

#include <optional>
#include <string>

namespace hopscope::verify {

using ChildMain = int (*)(const std::string& argument);

// Call once, while the program has one thread. The server does nothing but wait, and ends with the program, however that ends;
// `main` is what its children call: they end with what it returns. Where no server can be had, forkChild() has none.
void beginForkServer(ChildMain main);

// A child of the server, in a process group of its own, with no signals blocked. Its standard input is empty. It is killed
// if this program dies.
class ForkedChild {
public:
    ForkedChild(ForkedChild&& other) noexcept;
    ForkedChild(const ForkedChild&) = delete;
    ForkedChild& operator=(const ForkedChild&) = delete;
    ForkedChild& operator=(ForkedChild&&) = delete;
    ~ForkedChild();

    [[nodiscard]] pid_t pid() const { return m_pid; }
    // As waitpid() has it, once the child has ended: at once, or after waiting for that. The server may be gone first, and all
    // of its children with it: then as if this one had been killed.
    [[nodiscard]] std::optional<int> status(bool wait);

private:
    friend std::optional<ForkedChild> forkChild(const std::string& argument, const std::string& log);
    ForkedChild(int channel, pid_t pid) : m_channel(channel), m_pid(pid) {}

    int m_channel;  // on which the status comes
    pid_t m_pid;
};

// Calls main(argument) in a new child, whose output and errors replace what is in the file `log`. From any thread. Nothing where
// there is no server: start a program instead.
std::optional<ForkedChild> forkChild(const std::string& argument, const std::string& log);

}  // namespace hopscope::verify
