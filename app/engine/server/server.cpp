#include "server/server.h"

#include <map>
#include <set>

#include "server/conversation.h"
#include "server/exports.h"
#include "server/runs.h"

namespace hopscope::engine {

namespace {

using json::Reader;
using json::Value;

class Server final : public Conversation {
public:
    Server(Channel& channel, const std::string& folder, ModelProcessBeginning& beginning)
        : Conversation(channel, true),
          m_folder(folder),
          m_beginning(beginning),
          m_documents(folder, beginning.number),
          m_runs(folder, beginning.firstRun,
                 [this](const std::string& method, Value params) { tell(method, std::move(params)); })
    {}

protected:
    // Requests that control a run do not wait for others.
    bool control(const protocol::Request& request) override
    {
        if (!controlsRun(request.method)) return false;
        respond(request.id, m_runs.control(request.method, Reader(request.params, "params")));
        return true;
    }

    void answered() override { m_runs.begin(); }

    std::optional<Outcome> dispatch(const protocol::Request& request, const Call& call) override
    {
        using Method = Outcome (Server::*)(const Reader&, const Call&);
        static const std::map<std::string, Method> methods{
            {"model/open", &Server::openModel},
            {"model/close", &Server::closeModel},
            {"model/source", &Server::source},
            {"plan/make", &Server::plan},
            {"plan/repairs", &Server::repairs},
            {"plan/explain", &Server::explain},
            {"plan/steps", &Server::steps},
            {"plan/load", &Server::load},
            {"run/start", &Server::startRun},
            {"export/preview", &Server::preview},
            {"export/write", &Server::write},
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

    Outcome write(const Reader& params, const Call& call)
    {
        if (!m_beginning.exported) return invalid("this process writes no exports");
        return writeExport(params, *m_beginning.exported, m_folder, call);
    }
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
    ModelProcessBeginning& m_beginning;
    Documents m_documents;
    Runs m_runs;
};

}  // namespace

bool controlsRun(const std::string& method)
{
    static const std::set<std::string> known{"run/pause", "run/resume", "run/step", "run/breakpoints", "run/cancel"};
    return known.contains(method);
}

int serveModel(Channel& channel, const std::string& folder, ModelProcessBeginning& beginning)
{
    Server server(channel, folder, beginning);
    return converse(server, {});
}

}  // namespace hopscope::engine
