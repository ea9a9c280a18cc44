#include "server/worker_front.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "protocol/requests.h"
#include "server/confined.h"
#include "server/documents.h"
#include "server/relay.h"

namespace hopscope::engine {

namespace {

using json::Reader;
using protocol::Request;

confine::Access accessOf(const protocol::OpenRun& query)
{
    confine::Access access;
    addModel(access, modelOptionsOf(query.files));
    for (const std::string& file : {query.plan, query.pins})
        if (!file.empty()) access.read.push_back(file);
    return access;
}

class WorkerFront final : public Relay {
public:
    using Relay::Relay;

protected:
    Reply dispatch(const Request& request, const Call& call) override
    {
        const Reader params(request.params, "params");
        const std::optional<protocol::WorkerQuery> query = protocol::readWorkerQuery(request.method, params);
        if (!query) return unknown(request.method);
        if (!params.ok()) return invalid(params);
        if (const auto* const opening = std::get_if<0>(&*query)) return open(*opening, request, call);
        if (!m_process) return invalid("no run is open: worker/open opens one");
        Reply reply;
        ask(request, call, {}, reply);
        return reply;
    }

private:
    // Opens the run in a new process, unless the previous one's run is still open.
    Reply open(const protocol::OpenRun& query, const Request& request, const Call& call)
    {
        Reply reply;
        const bool there = m_process && !m_process->ended();
        if (there && !ask(request, call, {.failureOnly = true}, reply)) return reply;
        m_process.reset();
        const base::Result<Process> begun = models().start(
            {.number = 0, .firstRun = 0, .access = accessOf(query), .exported = {}, .dealt = request.params});
        if (!begun) return failed(begun.error());
        m_process = *begun;
        ask(request, call, {.expendable = true}, reply);
        return reply;
    }

    bool ask(const Request& request, const Call& call, ModelProcess::Asking how, Reply& reply)
    {
        const bool done = carryOut(*m_process, request, call, how, reply).has_value();
        const auto end = call.stop.stop_requested() ? std::nullopt : m_process->ended();
        if (end && WIFSIGNALED(end->status)) endBy(WTERMSIG(end->status));
        return done;
    }

    // Ends this process as the computing one has ended, so that the client sees the same signal.
    static void endBy(int signal)
    {
        std::signal(signal, SIG_DFL);
        ::kill(getpid(), signal);
    }

    Process m_process;
};

}  // namespace

base::Result<int> work(const std::stop_token& stop, bool sandbox) { return relayed<WorkerFront>(stop, sandbox); }

}  // namespace hopscope::engine
