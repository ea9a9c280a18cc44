#include "server/worker_front.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "server/confined.h"
#include "server/relay.h"
#include "server/worker.h"

namespace hopscope::engine {

namespace {

using json::Reader;
using protocol::Request;

confine::Access accessOf(const DealtRequest& dealt)
{
    confine::Access access;
    addModel(access, dealt.run.model);
    for (const std::string& file : {dealt.run.plan.file, dealt.run.plan.pins})
        if (!file.empty()) access.read.push_back(file);
    return access;
}

class WorkerFront final : public Relay {
public:
    using Relay::Relay;

protected:
    Reply dispatch(const Request& request, const Call& call) override
    {
        if (request.method == "worker/open") return open(request, call);
        if (!isOfRun(request.method)) return unknown(request.method);
        if (!m_process) return invalid("no run is open: worker/open opens one");
        Reply reply;
        ask(request, call, {}, reply);
        return reply;
    }

private:
    // Opens the run in a new process, unless the previous one's run is still open.
    Reply open(const Request& request, const Call& call)
    {
        const Reader params(request.params, "params");
        const DealtRequest dealt = dealtRequestOf(params);
        if (!params.ok()) return invalid(params);
        Reply reply;
        const bool there = m_process && !m_process->ended();
        if (there && !ask(request, call, {.failureOnly = true}, reply)) return reply;
        m_process.reset();
        const base::Result<Process> begun = models().start(
            {.number = 0, .firstRun = 0, .access = accessOf(dealt), .exported = {}, .dealt = request.params});
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
