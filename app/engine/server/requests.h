#pragma once

// Passes requests, in order, from the reading thread to the thread that carries them out.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>

#include "base/progress.h"
#include "pipeline/reporter.h"
#include "protocol/rpc.h"
#include "json/json.h"
#include "json/reader.h"

namespace hopscope::engine {

using Outcome = tl::expected<json::Value, protocol::RpcError>;

// A request that is being carried out.
struct Call {
    std::int64_t id = 0;
    std::stop_token stop;
    base::ProgressFn progress;
};

// Passes progress to the client of a request, and notes to `note` if it is set.
class RequestReporter final : public pipeline::Reporter {
public:
    explicit RequestReporter(base::ProgressFn progress, std::function<void(const std::string&)> note = {})
        : m_progress(std::move(progress)),
          m_note(std::move(note))
    {}
    void progress(const base::Progress& step) override
    {
        if (m_progress) m_progress(step);
    }
    void note(const std::string& sentence) override
    {
        if (m_note) m_note(sentence);
    }

private:
    base::ProgressFn m_progress;
    std::function<void(const std::string&)> m_note;
};

// Returns the answer to a failed command.
tl::unexpected<protocol::RpcError> failed(const base::Error& error);
// Returns the error -32602 with the sentence.
tl::unexpected<protocol::RpcError> invalid(const std::string& message);
tl::unexpected<protocol::RpcError> invalid(const json::Reader& params);

struct Pending {
    protocol::Request request;
    std::stop_source stop;
};

// A queue of requests. It is thread-safe.
class RequestQueue {
public:
    // Returns false if too many requests are already waiting.
    bool push(protocol::Request request);
    // Waits for a request; returns nullopt once the queue is closed.
    std::optional<Pending> pop();
    void finish();  // call when the last popped request has been answered
    // Stops the request with this id, whether waiting or in progress.
    void cancel(std::int64_t id);
    // Stops the current request and drops the waiting ones.
    void close();

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<Pending> m_waiting;
    std::optional<std::pair<std::int64_t, std::stop_source>> m_current;
    bool m_closed = false;
};

}  // namespace hopscope::engine
