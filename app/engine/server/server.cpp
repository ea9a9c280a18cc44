#include "server/server.h"

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
    bool control(const protocol::Request& request) override
    {
        const Reader params(request.params, "params");
        const std::optional<protocol::RunQuery> query = protocol::readRunQuery(request.method, params);
        if (query) respond(request.id, params.ok() ? m_runs.control(*query) : invalid(params));
        return query.has_value();
    }

    void answered() override { m_runs.begin(); }

    std::optional<Outcome> dispatch(const protocol::Request& request, const Call& call) override
    {
        const Reader params(request.params, "params");
        const std::optional<protocol::Query> query = protocol::readQuery(request.method, params);
        if (!query) return unknown(request.method);
        if (!params.ok()) return invalid(params);
        return std::visit([&](const auto& each) { return carryOut(each, params, call); }, *query);
    }

private:
    void tell(const std::string& method, Value params)
    {
        notify(method, std::move(params));
        if (method == "run/finished") stopIfDeviceLost();
    }

    // Requests that front.cpp answers itself are unknown here.
    template <class Q>
    Outcome carryOut(const Q& query, const Reader& params, const Call& call)
    {
        if constexpr (requires { own(query, params, call); }) return own(query, params, call);
        else if constexpr (requires(const Work& work) { engine::answer(query, work); })
            return withDocument(query, params, [&](Document& d) {
                return engine::answer(query, {.document = d, .folder = m_folder, .call = call, .params = params});
            });
        else return unknown(Q::method);
    }

    template <class Answering>
    Outcome withDocument(const protocol::OfDocument& query, const Reader& params, Answering&& answerFor)
    {
        Document* const document = m_documents.find(query.document, params);
        if (document && document->spent) params.child("document").refuse("has given its data to its last run");
        return params.ok() ? answerFor(*document) : Outcome(invalid(params));
    }

    Outcome own(const protocol::OpenModel& query, const Reader&, const Call& call)
    {
        return m_documents.open(query, call);
    }

    Outcome own(const protocol::CloseModel& query, const Reader& params, const Call&)
    {
        const Document* const document = m_documents.find(query.document, params);
        if (document == nullptr) return invalid(params);
        if (m_runs.busyWith(document->id)) return invalid("the model is running; cancel the run first");
        m_runs.forget(document->id);
        m_documents.close(query.document);
        return Value();
    }

    Outcome own(const protocol::WriteExport& query, const Reader&, const Call& call)
    {
        if (!m_beginning.exported) return invalid("this process writes no exports");
        return writeExport(query, *m_beginning.exported, m_folder, call);
    }

    Outcome own(const protocol::CheckExport& query, const Reader&, const Call& call)
    {
        return checkExport(query, m_folder, call);
    }

    Outcome own(const protocol::StartRun& query, const Reader& params, const Call& call)
    {
        return withDocument(query, params, [&](Document& d) { return m_runs.start(d, query, call.progress); });
    }

    Outcome own(const protocol::SeeStopped& query, const Reader& params, const Call&)
    {
        return withDocument(query, params, [&](Document& d) -> Outcome {
            Run* const run = m_runs.find(query.run, d.id);
            if (run == nullptr) params.child("run").refuse("is not the last run of this model");
            return params.ok() ? stoppedTensor(d, *run) : Outcome(invalid(params));
        });
    }

    std::string m_folder;
    ModelProcessBeginning& m_beginning;
    Documents m_documents;
    Runs m_runs;
};

}  // namespace

int serveModel(Channel& channel, const std::string& folder, ModelProcessBeginning& beginning)
{
    Server server(channel, folder, beginning);
    return converse(server, {});
}

}  // namespace hopscope::engine
