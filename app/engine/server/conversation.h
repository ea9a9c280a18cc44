#pragma once

// The connection to a client, for any kind of requests: frames and messages, the queue of requests, cancelling,
// progress, the greeting and the end, as described in docs/reference/protocol.md. Derived classes define the meaning of
// requests.

#include <atomic>
#include <optional>
#include <string>

#include "base/ending.h"
#include "protocol/framing.h"
#include "server/channel.h"
#include "server/requests.h"

namespace hopscope::engine {

class Conversation {
public:
    // `initialized` means that the client has been greeted already. `confinement` is the confine::State of the
    // processes that open models, as text.
    explicit Conversation(Channel& channel, bool initialized = false, std::string confinement = {})
        : m_channel(channel),
          m_confinement(std::move(confinement)),
          m_initialized(initialized)
    {}
    virtual ~Conversation() = default;
    Conversation(const Conversation&) = delete;
    Conversation& operator=(const Conversation&) = delete;

    // Runs until the client ends the conversation or disconnects, or until stop() is called; returns the exit code.
    int run();
    // Cancels the current request and ends run(). May be called from any thread.
    void stop(int exitCode);

protected:
    // Called in the order of the requests, on the thread of run(). Returns nullopt if the request has been answered.
    // May throw.
    virtual std::optional<Outcome> dispatch(const protocol::Request& request, const Call& call) = 0;
    // Called immediately on the reading thread. Returns true if the request has been answered, or will be.
    virtual bool control(const protocol::Request& /*request*/) { return false; }
    // Asks all requests and runs to end. Called on any thread.
    virtual void closing() {}
    // Called after each answer of dispatch().
    virtual void answered() {}

    // These functions are thread-safe.
    void notify(const std::string& method, json::Value params);
    void respond(std::int64_t id, Outcome outcome);
    void pass(std::string_view message) { m_channel.pass(message); }
    void stopIfDeviceLost();
    static Outcome unknown(const std::string& method);

private:
    void readAll();
    void close();
    bool readFrames(protocol::FrameReader& frames);
    bool receive(const std::string& text);
    void receive(protocol::Request request);
    bool receive(const protocol::Notification& notice);
    void refuse(std::int64_t id, int code, const std::string& message);
    base::ProgressFn progressOf(std::int64_t id);
    void answer(const protocol::Request& request, const Call& call);
    std::optional<Outcome> guarded(const protocol::Request& request, const Call& call);
    Outcome initialize(const json::Reader& params);
    Outcome shutdown();

    Channel& m_channel;
    std::string m_confinement;
    RequestQueue m_queue;
    std::atomic<bool> m_initialized = false;
    bool m_shutDown = false;
    std::atomic<int> m_exitCode = 0;
    base::Ending m_ending;
};

// Runs a conversation to its end; signals end it with the exit code 130.
int converse(Conversation& conversation, const std::stop_token& stop);

}  // namespace hopscope::engine
