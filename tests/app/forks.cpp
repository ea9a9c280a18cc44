#include "forks.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bench.h"
#include "engine_main.h"
#include "loader/prepare.h"

namespace hopscope::engine {

namespace {

constexpr int requests = STDIN_FILENO;
constexpr std::size_t longestRequest = 1 << 18;
constexpr std::size_t descriptors = 4;  // standard input, output and error, and where to say how it ended

struct Request {
    std::string folder;
    std::vector<std::string> arguments, environment;
    std::array<int, descriptors> files{};
};

// FOLDER COUNT ARGUMENT... VARIABLE..., each with a zero byte behind it.
void read(Request& request, const char* text, const char* end)
{
    std::vector<std::string> words;
    for (; text < end; text += words.back().size() + 1) words.emplace_back(text);
    request.folder = words.at(0);
    const auto environment = words.begin() + 2 + std::atol(words.at(1).c_str());
    request.arguments.assign(words.begin() + 2, environment);
    request.environment.assign(environment, words.end());
}

// False at the end of requests.
bool receive(Request& request)
{
    std::vector<char> text(longestRequest);
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof request.files)> control{};
    iovec part{text.data(), text.size()};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const ssize_t size = recvmsg(requests, &header, MSG_CMSG_CLOEXEC);
    const cmsghdr* carried = CMSG_FIRSTHDR(&header);
    if (size <= 0 || !carried || (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return false;
    std::memcpy(request.files.data(), CMSG_DATA(carried), sizeof request.files);
    read(request, text.data(), text.data() + size);
    return true;
}

std::vector<char*> pointers(std::vector<std::string>& words)
{
    std::vector<char*> found;
    for (std::string& word : words) found.push_back(word.data());
    found.push_back(nullptr);
    return found;
}

[[noreturn]] void carryOut(Request& request, Program program)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid();
    const pid_t pid = getpid();  // told now that signals to its group reach it
    (void)!write(request.files.back(), &pid, sizeof pid);
    std::signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; ++standard)
        dup2(request.files.at(static_cast<std::size_t>(standard)), standard);
    close_range(STDERR_FILENO + 1, ~0U, 0);
    if (chdir(request.folder.c_str()) != 0) std::perror(request.folder.c_str());
    std::vector<char*> environment = pointers(request.environment), arguments = pointers(request.arguments);
    environ = environment.data();
    const int code = program(static_cast<int>(request.arguments.size()), arguments.data());
    std::fflush(nullptr);
    std::_Exit(code);
}

// Where to say of each child how it ended.
using Children = std::map<pid_t, int>;

void begin(Request& request, Program program, Children& children)
{
    const pid_t pid = fork();
    if (pid == 0) carryOut(request, program);
    const int channel = request.files.back();
    for (const int file : request.files)
        if (file != channel) close(file);
    children[pid] = channel;
}

// As engine_process.py reads it.
struct Ended {
    int status, kibibytes;  // the most memory of it or of one of its children
    double seconds;         // of the processor, for it and its children
};

double secondsOf(const timeval& time)
{
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

void tellWhoEnded(int signals, Children& children)
{
    signalfd_siginfo ignored;
    (void)!::read(signals, &ignored, sizeof ignored);
    int status = 0;
    rusage used{};
    for (pid_t pid = 0; (pid = wait4(-1, &status, WNOHANG, &used)) > 0; children.erase(pid)) {
        const Ended ended{status, static_cast<int>(used.ru_maxrss),
                          secondsOf(used.ru_utime) + secondsOf(used.ru_stime)};
        (void)!write(children.at(pid), &ended, sizeof ended);
        close(children.at(pid));
    }
}

int endOfChildren()
{
    std::signal(SIGPIPE, SIG_IGN);  // the client may have exited
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ended, nullptr);
    return signalfd(-1, &ended, SFD_CLOEXEC);
}

}  // namespace

int serveForks(Program program)
{
    loader::prepareLibTorch();
    const int signals = endOfChildren();
    Children children;
    std::array<pollfd, 2> sources{{{requests, POLLIN, 0}, {signals, POLLIN, 0}}};
    for (;;) {
        if (poll(sources.data(), sources.size(), -1) < 0 && errno != EINTR) return 1;
        if (sources[1].revents != 0) tellWhoEnded(signals, children);
        if (sources[0].revents == 0) continue;
        Request request;
        if (!receive(request)) return 0;
        begin(request, program, children);
    }
}

int engineOrBench(int count, char** arguments)
{
    const bool benches = std::string_view(arguments[0]).ends_with("hopscope-bench");
    return benches ? bench::benchMain(count, arguments) : engineMain(count, arguments);
}

}  // namespace hopscope::engine
