#include "server/conversation.h"

#include <unistd.h>

#include <chrono>
#include <exception>
#include <new>
#include <thread>

#include "base/parallel.h"
#include "executor/executor.h"
#include "pipeline/machine/devices.h"
#include "version.h"

namespace hopscope::engine {

namespace {

using json::Reader;
using json::Value;
using protocol::RpcError;

constexpr auto progressEvery = std::chrono::milliseconds(50);
constexpr int interrupted = static_cast<int>(base::ErrorCode::Cancelled);

Value textPair(const char* a, const std::string& x, const char* b, const std::string& y)
{
    Value item;
    item[a] = x;
    item[b] = y;
    return item;
}

Value versionValue()
{
    Value item;
    item["major"] = protocol::protocolMajor;
    item["minor"] = protocol::protocolMinor;
    return item;
}

}  // namespace

int Conversation::run()
{
    std::thread reader([this] { readAll(); });
    while (std::optional<Pending> next = m_queue.pop()) {
        answer(next->request,
               {.id = next->request.id, .stop = next->stop.get_token(), .progress = progressOf(next->request.id)});
        m_queue.finish();
        stopIfDeviceLost();
    }
    m_channel.interrupt();
    reader.join();
    return m_exitCode;
}

void Conversation::stop(int exitCode)
{
    m_exitCode = exitCode;
    close();
}

int converse(Conversation& conversation, const std::stop_token& stop)
{
    const std::stop_callback onStop(stop, [&] { conversation.stop(interrupted); });
    return conversation.run();
}

// ---- the reading thread

void Conversation::readAll()
{
    protocol::FrameReader frames;
    for (std::string bytes = m_channel.read(); !bytes.empty(); bytes = m_channel.read()) {
        frames.append(bytes);
        if (!readFrames(frames)) return;
    }
    close();
}

void Conversation::close()
{
    m_ending.begin(m_exitCode);
    closing();
    m_queue.close();
}

// False at the end of the connection.
bool Conversation::readFrames(protocol::FrameReader& frames)
{
    for (;;) {
        base::Result<std::optional<std::string>> text = frames.next();
        if (!text) {
            const base::Error& e = text.error();
            m_channel.send(protocol::Response{
                {},
                RpcError{.code = protocol::code::parseError, .message = e.message, .hint = e.hint, .where = e.where}});
            stop(static_cast<int>(base::ErrorCode::Input));
            return false;
        }
        if (!text->has_value()) return true;
        if (!receive(**text)) return false;
    }
}

bool Conversation::receive(const std::string& text)
{
    base::Result<protocol::Message> message = protocol::readMessage(text);
    if (!message) m_channel.send(protocol::refusal(text, message.error()));
    else if (auto* request = std::get_if<protocol::Request>(&*message)) receive(std::move(*request));
    else if (auto* notice = std::get_if<protocol::Notification>(&*message)) return receive(*notice);
    return true;
}

void Conversation::receive(protocol::Request request)
{
    const std::int64_t id = request.id;
    if (!m_initialized && request.method != "initialize")
        return refuse(id, protocol::code::notInitialized, "the first request must be initialize");
    if (control(request)) return;
    if (!m_queue.push(std::move(request)))
        refuse(id, protocol::code::failed - static_cast<int>(base::ErrorCode::Resources), "too many pending requests");
}

// False at the end of the connection.
bool Conversation::receive(const protocol::Notification& notice)
{
    if (notice.method == "exit") {
        close();
        return false;
    }
    const Value* const id = notice.params.find("id");
    if (notice.method == "$/cancelRequest" && id != nullptr && id->asInt() != nullptr) m_queue.cancel(*id->asInt());
    return true;
}

// ---- answers

void Conversation::notify(const std::string& method, Value params)
{
    m_channel.send(protocol::Notification{method, std::move(params)});
}

// This process can no longer compute on that GPU; a new one can, and the client starts it.
void Conversation::stopIfDeviceLost()
{
    if (executor::deviceLost()) stop(static_cast<int>(base::ErrorCode::Internal));
}

void Conversation::respond(std::int64_t id, Outcome outcome)
{
    protocol::Response response{id, Value()};
    if (outcome) response.outcome = std::move(*outcome);
    else response.outcome = std::move(outcome.error());
    m_channel.send(std::move(response));
}

void Conversation::refuse(std::int64_t id, int code, const std::string& message)
{
    respond(id, tl::unexpected<RpcError>(RpcError{.code = code, .message = message, .hint = {}, .where = {}}));
}

Outcome Conversation::unknown(const std::string& method)
{
    return tl::unexpected<RpcError>(RpcError{
        .code = protocol::code::unknownMethod, .message = "unknown method " + method, .hint = {}, .where = {}});
}

// At most 20 messages a second for each request.
base::ProgressFn Conversation::progressOf(std::int64_t id)
{
    using Clock = std::chrono::steady_clock;
    return [this, id, last = std::make_shared<Clock::time_point>()](const base::Progress& progress) {
        const Clock::time_point now = Clock::now();
        if (now - *last < progressEvery) return;
        *last = now;
        Value params;
        params["request"] = id;
        params["what"] = progress.what;
        params["done"] = progress.done;
        params["total"] = progress.total;
        notify("$/progress", std::move(params));
    };
}

// ---- the answering thread

void Conversation::answer(const protocol::Request& request, const Call& call)
{
    if (call.stop.stop_requested()) return refuse(call.id, protocol::code::cancelled, "cancelled");
    if (m_shutDown) return refuse(call.id, protocol::code::invalidRequest, "the engine is shutting down");
    if (std::optional<Outcome> outcome = guarded(request, call)) respond(call.id, std::move(*outcome));
    answered();
}

// The last resort: an exception that reaches this boundary ends in an answer.
std::optional<Outcome> Conversation::guarded(const protocol::Request& request, const Call& call)
{
    try {
        if (request.method == "initialize") return initialize(Reader(request.params, "params"));
        if (request.method == "shutdown") return shutdown();
        return dispatch(request, call);
    } catch (const std::bad_alloc&) {
        return failed({.code = base::ErrorCode::Resources,
                       .message = "out of memory",
                       .hint = "close a model or another program",
                       .where = {}});
    } catch (const std::exception& error) {
        const std::string message = std::string("unexpected error: ") + error.what();
        return failed(
            {.code = base::ErrorCode::Internal, .message = message, .hint = "please report this", .where = {}});
    }
}

Outcome Conversation::initialize(const Reader& params)
{
    const int major = params.child("protocol").get<int>("major");
    if (!params.ok()) return invalid(params);
    if (major != protocol::protocolMajor)
        return invalid("this engine speaks version " + std::to_string(protocol::protocolMajor) +
                       " of the protocol, not " + std::to_string(major) +
                       ": use a window or Python package of the same version");
    Value result;
    result["server"] = textPair("name", "hopscope-engine", "version", versionText);
    result["protocol"] = versionValue();
    result["process_id"] = static_cast<std::int64_t>(getpid());
    result["threads"] = base::hardwareThreads();
    const Value devices = pipeline::devicesValue(pipeline::findDevices());
    for (const char* const member : {"devices", "missing"}) result[member] = *devices.find(member);
    result["confinement"] = m_confinement;
    m_initialized = true;
    return result;
}

Outcome Conversation::shutdown()
{
    m_shutDown = true;
    return Value();
}

}  // namespace hopscope::engine
