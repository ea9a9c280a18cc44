#pragma once

// The window's end of the protocol. It starts the engine as a child process, sends requests, delivers answers, and
// survives the death of the engine at any moment. It belongs to one thread, and waits only while it ends a child: in its
// destructor, and after it has refused an incompatible engine.

#include <QJsonObject>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <functional>
#include <map>
#include <memory>

#include "protocol/framing.h"
#include "protocol/requests.h"
#include "protocol/rpc.h"
#include "json/json.h"

namespace hopscope::jobs {

enum class EngineState { Stopped, Starting, Ready, Failed };

class EngineClient : public QObject {
    Q_OBJECT
public:
    using Answer = std::function<void(base::Result<json::Value>)>;

    // `command` is the program and its arguments: {"hopscope-engine", "serve"} or {"ssh", "host", "hopscope-engine",
    // "serve"}.
    explicit EngineClient(QStringList command, QObject* parent = nullptr);
    ~EngineClient() override;  // ends the child

    void start();
    void restart();
    [[nodiscard]] EngineState state() const { return m_state; }
    // Returns the confinement of the processes that open models: "confined" or "not confined: why"; empty if it was not
    // reported.
    [[nodiscard]] QString confinement() const;
    [[nodiscard]] const json::Value& serverInfo() const { return m_serverInfo; }  // the answer to `initialize`
    [[nodiscard]] bool pauses() const;                                            // true if its runs can be paused
    [[nodiscard]] qint64 processId() const;

    // Sends a request. `answer` is called once, later, with the result or the error; with Internal ("the engine has
    // stopped") if the engine dies first, or in the state Failed. It is dropped without a call when `context` or the
    // client is destroyed. Requests in the states Stopped and Starting are sent once the engine is ready.
    std::int64_t request(const QString& method, json::Value params, QObject* context, Answer answer);
    // Sends one of the protocol's requests (protocol/requests.h) in the same way.
    template <class Members>
    std::int64_t ask(const Members& members, QObject* context, Answer answer)
    {
        std::conditional_t<std::derived_from<Members, protocol::OfRun>, protocol::RunQuery, protocol::Query> query;
        protocol::setTo(members, query);
        return request(QString::fromStdString(protocol::methodOf(query)), protocol::paramsOf(query), context,
                       std::move(answer));
    }
    void cancel(std::int64_t id);

signals:
    void stateChanged(hopscope::jobs::EngineState state);
    void died(const QString& reason);  // may end with the last lines of the engine's standard error
    void notified(const QString& method, const hopscope::json::Value& params);
    void progressed(std::int64_t request, const QString& what, std::int64_t done, std::int64_t total);

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
    EngineState m_state = EngineState::Stopped;
    json::Value m_serverInfo;
};

}  // namespace hopscope::jobs
