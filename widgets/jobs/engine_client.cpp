#include "jobs/engine_client.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QPointer>
#include <QTimer>
#include <deque>

#include "jobs/connection.h"
#include "json/reader.h"

namespace hopscope::jobs {

namespace {

constexpr int firstDelay = 200;  // milliseconds; doubled with every death
constexpr int longestDelay = 8000;
constexpr int manyDeaths = 6;            // in a row: gives up
constexpr qint64 healthyAfter = 20'000;  // milliseconds after which earlier deaths are forgotten

base::Error gone(const QString& reason)
{
    return base::makeError(base::ErrorCode::Internal, "the engine has stopped", {}, reason.toStdString());
}

json::Value initializeParams()
{
    json::Value params = json::Value::object();
    params["client"]["name"] = "hopscope";
    params["client"]["version"] = QCoreApplication::applicationVersion().toStdString();
    params["protocol"]["major"] = protocol::protocolMajor;
    params["protocol"]["minor"] = protocol::protocolMinor;
    return params;
}

// The problem with the answer to `initialize`; empty: none.
QString versionProblem(const json::Value& info)
{
    const json::Value* major = json::resolve(info, "/protocol/major");
    if (!major || !major->asInt()) return EngineClient::tr("the engine does not report its protocol version");
    if (*major->asInt() == protocol::protocolMajor) return {};
    return EngineClient::tr("the engine uses protocol %1, this window %2; use matching versions")
        .arg(*major->asInt())
        .arg(protocol::protocolMajor);
}

}  // namespace

struct EngineClient::Impl {
    struct Pending {
        QPointer<QObject> context;
        Answer answer;
        std::optional<protocol::Request> waiting;  // not sent yet
    };

    EngineClient& client;
    QStringList command;
    std::unique_ptr<Connection> connection;
    std::map<std::int64_t, Pending> pending;  // by id, in order of creation
    std::int64_t nextId = 1, handshake = 0;
    int deaths = 0;
    QElapsedTimer life;
    QTimer delay;

    explicit Impl(EngineClient& owner) : client(owner) {}

