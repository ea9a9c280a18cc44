#pragma once

// Collects the events of a run and sends them 30 times per second.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "protocol/run.h"

namespace hopscope::engine {

class EventFeed {
public:
    using Send = std::function<void(const protocol::RunEvents&)>;

    // `send` is called on a thread of the feed.
    EventFeed(std::int64_t run, Send send);
    ~EventFeed();  // finish()
    EventFeed(const EventFeed&) = delete;
    EventFeed& operator=(const EventFeed&) = delete;

    // Adds an event. Phases that arrive too fast to be sent are omitted and counted; any other event waits until the
    // client reads, or until `stop`.
    void push(protocol::RunEvent event, std::stop_token stop);
    void setState(protocol::RunState state);
    // Sends the remaining events with the state Finished, and ends the thread.
    void finish();

private:
    void loop();
    void flush(std::unique_lock<std::mutex>& lock);

    std::int64_t m_run;
    Send m_send;
    std::mutex m_mutex;
    std::condition_variable_any m_changed, m_room;
    std::vector<protocol::RunEvent> m_events;
    std::size_t m_phases = 0;
    std::int64_t m_merged = 0;
    protocol::RunState m_state = protocol::RunState::Preparing, m_sent = protocol::RunState::Finished;
    bool m_finished = false;
    std::thread m_thread;
};

}  // namespace hopscope::engine
