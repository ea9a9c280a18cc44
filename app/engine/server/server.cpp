#include "server/server.h"

#include <unistd.h>

#include <chrono>
#include <exception>
#include <map>
#include <new>

#include "base/parallel.h"
#include "executor/memory.h"
#include "pipeline/devices.h"
#include "pipeline/home.h"
#include "protocol/framing.h"
#include "server/channel.h"
#include "server/exports.h"
#include "server/machine.h"
#include "server/runs.h"
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

class Server {
public:
    Server(Channel& channel, const std::string& folder)
        : m_channel(channel),
          m_folder(folder),
          m_documents(folder),
          m_runs(folder, [this](const std::string& method, Value params) { notify(method, std::move(params)); })
    {}

    int run()
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

    void stop(int exitCode)
    {
        m_exitCode = exitCode;
        m_queue.close();
    }

private:
    // ---- the reading thread

    void readAll()
    {
        protocol::FrameReader frames;
        for (std::string bytes = m_channel.read(); !bytes.empty(); bytes = m_channel.read()) {
            frames.append(bytes);
            if (!readFrames(frames)) return;
        }
        m_queue.close();
    }

    // False at the end of the connection.
    bool readFrames(protocol::FrameReader& frames)
    {
        for (;;) {
            base::Result<std::optional<std::string>> text = frames.next();
            if (!text) {
                const base::Error& e = text.error();
                m_channel.send(protocol::Response{
                    {},
                    RpcError{
                        .code = protocol::code::parseError, .message = e.message, .hint = e.hint, .where = e.where}});
                stop(static_cast<int>(base::ErrorCode::Input));
                return false;
            }
            if (!text->has_value()) return true;
            if (!receive(**text)) return false;
        }
    }

    bool receive(const std::string& text)
    {
        base::Result<protocol::Message> message = protocol::readMessage(text);
        if (!message) m_channel.send(protocol::refusal(text, message.error()));
        else if (auto* request = std::get_if<protocol::Request>(&*message)) receive(std::move(*request));
        else if (auto* notice = std::get_if<protocol::Notification>(&*message)) return receive(*notice);
        return true;
    }

    void receive(protocol::Request request)
    {
        const std::int64_t id = request.id;
        if (!m_initialized && request.method != "initialize") {
            refuse(id, protocol::code::notInitialized, "the first request must be initialize");
        } else if (request.method.starts_with("run/") && request.method != "run/start") {
            respond(id, control(request));
        } else if (!m_queue.push(std::move(request))) {
            refuse(id, protocol::code::failed - static_cast<int>(base::ErrorCode::Resources),
                   "too many pending requests");
        }
    }

    // Requests that hold a run do not wait for others.
    Outcome control(const protocol::Request& request)
    {
        static const std::set<std::string> known{"run/pause", "run/resume", "run/step", "run/breakpoints",
                                                 "run/cancel"};
        if (!known.contains(request.method)) return unknown(request.method);
        return m_runs.control(request.method, Reader(request.params, "params"));
    }

    // False at the end of the connection.
    bool receive(const protocol::Notification& notice)
    {
        if (notice.method == "exit") {
            m_queue.close();
            return false;
        }
        const Value* const id = notice.params.find("id");
        if (notice.method == "$/cancelRequest" && id != nullptr && id->asInt() != nullptr) m_queue.cancel(*id->asInt());
        return true;
    }

    // ---- answers

    void notify(const std::string& method, Value params)
    {
        m_channel.send(protocol::Notification{method, std::move(params)});
        if (method == "run/finished") stopIfDeviceLost();
    }

    // This process can compute no more on that GPU: a new one can, and the client starts it.
    void stopIfDeviceLost()
    {
        if (executor::deviceLost()) stop(static_cast<int>(base::ErrorCode::Internal));
    }

    void respond(std::int64_t id, Outcome outcome)
    {
        protocol::Response response{id, Value()};
        if (outcome) response.outcome = std::move(*outcome);
        else response.outcome = std::move(outcome.error());
        m_channel.send(response);
    }