    void setState(EngineState state);
    void connectTo();
    void greet();
    void receive(protocol::Message& message);
    void respond(protocol::Response& response);
    void notify(const protocol::Notification& notification);
    void progress(const json::Value& params);
    void welcome(base::Result<json::Value> info);
    void refuse(const QString& reason);
    void sendWaiting();
    void end(const QString& reason, bool startable);
    void answerAll(const base::Error& error);
    void answer(const Pending& one, base::Result<json::Value> outcome);
};

void EngineClient::Impl::setState(EngineState state)
{
    if (client.m_state == state) return;
    client.m_state = state;
    emit client.stateChanged(state);
}

void EngineClient::Impl::connectTo()
{
    delay.stop();
    connection = std::make_unique<Connection>(command);
    QObject::connect(connection.get(), &Connection::started, &client, [this] { greet(); });
    QObject::connect(connection.get(), &Connection::received, &client,
                     [this](const std::shared_ptr<protocol::Message>& message) { receive(*message); });
    QObject::connect(connection.get(), &Connection::ended, &client,
                     [this](const QString& reason, bool startable) { end(reason, startable); });
    setState(EngineState::Starting);
}

void EngineClient::Impl::greet()
{
    life.start();
    handshake = nextId++;
    connection->send(protocol::Request{.id = handshake, .method = "initialize", .params = initializeParams()});
}

void EngineClient::Impl::receive(protocol::Message& message)
{
    if (auto* response = std::get_if<protocol::Response>(&message)) respond(*response);
    else if (const auto* notification = std::get_if<protocol::Notification>(&message)) notify(*notification);
}

// Moves big answers all the way: copying one would take noticeable time.
void EngineClient::Impl::respond(protocol::Response& response)
{
    if (!response.id) return;  // the engine could not parse our message; it ends by itself
    base::Result<json::Value> outcome = json::Value();
    if (const auto* error = std::get_if<protocol::RpcError>(&response.outcome))
        outcome = tl::unexpected(protocol::fromRpc(*error));
    else outcome = std::move(std::get<json::Value>(response.outcome));
    if (*response.id == handshake) return welcome(std::move(outcome));
    const auto found = pending.find(*response.id);
    if (found == pending.end() || found->second.waiting) return;
    Pending one = std::move(found->second);
    pending.erase(found);
    answer(one, std::move(outcome));
}

void EngineClient::Impl::notify(const protocol::Notification& notification)
{
    if (notification.method == "$/progress") progress(notification.params);
    else emit client.notified(QString::fromStdString(notification.method), notification.params);
}

void EngineClient::Impl::progress(const json::Value& params)
{
    const json::Reader reader(params, "$/progress");
    const auto request = reader.get<std::int64_t>("request");
    const auto what = QString::fromStdString(reader.get<std::string>("what"));
    const auto done = reader.get<std::int64_t>("done"), total = reader.get<std::int64_t>("total");
    if (reader.ok()) emit client.progressed(request, what, done, total);
}

void EngineClient::Impl::welcome(base::Result<json::Value> info)
{
    if (!info) return refuse(QString::fromStdString(info.error().message));
    const QString problem = versionProblem(*info);
    if (!problem.isEmpty()) return refuse(problem);
    client.m_serverInfo = std::move(*info);
    setState(EngineState::Ready);
    sendWaiting();
}

// Ends the connection to an incompatible engine: trying again would not help.
void EngineClient::Impl::refuse(const QString& reason)
{
    QObject::disconnect(connection.get(), nullptr, &client, nullptr);
    connection.release()->deleteLater();
    setState(EngineState::Failed);
    answerAll(gone(reason));
    emit client.died(reason);
}

void EngineClient::Impl::sendWaiting()
{
    for (auto& [id, one] : pending) {
        if (!one.waiting) continue;
        connection->send(std::move(*one.waiting));
        one.waiting.reset();
    }
}

void EngineClient::Impl::end(const QString& reason, bool startable)
{
    deaths = life.isValid() && life.elapsed() > healthyAfter ? 1 : deaths + 1;
    connection.release()->deleteLater();
    const bool hopeless = !startable || deaths >= manyDeaths;
    setState(hopeless ? EngineState::Failed : EngineState::Stopped);
    answerAll(gone(reason));
    emit client.died(reason);
}

void EngineClient::Impl::answerAll(const base::Error& error)
{
    std::map<std::int64_t, Pending> all;
    all.swap(pending);
    for (auto& [id, one] : all) answer(one, tl::unexpected(error));
}

void EngineClient::Impl::answer(const Pending& one, base::Result<json::Value> outcome)
{
    if (one.context) one.answer(std::move(outcome));
}

EngineClient::EngineClient(QStringList command, QObject* parent)
    : QObject(parent),
      m_impl(std::make_unique<Impl>(*this))
{
    m_impl->command = std::move(command);
    m_impl->delay.setSingleShot(true);
    connect(&m_impl->delay, &QTimer::timeout, this, [this] { m_impl->connectTo(); });
}

EngineClient::~EngineClient() = default;

void EngineClient::start()
{
    if (!m_impl->connection && !m_impl->delay.isActive()) m_impl->connectTo();
}

void EngineClient::restart()
{
    if (m_impl->connection) return m_impl->connection->kill(tr("the engine was restarted"));
    if (m_state == EngineState::Failed) {
        m_impl->deaths = 0;
        return m_impl->connectTo();
    }
    const int doublings = std::min(std::max(m_impl->deaths - 1, 0), 6);
    m_impl->delay.start(std::min(firstDelay << doublings, longestDelay));
}

// An engine can pause runs unless it denies that.
bool EngineClient::pauses() const
{
    const json::Value* pauses = m_serverInfo.find("pauses");
    return pauses == nullptr || pauses->asBool() == nullptr || *pauses->asBool();
}

QString EngineClient::confinement() const
{
    const json::Value* const said = m_serverInfo.find("confinement");
    return said != nullptr && said->asString() != nullptr ? QString::fromStdString(*said->asString()) : QString();
}

qint64 EngineClient::processId() const { return m_impl->connection ? m_impl->connection->processId() : 0; }

std::int64_t EngineClient::request(const QString& method, json::Value params, QObject* context, Answer answer)
{
    const std::int64_t id = m_impl->nextId++;
    Impl::Pending one{.context = context, .answer = std::move(answer), .waiting = std::nullopt};
    protocol::Request request{.id = id, .method = method.toStdString(), .params = std::move(params)};
    if (m_state == EngineState::Failed) {
        QTimer::singleShot(0, context, [answer = one.answer] { answer(tl::unexpected(gone({}))); });
        return id;
    }
    if (m_state == EngineState::Ready) m_impl->connection->send(std::move(request));
    else one.waiting = std::move(request);
    m_impl->pending.emplace(id, std::move(one));
    return id;
}

void EngineClient::cancel(std::int64_t id)
{
    const auto found = m_impl->pending.find(id);
    if (found == m_impl->pending.end()) return;
    if (!found->second.waiting) {
        json::Value params = json::Value::object();
        params["id"] = id;
        return m_impl->connection->send(protocol::Notification{"$/cancelRequest", std::move(params)});
    }
    Impl::Pending one = std::move(found->second);
    m_impl->pending.erase(found);
    if (!one.context) return;
    QTimer::singleShot(0, one.context,
                       [answer = one.answer] { answer(base::fail(base::ErrorCode::Cancelled, "cancelled")); });
}

}  // namespace hopscope::jobs
