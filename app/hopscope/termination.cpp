#include "termination.h"

#include <QSocketNotifier>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace hopscope::window {

namespace {

constexpr int endings[] = {SIGTERM, SIGINT, SIGHUP};
int ends[2] = {-1, -1};  // a pipe: a signal handler may write to it, and do nothing else that Qt needs

void passOn(int signal)
{
    const auto byte = static_cast<unsigned char>(signal);
    const ssize_t written = ::write(ends[1], &byte, 1);
    Q_UNUSED(written);  // full: the program has been notified already
}

}  // namespace

Termination::Termination(QObject* parent) : QObject(parent)
{
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;  // without it the signals end the program as usual
    auto* notifier = new QSocketNotifier(ends[0], QSocketNotifier::Read, this);
    connect(notifier, &QSocketNotifier::activated, this, [this] {
        unsigned char signal = 0;
        if (::read(ends[0], &signal, 1) == 1) emit asked(signal);
    });
    for (const int signal : endings) std::signal(signal, passOn);
}

Termination::~Termination()
{
    for (const int signal : endings) std::signal(signal, SIG_DFL);
    for (int& end : ends) ::close(std::exchange(end, -1));
}

}  // namespace hopscope::window
