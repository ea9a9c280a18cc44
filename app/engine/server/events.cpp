#include "server/events.h"

#include <chrono>

namespace hopscope::engine {

namespace {

constexpr auto interval = std::chrono::milliseconds(34);
constexpr std::size_t mostPhases = 600;     // per message
constexpr std::size_t mostEvents = 10'000;  // per message, phases included

}  // namespace

EventFeed::EventFeed(std::int64_t run, Send send) : m_run(run), m_send(std::move(send)), m_thread([this] { loop(); }) {}

EventFeed::~EventFeed() { finish(); }

void EventFeed::push(protocol::RunEvent event, std::stop_token stop)
{
    const bool phase = std::holds_alternative<protocol::PhaseEvent>(event);
    std::unique_lock lock(m_mutex);
    if (phase && (m_phases >= mostPhases || m_events.size() >= mostEvents)) {
        ++m_merged;
        return;
    }
    m_room.wait(lock, std::move(stop), [&] { return m_events.size() < mostEvents; });
    m_phases += phase;
    m_events.push_back(std::move(event));
}

void EventFeed::setState(protocol::RunState state)
{
    const std::lock_guard lock(m_mutex);
    m_state = state;
}

void EventFeed::finish()
{
    if (!m_thread.joinable()) return;
    {
        const std::lock_guard lock(m_mutex);
        m_finished = true;
        m_state = protocol::RunState::Finished;
        m_changed.notify_all();
    }
    m_thread.join();
}

void EventFeed::loop()
{
    std::unique_lock lock(m_mutex);
    while (!m_finished) {
        flush(lock);
        m_changed.wait_for(lock, interval, [&] { return m_finished; });
    }
    flush(lock);
}

// The lock is released while waiting for the client.
void EventFeed::flush(std::unique_lock<std::mutex>& lock)
{
    if (m_events.empty() && m_merged == 0 && m_state == m_sent) return;
    protocol::RunEvents message{.run = m_run, .state = m_state, .events = std::move(m_events)};
    if (m_merged > 0) message.events.emplace_back(protocol::MergedEvent{m_merged});
    m_events.clear();
    m_phases = 0;
    m_merged = 0;
    m_sent = m_state;
    m_room.notify_all();
    lock.unlock();
    m_send(message);
    lock.lock();
}

}  // namespace hopscope::engine
