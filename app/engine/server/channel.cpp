#include "server/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "protocol/framing.h"
#include "server/marks.h"

namespace hopscope::engine {

namespace {

constexpr std::size_t piece = 4096;  // the bytes that a ready pipe takes without blocking
constexpr int patience = 1000;       // milliseconds, for a client during interrupt()

int duplicate(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 3); }

bool replaceStandardStreams()
{
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const bool done = nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
    if (nothing >= 0) close(nothing);
    return done;
}

// An answer that exceeds the length of a message becomes an error.
std::string bounded(protocol::Message message)
{
    const auto* const response = std::get_if<protocol::Response>(&message);
    const std::optional<std::int64_t> id = response == nullptr ? std::nullopt : response->id;
    const bool answers = response != nullptr;
    std::string text = protocol::writeMessage(std::move(message));
    if (text.size() <= protocol::maxMessageBytes - longestMark || !answers) return text;
    const base::Error error{.code = base::ErrorCode::Resources,
                            .message = "the answer exceeds the message limit of 16 MiB",
                            .hint = {},
                            .where = {}};
    return protocol::writeMessage(protocol::Response{id, protocol::toRpc(error)});
}

// Never waits on a socket or on a pipe that poll() has called ready.
ssize_t writeReady(int descriptor, std::string_view text)
{
    const ssize_t sent = ::send(descriptor, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent < 0 && errno == ENOTSOCK ? ::write(descriptor, text.data(), text.size()) : sent;
}

}  // namespace

base::Result<std::unique_ptr<Channel>> Channel::open()
{
    std::signal(SIGPIPE, SIG_IGN);
    const int input = duplicate(STDIN_FILENO), output = duplicate(STDOUT_FILENO), wake = eventfd(0, EFD_CLOEXEC);
    if (input < 0 || output < 0 || wake < 0 || !replaceStandardStreams())
        return base::fail(base::ErrorCode::Internal,
                          std::string("standard input and output cannot be used: ") + std::strerror(errno));
    return std::unique_ptr<Channel>(new Channel(input, output, wake));
}

std::unique_ptr<Channel> Channel::over(int socket)
{
    std::signal(SIGPIPE, SIG_IGN);
    std::unique_ptr<Channel> channel(new Channel(socket, socket, eventfd(0, EFD_CLOEXEC)));
    channel->m_marks = true;
    return channel;
}

Channel::~Channel()
{
    if (m_output == m_input) m_output = -1;
    for (const int descriptor : {m_input, m_output, m_wake}) close(descriptor);
}

std::string Channel::read()
{
    std::string text(std::size_t{1} << 16, '\0');
    for (;;) {
        std::array<pollfd, 2> wanted{pollfd{m_input, POLLIN, 0}, pollfd{m_wake, POLLIN, 0}};
        if (poll(wanted.data(), wanted.size(), -1) < 0 && errno != EINTR) return {};
        if (wanted[1].revents != 0) return {};
        if (wanted[0].revents == 0) continue;
        const ssize_t size = ::read(m_input, text.data(), text.size());
        if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
        return text;
    }
}

// Whether the client takes more; false once it is gone, or after interrupt() if it is not reading.
bool Channel::writable()
{
    for (bool left = false;;) {
        std::array<pollfd, 2> wanted{pollfd{m_output, POLLOUT, 0}, pollfd{left ? -1 : m_wake, POLLIN, 0}};
        const int ready = poll(wanted.data(), wanted.size(), left ? patience : -1);
        if (ready < 0 && errno == EINTR) continue;
        if ((wanted[0].revents & POLLOUT) != 0) return true;
        if (ready <= 0 || wanted[0].revents != 0) return false;
        left = true;
    }
}

bool Channel::write(std::string_view text)
{
    while (!text.empty()) {
        if (!writable()) return false;
        const ssize_t size = writeReady(m_output, text.substr(0, piece));
        if (size < 0 && errno != EINTR && errno != EAGAIN) return false;
        if (size > 0) text.remove_prefix(static_cast<std::size_t>(size));
    }
    return true;
}

void Channel::send(protocol::Message message)
{
    const std::string mark = m_marks ? markOf(message) : std::string();
    pass(mark + bounded(std::move(message)));
}

void Channel::pass(std::string_view message)
{
    const std::string text = protocol::frame(message);
    const std::lock_guard lock(m_sending);
    if (!m_gone) m_gone = !write(text);
}

void Channel::interrupt()
{
    const std::uint64_t one = 1;
    (void)!::write(m_wake, &one, sizeof(one));
}

}  // namespace hopscope::engine
