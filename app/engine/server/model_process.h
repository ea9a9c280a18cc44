#pragma once

// Manages the process in which a model is opened, evaluated and exported, and which is confined to the files that its
// request names (server/confined.h). This is the view of the process that talks to the client and touches no model.

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/result.h"
#include "confine/confine.h"
#include "protocol/rpc.h"
#include "server/marks.h"
#include "verify/fork_server.h"
#include "json/json.h"

namespace hopscope::engine {

struct ModelProcessOrder {
    std::int64_t number = 1;  // of the document
    std::int64_t firstRun = 1;
    std::optional<confine::Access> access;  // none: the process keeps its rights
    std::string exported;                   // the destination of export/write; empty: none
    json::Value dealt{};                    // for a worker, the parameters of worker/open; otherwise null
    std::string home{};                     // the folder in which its scratch folder is created
};

// Prepares starting such processes. Call it once, while the program has a single thread.
void beginModelProcesses();

// This program's end of the connection to such a process. Its last owner closes it.
class ModelSocket {
public:
    explicit ModelSocket(int socket) : m_socket(socket) {}
    ModelSocket(const ModelSocket&) = delete;
    ModelSocket& operator=(const ModelSocket&) = delete;
    ~ModelSocket();
    [[nodiscard]] int handle() const { return m_socket; }
    // Asks the process to end. May be called from any thread; does not wait.
    void leave() const;

private:
    int m_socket;
};

class ModelProcess {
public:
    struct Listener {
        std::function<void(const Marked&)> passOn;  // each message of the process, in order
        std::function<void(const verify::ChildEnd&)> processEnded;
    };
    // Starts a process. The listener is called on a thread of its own. Fails with Resources if no process can be
    // started.
    static base::Result<std::shared_ptr<ModelProcess>> start(const ModelProcessOrder& order, Listener listener);
    ModelProcess(const ModelProcess&) = delete;
    ModelProcess& operator=(const ModelProcess&) = delete;
    // Ends the process within a second.
    ~ModelProcess();

    struct Answer {
        bool succeeded = false;
        std::string message;  // already passed on
    };
    struct Asking {
        bool expendable = false;   // the process is ended if it does not follow a stop request within half a second
        bool failureOnly = false;  // a success is not passed on
    };
    // Sends a request and waits for the answer. Returns nullopt if the process has ended.
    std::optional<Answer> ask(const protocol::Request& request, const std::stop_token& stop, Asking how);
    // Sends a request; the listener passes the answer on.
    void send(const protocol::Request& request);
    [[nodiscard]] const std::shared_ptr<const ModelSocket>& socket() const { return m_socket; }
    [[nodiscard]] std::int64_t firstRun() const { return m_firstRun; }
    // Returns how the process has ended; nullopt while it runs.
    [[nodiscard]] std::optional<verify::ChildEnd> ended();

private:
    struct Awaited {
        bool failureOnly = false;
        std::optional<Answer> answer{};
    };
    ModelProcess(std::shared_ptr<const ModelSocket> socket, std::int64_t firstRun, verify::ForkedChild child,
                 Listener listener);
    void read();
    void take(const std::string& text);
    void bury();
    void sendMessage(const protocol::Message& message);

    std::shared_ptr<const ModelSocket> m_socket;
    std::int64_t m_firstRun;
    verify::ForkedChild m_child;
    Listener m_listener;
    std::mutex m_mutex, m_sending;
    std::condition_variable_any m_changed;
    std::map<std::int64_t, Awaited> m_awaited;  // by request
    bool m_gone = false;
    std::optional<verify::ChildEnd> m_end;
    std::thread m_reader;
};

// Returns "the process of this model was ended by signal 11 (Segmentation fault)", with a hint.
base::Error epitaph(const verify::ChildEnd& end);

}  // namespace hopscope::engine
