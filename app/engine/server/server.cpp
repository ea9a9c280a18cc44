#include "server/server.h"

#include <map>
#include <set>

#include "pipeline/home.h"
#include "server/conversation.h"
#include "server/exports.h"
#include "server/machine.h"
#include "server/runs.h"

namespace hopscope::engine {

namespace {

using json::Reader;
using json::Value;

class Server final : public Conversation {
public:
    Server(Channel& channel, const std::string& folder)
        : Conversation(channel),
          m_folder(folder),
          m_documents(folder),
          m_runs(folder, [this](const std::string& method, Value params) { tell(method, std::move(params)); })
    {}

protected:
    // Requests that hold a run do not wait for others.
    std::optional<Outcome> control(const protocol::Request& request) override
    {
        static const std::set<std::string> known{"run/pause", "run/resume", "run/step", "run/breakpoints",
                                                 "run/cancel"};
        if (!request.method.starts_with("run/") || request.method == "run/start") return std::nullopt;
        if (!known.contains(request.method)) return unknown(request.method);
        return m_runs.control(request.method, Reader(request.params, "params"));
    }

    void answered() override { m_runs.begin(); }

    Outcome dispatch(const protocol::Request& request, const Call& call) override
    {
        using Method = Outcome (Server::*)(const Reader&, const Call&);
        static const std::map<std::string, Method> methods{
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

private:
    void tell(const std::string& method, Value params)
    {
        notify(method, std::move(params));
        if (method == "run/finished") stopIfDeviceLost();
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

    std::string m_folder;
    Documents m_documents;
    Runs m_runs;
};

}  // namespace

base::Result<int> serve(const std::stop_token& stop)
{
    base::Result<std::unique_ptr<Channel>> channel = Channel::open();
    if (!channel) return base::forward(channel);
    const base::Result<pipeline::EngineHome> home = pipeline::EngineHome::make();
    if (!home) return base::forward(home);
    Server server(**channel, home->path());
    return converse(server, stop);
}

}  // namespace hopscope::engine
