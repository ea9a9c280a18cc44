#include "verify/fork_server.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <utility>

#include "base/wait.h"

namespace hopscope::verify {

namespace {

constexpr std::size_t longestRequest = 3 * 4096;  // two paths

int g_server = -1;  // this program's end of the connection

// Whether the parent is still there; if it ends from now on, this process is killed.
bool dieWith(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return getppid() == parent;
}

// A message with room for one descriptor beside the text.
struct Message {
    std::array<char, longestRequest> text{};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    iovec part{text.data(), text.size()};
    msghdr header{};

    Message()
    {
        header.msg_iov = &part;
        header.msg_iovlen = 1;
        header.msg_control = control.data();
        header.msg_controllen = control.size();
    }
    void carry(int descriptor)
    {
        cmsghdr* carried = CMSG_FIRSTHDR(&header);
        carried->cmsg_level = SOL_SOCKET;
        carried->cmsg_type = SCM_RIGHTS;
        carried->cmsg_len = CMSG_LEN(sizeof descriptor);
        std::memcpy(CMSG_DATA(carried), &descriptor, sizeof descriptor);
    }
    [[nodiscard]] int carried()
    {
        int descriptor = -1;
        const cmsghdr* carried = CMSG_FIRSTHDR(&header);
        if (carried && carried->cmsg_type == SCM_RIGHTS)
            std::memcpy(&descriptor, CMSG_DATA(carried), sizeof descriptor);
        return descriptor;
    }
};

void replace(int descriptor, const char* file, int flags)
{
    const int opened = open(file, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (opened >= 0) dup2(opened, descriptor);
    if (opened > STDERR_FILENO) close(opened);
}

// Nothing of the program is kept open, so that who reads its output sees the end of it.
void letGoOfEverything(int but)
{
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) replace(standard, "/dev/null", O_RDWR);
    if (but > STDERR_FILENO + 1) close_range(STDERR_FILENO + 1, static_cast<unsigned>(but) - 1, 0);
    close_range(static_cast<unsigned>(but) + 1, ~0U, 0);
}

[[noreturn]] void beChild(ChildMain main, const std::string& argument, const char* log, pid_t parent)
{
    setpgid(0, 0);
    if (!dieWith(parent)) _exit(1);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    replace(STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC);
    dup2(STDOUT_FILENO, STDERR_FILENO);
    int code = 1;
    try {
        code = main(argument);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
    }
    std::fflush(nullptr);
    _exit(code);
}

// Between the server and a child, whose status it waits for: the server waits for requests alone.
[[noreturn]] void beKeeper(ChildMain main, const Message& message, int channel, pid_t server)
{
    std::signal(SIGCHLD, SIG_DFL);
    if (!dieWith(server)) _exit(1);
    const std::string argument = message.text.data();
    const char* log = message.text.data() + argument.size() + 1;
    const pid_t self = getpid(), pid = fork();
    if (pid == 0) {
        close(channel);
        beChild(main, argument, log, self);
    }
    (void)!write(channel, &pid, sizeof pid);
    const int status = pid > 0 ? base::waitForEnd(pid) : SIGKILL;
    (void)!write(channel, &status, sizeof status);
    _exit(0);
}

[[noreturn]] void beServer(ChildMain main, int requests, pid_t program)
{
    setpgid(0, 0);  // what is typed at the terminal is for the program
    if (!dieWith(program)) _exit(1);
    letGoOfEverything(requests);
    std::signal(SIGCHLD, SIG_IGN);  // nobody waits for keepers
    const pid_t self = getpid();
    for (;;) {
        Message message;
        const ssize_t size = recvmsg(requests, &message.header, MSG_CMSG_CLOEXEC);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) _exit(0);
        const int channel = message.carried();
        if (fork() == 0) {
            close(requests);
            beKeeper(main, message, channel, self);
        }
        close(channel);
    }
}

// Whether the request has gone out, with the end of a channel on which the answer comes.
bool asked(const std::string& argument, const std::string& log, int channel)
{
    const std::size_t size = argument.size() + log.size() + 2;
    if (g_server < 0 || size > longestRequest) return false;
    Message message;
    std::memcpy(message.text.data(), argument.c_str(), argument.size() + 1);
    std::memcpy(message.text.data() + argument.size() + 1, log.c_str(), log.size() + 1);
    message.part.iov_len = size;
    message.carry(channel);
    return sendmsg(g_server, &message.header, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

}  // namespace

void beginForkServer(ChildMain main)
{
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
    std::fflush(nullptr);
    const pid_t self = getpid(), pid = fork();
    if (pid == 0) {
        close(ends[0]);
        beServer(main, ends[1], self);
    }
    close(ends[1]);
    if (pid > 0) g_server = ends[0];
}

ForkedChild::ForkedChild(ForkedChild&& other) noexcept
    : m_channel(std::exchange(other.m_channel, -1)),
      m_pid(other.m_pid)
{}

ForkedChild::~ForkedChild()
{
    if (m_channel >= 0) close(m_channel);
}

std::optional<int> ForkedChild::status(bool wait)
{
    int status = 0;
    ssize_t size = 0;
    do size = recv(m_channel, &status, sizeof status, wait ? 0 : MSG_DONTWAIT);
    while (size < 0 && errno == EINTR);
    if (size < 0 && errno == EAGAIN) return std::nullopt;
    return size == sizeof status ? status : SIGKILL;
}

std::optional<ForkedChild> forkChild(const std::string& argument, const std::string& log)
{
    std::array<int, 2> ends{};
    if (g_server < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return std::nullopt;
    ForkedChild child(ends[0], -1);
    const bool sent = asked(argument, log, ends[1]);
    close(ends[1]);
    pid_t pid = -1;
    if (!sent || recv(child.m_channel, &pid, sizeof pid, 0) != sizeof pid || pid <= 0) return std::nullopt;
    child.m_pid = pid;
    return child;
}

}  // namespace hopscope::verify
