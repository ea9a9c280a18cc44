#include "server/model_process.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "protocol/framing.h"
#include "server/model_process_main.h"

namespace hopscope::engine {

namespace {

constexpr std::chrono::milliseconds toCancel(500), toEnd(900);

bool writeAll(int socket, std::string_view text)
{
    while (!text.empty()) {
        const ssize_t size = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(size));
    }
    return true;
}

tl::unexpected<base::Error> notStarted(const char* why)
{
    return base::fail(base::ErrorCode::Resources, std::string("no process for the model can be started: ") + why,
                      "close other programs and try again");
}

protocol::Notification cancelling(std::int64_t request)
{
    json::Value params;
    params["id"] = request;
    return {"$/cancelRequest", std::move(params)};
}

}  // namespace

ModelSocket::~ModelSocket() { close(m_socket); }

void ModelSocket::leave() const { shutdown(m_socket, SHUT_RDWR); }

base::Result<std::shared_ptr<ModelProcess>> ModelProcess::start(const ModelProcessOrder& order, Listener listener)
{
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return notStarted(std::strerror(errno));
    std::optional<verify::ForkedChild> child = verify::forkChild(modelProcessName, {}, 0, {ends[1], STDERR_FILENO});
    close(ends[1]);
    auto socket = std::make_shared<const ModelSocket>(ends[0]);
    if (!child || !writeAll(socket->handle(), orderText(order))) return notStarted("the system has no room for it");
    return std::shared_ptr<ModelProcess>(
        new ModelProcess(std::move(socket), order.firstRun, *std::move(child), std::move(listener)));
}

ModelProcess::ModelProcess(std::shared_ptr<const ModelSocket> socket, std::int64_t firstRun, verify::ForkedChild child,
                           Listener listener)
    : m_socket(std::move(socket)),
      m_firstRun(firstRun),
      m_child(std::move(child)),
      m_listener(std::move(listener)),
      m_reader(&ModelProcess::read, this)
{}

ModelProcess::~ModelProcess()
{
    m_socket->leave();
    m_reader.join();
}

std::optional<verify::ChildEnd> ModelProcess::ended()
{
    const std::lock_guard lock(m_mutex);
    return m_end;
}

void ModelProcess::sendMessage(const protocol::Message& message)
{
    const std::string text = protocol::frame(protocol::writeMessage(message));
    const std::lock_guard lock(m_sending);
    (void)writeAll(m_socket->handle(), text);  // if the process has ended, the reader notices
}

void ModelProcess::send(const protocol::Request& request) { sendMessage(request); }

std::optional<ModelProcess::Answer> ModelProcess::ask(const protocol::Request& request, const std::stop_token& stop,
                                                      Asking how)
{
    std::unique_lock lock(m_mutex);
    Awaited& awaited = m_awaited[request.id] = {.failureOnly = how.failureOnly};
    const auto answered = [&] { return m_gone || awaited.answer; };
    lock.unlock();
    sendMessage(request);
    lock.lock();
    if (!m_changed.wait(lock, stop, answered)) {
        lock.unlock();
        sendMessage(cancelling(request.id));
        lock.lock();
        if (how.expendable && !m_changed.wait_for(lock, toCancel, answered)) ::kill(m_child.pid(), SIGKILL);
        m_changed.wait(lock, answered);
    }
    std::optional<Answer> answer = std::move(awaited.answer);
    m_awaited.erase(request.id);
    return answer;
}

// ---- the reading thread

void ModelProcess::read()
{
    protocol::FrameReader frames;
    std::string bytes(std::size_t{1} << 16, '\0');
    for (;;) {
        const ssize_t size = ::read(m_socket->handle(), bytes.data(), bytes.size());
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return bury();
        frames.append(std::string_view(bytes).substr(0, static_cast<std::size_t>(size)));
        for (;;) {
            const base::Result<std::optional<std::string>> text = frames.next();
            if (!text) return bury();
            if (!text->has_value()) break;
            take(**text);
        }
    }
}

void ModelProcess::take(const std::string& text)
{
    const Marked marked = unmarked(text);
    std::unique_lock lock(m_mutex);
    const auto awaited = marked.answers ? m_awaited.find(*marked.answers) : m_awaited.end();
    const bool quiet = awaited != m_awaited.end() && awaited->second.failureOnly && marked.succeeded;
    lock.unlock();
    if (!quiet) m_listener.passOn(marked);
    if (awaited == m_awaited.end()) return;
    lock.lock();
    awaited->second.answer = Answer{marked.succeeded, std::string(marked.message)};
    m_changed.notify_all();
}

void ModelProcess::bury()
{
    std::optional<verify::ChildEnd> end = m_child.ended(toEnd);
    if (!end) end = m_child.kill();
    {
        const std::lock_guard lock(m_mutex);
        m_end = end;
        m_gone = true;
        m_changed.notify_all();
    }
    m_listener.processEnded(*end);
}

base::Error epitaph(const verify::ChildEnd& end)
{
    base::Error error{.code = base::ErrorCode::Internal,
                      .message = "the process of this model has ended",
                      .hint = protocol::openAgain,
                      .where = {}};
    if (WIFEXITED(end.status)) error.message += " with exit code " + std::to_string(WEXITSTATUS(end.status));
    if (!WIFSIGNALED(end.status)) return error;
    const int signal = WTERMSIG(end.status);
    const char* const name = strsignal(signal);
    error.message = "the process of this model was ended by signal " + std::to_string(signal) + " (" +
                    (name != nullptr ? name : "unknown") + ")";
    if (signal == SIGKILL) {
        error.code = base::ErrorCode::Resources;
        error.message += ", probably because the system ran out of memory";
    }
    return error;
}

}  // namespace hopscope::engine
