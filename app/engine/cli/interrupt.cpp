#include "cli/interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/result.h"

namespace hopscope::engine {

namespace {

constexpr int handled[] = {SIGINT, SIGTERM, SIGHUP};
constexpr char finish = 'q';

// The write and read ends: a signal handler may do little more than write a byte.
int g_pipe[2] = {-1, -1};

void onSignal(int number)
{
    const int before = errno;
    const char byte = 's';
    (void)!write(g_pipe[1], &byte, 1);
    std::signal(number, SIG_DFL);
    errno = before;
}

}  // namespace

void Interrupt::watch()
{
    char byte = 0;
    while (read(g_pipe[0], &byte, 1) == 1 && byte != finish) {
        m_ending.begin(static_cast<int>(base::ErrorCode::Cancelled));
        m_source.request_stop();
    }
}

Interrupt::Interrupt()
{
    if (pipe2(g_pipe, O_CLOEXEC) != 0) return;
    m_thread = std::thread(&Interrupt::watch, this);
    for (const int number : handled) {
        const auto before = std::signal(number, onSignal);
        // nohup stays in force; an ignored SIGINT is only a shell's habit with background jobs.
        if (number == SIGHUP && before == SIG_IGN) std::signal(number, SIG_IGN);
    }
}

Interrupt::~Interrupt()
{
    if (!m_thread.joinable()) return;
    (void)!write(g_pipe[1], &finish, 1);
    m_thread.join();  // first: a signal that is held elsewhere would end the process on this thread
    // A signal may have reached that thread after the byte that ended it.
    fcntl(g_pipe[0], F_SETFL, O_NONBLOCK);
    for (char byte = 0; read(g_pipe[0], &byte, 1) == 1;) m_source.request_stop();
    for (const int number : handled) std::signal(number, SIG_DFL);
    for (int& end : g_pipe) {
        close(end);
        end = -1;
    }
}

SignalsHeld::SignalsHeld()
{
    sigset_t all;
    sigemptyset(&all);
    for (const int number : handled) sigaddset(&all, number);
    pthread_sigmask(SIG_BLOCK, &all, &m_before);
}

SignalsHeld::~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &m_before, nullptr); }

}  // namespace hopscope::engine