    void refuse(std::int64_t id, int code, const std::string& message)
    {
        respond(id, tl::unexpected<RpcError>(RpcError{.code = code, .message = message, .hint = {}, .where = {}}));
    }

    static Outcome unknown(const std::string& method)
    {
        return tl::unexpected<RpcError>(RpcError{
            .code = protocol::code::unknownMethod, .message = "unknown method " + method, .hint = {}, .where = {}});
    }

    // At most 20 a second for each request.
    base::ProgressFn progressOf(std::int64_t id)
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

    void answer(const protocol::Request& request, const Call& call)
    {
        if (call.stop.stop_requested()) return refuse(call.id, protocol::code::cancelled, "cancelled");
        if (m_shutDown) return refuse(call.id, protocol::code::invalidRequest, "the engine is shutting down");
        respond(call.id, guarded(request, call));
        m_runs.begin();
    }

    // The last resort: an exception that passes its boundary ends in an answer.
    Outcome guarded(const protocol::Request& request, const Call& call)
    {
        try {
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

    Outcome dispatch(const protocol::Request& request, const Call& call)
    {
        using Method = Outcome (Server::*)(const Reader&, const Call&);
        static const std::map<std::string, Method> methods{
            {"initialize", &Server::initialize},
            {"shutdown", &Server::shutdown},
            {"model/open", &Server::openModel},
            {"model/close", &Server::closeModel},
            {"model/source", &Server::source},
            {"fs/list", &Server::list},
            {"plan/make", &Server::plan},
            {"plan/repairs", &Server::repairs},
            {"plan/explain", &Server::explain},
            {"plan/steps", &Server::steps},
            {"plan/load", &Server::load},
            {"run/start", &Server::startRun},
            {"machine/rates", &Server::rates},
            {"machine/measure", &Server::measure},
            {"machine/forget", &Server::forget},
            {"export/preview", &Server::preview},
            {"export/write", &Server::write},
            {"export/read", &Server::read},
            {"export/check", &Server::check},
            {"model/receptiveField", &Server::onDocument<receptiveField>},
            {"plan/graph", &Server::onDocument<planGraph>},
            {"plan/memory", &Server::onDocument<planMemory>},
            {"debug/nan", &Server::onDocument<huntNonFinite>},
            {"debug/staged", &Server::onDocument<compareStaged>},
            {"debug/against", &Server::onDocument<compareModels>},
            {"debug/watch", &Server::onDocument<watchValues>},
            {"debug/tensor", &Server::onDocument<lookAtTensor>},
            {"debug/stopped", &Server::stoppedTensorOf},
            {"debug/rows", &Server::onDocument<tensorRows>},
            {"debug/save", &Server::onDocument<saveTensor>}};
        const auto method = methods.find(request.method);
        if (method == methods.end()) return unknown(request.method);
        return (this->*method->second)(Reader(request.params, "params"), call);
    }

    Outcome initialize(const Reader& params, const Call&)
    {
        const int major = params.child("protocol").get<int>("major");
        if (!params.ok()) return invalid(params);
        if (major != protocol::protocolMajor)
            return invalid("this engine speaks version " + std::to_string(protocol::protocolMajor) +
                           " of the protocol, not " + std::to_string(major) + ": use a window of the same version");
        Value result;
        result["server"] = textPair("name", "hopscope-engine", "version", versionText);
        result["protocol"] = versionValue();
        result["process_id"] = static_cast<std::int64_t>(getpid());
        result["threads"] = base::hardwareThreads();
        const Value devices = pipeline::devicesValue(pipeline::findDevices());
        for (const char* const member : {"devices", "missing"}) result[member] = *devices.find(member);
        m_initialized = true;
        return result;
    }

    Outcome shutdown(const Reader&, const Call&)
    {
        m_shutDown = true;
        return Value();
    }

    Outcome openModel(const Reader& params, const Call& call) { return m_documents.open(params, call); }
    Outcome list(const Reader& params, const Call&) { return listFolder(params); }

    Outcome closeModel(const Reader& params, const Call&)
    {
        const Document* const document = m_documents.find(params);
        if (document == nullptr) return invalid(params);
        const std::int64_t id = document->id;
        if (m_runs.busyWith(id)) return invalid("the model is running; cancel the run first");
        m_runs.forget(id);
        m_documents.close(id);
        return Value();
    }

    template <class Answer>
    Outcome withDocument(const Reader& params, Answer&& answerFor)
    {
        Document* const document = m_documents.find(params);
        if (document && document->spent) params.child("document").refuse("has given its data to its last run");
        return params.ok() ? answerFor(*document) : Outcome(invalid(params));
    }

    Outcome source(const Reader& params, const Call&)
    {
        return withDocument(params, [&](Document& d) { return sourceAround(d, params); });
    }

    template <auto Work>
    Outcome onDocument(const Reader& params, const Call& call)
    {
        return withDocument(params, [&](Document& d) { return Work(d, params, m_folder, call); });
    }

    Outcome rates(const Reader& params, const Call& call) { return machineRates(params, call); }
    Outcome forget(const Reader& params, const Call& call) { return forgetRates(params, call); }
    Outcome measure(const Reader& params, const Call& call) { return measureRates(params, m_folder, call); }

    Outcome plan(const Reader& params, const Call& call)
    {
        return withDocument(params, [&](Document& d) { return makePlan(d, params, call); });
    }

    Outcome repairs(const Reader& params, const Call& call)
    {
        return withDocument(params, [&](Document& d) { return planRepairs(d, params, call); });
    }

    Outcome explain(const Reader& params, const Call& call)
    {
        return withDocument(params, [&](Document& d) { return planExplanation(d, params, call); });
    }

    Outcome steps(const Reader& params, const Call& call)
    {
        return withDocument(params, [&](Document& d) { return planSteps(d, params, call); });
    }

    Outcome load(const Reader& params, const Call& call)
    {
        return withDocument(params, [&](Document& d) { return loadPlan(d, params, call); });
    }

    Outcome preview(const Reader& params, const Call&)
    {
        return withDocument(params, [&](Document& d) { return previewExport(d, params); });
    }

    Outcome write(const Reader& params, const Call& call) { return writeExport(params, m_folder, call); }
    Outcome read(const Reader& params, const Call&) { return readExport(params); }
    Outcome check(const Reader& params, const Call& call) { return checkExport(params, m_folder, call); }

    Outcome startRun(const Reader& params, const Call& call)
    {
        return withDocument(params, [&](Document& d) { return m_runs.start(d, params, call.progress); });
    }

    Outcome stoppedTensorOf(const Reader& params, const Call&)
    {
        return withDocument(params, [&](Document& d) -> Outcome {
            Run* const run = m_runs.find(params.get<std::int64_t>("run"), d.id);
            if (params.ok() && run == nullptr) params.child("run").refuse("is not the last run of this model");
            return params.ok() ? stoppedTensor(d, *run) : Outcome(invalid(params));
        });
    }

    Channel& m_channel;
    RequestQueue m_queue;
    std::string m_folder;
    Documents m_documents;
    Runs m_runs;
    std::atomic<bool> m_initialized = false;
    bool m_shutDown = false;
    std::atomic<int> m_exitCode = 0;
};

}  // namespace

base::Result<int> serve(const std::stop_token& stop)
{
    base::Result<std::unique_ptr<Channel>> channel = Channel::open();
    if (!channel) return base::forward(channel);
    const base::Result<pipeline::EngineHome> home = pipeline::EngineHome::make();
    if (!home) return base::forward(home);
    executor::installCpuAllocator();  // before the first model, so that memory is counted alike for all
    Server server(**channel, home->path());
    const std::stop_callback onStop(stop, [&] { server.stop(interrupted); });
    return server.run();
}

}  // namespace hopscope::engine
