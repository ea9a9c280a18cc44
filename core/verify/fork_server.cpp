#include "verify/fork_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include "base/proc.h"
#include "base/wait.h"
#include "loader/prepare.h"

namespace hopscope::verify {

namespace {

constexpr std::size_t longestRequest = 3 * 4096;           // two paths
constexpr std::chrono::milliseconds often(2), seldom(10);  // a child's memory is looked at
constexpr int briefly = 50;                                // times often, then seldom
constexpr ChildEnd killed{.status = SIGKILL};

// The functions that a child runs.
struct Work {
    ChildMain main;
    ChildBeginning first;
};

int g_server = -1;  // this program's end of the connection

// True if the parent still exists; if it ends from now on, this process is killed.
bool dieWith(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return getppid() == parent;
}

struct Request {
    std::string argument, log;
    std::int64_t memory = 0;
};

// A message with room for descriptors beside the request.
struct Message {
    std::array<char, longestRequest> text{};
    alignas(cmsghdr) std::array<char, CMSG_SPACE((mostHanded + 1) * sizeof(int))> control{};
    iovec part{text.data(), text.size()};
    msghdr header{};

    Message()
    {
        header.msg_iov = &part;
        header.msg_iovlen = 1;
        header.msg_control = control.data();
        header.msg_controllen = control.size();
    }
    // False where it is too long.
    bool hold(const Request& request)
    {
        const std::string all = std::to_string(request.memory) + '\0' + request.argument + '\0' + request.log + '\0';
        if (all.size() > text.size()) return false;
        std::copy(all.begin(), all.end(), text.begin());
        part.iov_len = all.size();
        return true;
    }
    [[nodiscard]] Request request() const
    {
        const std::string memory = text.data(), argument = text.data() + memory.size() + 1;
        return {argument, text.data() + memory.size() + argument.size() + 2, std::atoll(memory.c_str())};
    }
    void carry(const std::vector<int>& descriptors)
    {
        header.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
        cmsghdr* carried = CMSG_FIRSTHDR(&header);
        carried->cmsg_level = SOL_SOCKET;
        carried->cmsg_type = SCM_RIGHTS;
        carried->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
        std::memcpy(CMSG_DATA(carried), descriptors.data(), descriptors.size() * sizeof(int));
    }
    [[nodiscard]] std::vector<int> carried()
    {
        const cmsghdr* carried = CMSG_FIRSTHDR(&header);
        if (!carried || carried->cmsg_type != SCM_RIGHTS) return {};
        std::vector<int> descriptors((carried->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        std::memcpy(descriptors.data(), CMSG_DATA(carried), descriptors.size() * sizeof(int));
        return descriptors;
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

[[noreturn]] void beChild(const Work& work, const Request& request, const std::vector<int>& handed, pid_t parent)
{
    setpgid(0, 0);
    if (!dieWith(parent)) _exit(1);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    if (work.first != nullptr) work.first();
    replace(STDOUT_FILENO, request.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
    dup2(STDOUT_FILENO, STDERR_FILENO);
    int code = 1;
    try {
        code = work.main(request.argument, handed);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
    }
    std::fflush(nullptr);
    _exit(code);
}

// Until the child has ended, which it is made to do by a word on the channel, by the channel's end, and by its limit.
ChildEnd watched(pid_t child, std::int64_t memory, int channel)
{
    ChildEnd end;
    const std::string name = std::to_string(child);
    const int ends = static_cast<int>(syscall(SYS_pidfd_open, child, 0));  // -1 is none to poll()
    for (int looked = 0;; ++looked) {
        if (waitpid(child, &end.status, WNOHANG) == child) return end;
        end.peak = std::max(end.peak, base::anonymousMemory(name));
        end.overMemory = memory > 0 && end.peak > memory;
        std::array<pollfd, 2> news{
            {{.fd = channel, .events = POLLIN, .revents = 0}, {.fd = ends, .events = POLLIN, .revents = 0}}};
        if (!end.overMemory) poll(news.data(), news.size(), looked < briefly ? often.count() : seldom.count());
        if (!end.overMemory && news[0].revents == 0) continue;
        ::kill(child, SIGKILL);
        end.status = base::waitForEnd(child);
        return end;
    }
}

void closeAll(const std::vector<int>& descriptors)
{
    for (const int descriptor : descriptors) close(descriptor);
}

// Between the server and a child, which it watches: the server waits for requests alone. `carried`: the channel, then the
// descriptors for the child.
[[noreturn]] void beKeeper(const Work& work, const Request& request, const std::vector<int>& carried, pid_t server)
{
    std::signal(SIGCHLD, SIG_DFL);
    const int channel = carried.front();
    const std::vector<int> handed(carried.begin() + 1, carried.end());
    if (!dieWith(server)) _exit(1);
    const pid_t self = getpid(), pid = fork();
    if (pid == 0) {
        close(channel);
        beChild(work, request, handed, self);
    }
    closeAll(handed);
    (void)!write(channel, &pid, sizeof pid);
    const ChildEnd end = pid > 0 ? watched(pid, request.memory, channel) : killed;
    (void)!write(channel, &end, sizeof end);
    _exit(0);
}

[[noreturn]] void beServer(const Work& work, int requests, pid_t program)
{
    setpgid(0, 0);  // signals typed at the terminal are meant for the program
    if (!dieWith(program)) _exit(1);
    letGoOfEverything(requests);
    std::signal(SIGCHLD, SIG_IGN);  // keepers are not waited for
    const pid_t self = getpid();
    for (;;) {
        Message message;
        const ssize_t size = recvmsg(requests, &message.header, MSG_CMSG_CLOEXEC);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) _exit(0);
        const std::vector<int> carried = message.carried();
        if (carried.empty()) continue;
        if (fork() == 0) {
            close(requests);
            beKeeper(work, message.request(), carried, self);
        }
        closeAll(carried);
    }
}

// Sends the request, with the end of a channel for the answer; true if that succeeded.
bool asked(const Request& request, int channel, const std::vector<int>& handed)
{
    Message message;
    if (g_server < 0 || handed.size() > mostHanded || !message.hold(request)) return false;
    std::vector<int> carried{channel};
    carried.insert(carried.end(), handed.begin(), handed.end());
    message.carry(carried);
    return sendmsg(g_server, &message.header, MSG_NOSIGNAL) == static_cast<ssize_t>(message.part.iov_len);
}

}  // namespace

void beginForkServer(ChildMain main, ChildBeginning first)
{
    loader::prepareLibTorch();
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
    std::fflush(nullptr);
    const pid_t self = getpid(), pid = fork();
    if (pid == 0) {
        close(ends[0]);
        beServer({main, first}, ends[1], self);
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

std::optional<ChildEnd> ForkedChild::ended(std::chrono::milliseconds within)
{
    pollfd news{.fd = m_channel, .events = POLLIN, .revents = 0};
    const int ready = poll(&news, 1, static_cast<int>(within.count()));
    if (ready == 0 || (ready < 0 && errno == EINTR)) return std::nullopt;
    ChildEnd end;
    return recv(m_channel, &end, sizeof end, 0) == sizeof end ? end : killed;
}

ChildEnd ForkedChild::kill()
{
    (void)!write(m_channel, "k", 1);
    for (;;)
        if (const std::optional<ChildEnd> end = ended(std::chrono::seconds(1))) return *end;
}

std::optional<ForkedChild> forkChild(const std::string& argument, const std::string& log, std::int64_t memory,
                                     const std::vector<int>& handed)
{
    std::array<int, 2> ends{};
    if (g_server < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return std::nullopt;
    ForkedChild child(ends[0], -1);
    const bool sent = asked({argument, log, memory}, ends[1], handed);
    close(ends[1]);
    pid_t pid = -1;
    if (!sent || recv(child.m_channel, &pid, sizeof pid, 0) != sizeof pid || pid <= 0) return std::nullopt;
    child.m_pid = pid;
    return child;
}

}  // namespace hopscope::verify
