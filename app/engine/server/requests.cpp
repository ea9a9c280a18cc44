#include "server/requests.h"

namespace hopscope::engine {

namespace {

constexpr std::size_t mostWaiting = 256;

}  // namespace

tl::unexpected<protocol::RpcError> failed(const base::Error& error)
{
    return tl::unexpected<protocol::RpcError>(protocol::toRpc(error));
}

tl::unexpected<protocol::RpcError> invalid(const std::string& message)
{
    return tl::unexpected<protocol::RpcError>(
        protocol::RpcError{.code = protocol::code::invalidParams, .message = message, .hint = {}, .where = {}});
}

tl::unexpected<protocol::RpcError> invalid(const json::Reader& params)
{
    const base::Status status = params.status();
    return tl::unexpected<protocol::RpcError>(protocol::RpcError{.code = protocol::code::invalidParams,
                                                                 .message = status.error().message,
                                                                 .hint = {},
                                                                 .where = status.error().where});
}

bool RequestQueue::push(protocol::Request request)
{
    const std::lock_guard lock(m_mutex);
    if (m_waiting.size() >= mostWaiting) return false;
    m_waiting.push_back({std::move(request), {}});
    m_changed.notify_one();
    return true;
}

std::optional<Pending> RequestQueue::pop()
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return m_closed || !m_waiting.empty(); });
    if (m_closed) return std::nullopt;
    Pending next = std::move(m_waiting.front());
    m_waiting.pop_front();
    m_current = {next.request.id, next.stop};
    return next;
}

void RequestQueue::finish()
{
    const std::lock_guard lock(m_mutex);
    m_current.reset();
}

void RequestQueue::cancel(std::int64_t id)
{
    const std::lock_guard lock(m_mutex);
    if (m_current && m_current->first == id) m_current->second.request_stop();
    for (Pending& pending : m_waiting)
        if (pending.request.id == id) pending.stop.request_stop();
}

void RequestQueue::close()
{
    const std::lock_guard lock(m_mutex);
    m_closed = true;
    m_waiting.clear();
    if (m_current) m_current->second.request_stop();
    m_changed.notify_all();
}

}  // namespace hopscope::engine
