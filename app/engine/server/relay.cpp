#include "server/relay.h"

#include <sys/wait.h>

#include "protocol/run.h"

namespace hopscope::engine {

Relay::Relay(Channel& channel, const std::string& home, bool sandbox)
    : Conversation(channel, false, sandbox ? confine::tried() : "not confined: --no-sandbox"),
      m_home(home),
      m_models(home, sandbox,
               {.pass = [this](std::string_view message) { pass(message); },
                .processEnded = [this](const verify::ChildEnd& end, std::int64_t run) { processEnded(end, run); }})
{}

std::optional<ModelProcess::Answer> Relay::carryOut(ModelProcess& process, const protocol::Request& request,
                                                    const Call& call, ModelProcess::Asking how, Reply& reply)
{
    std::optional<ModelProcess::Answer> answer = process.ask(request, call.stop, how);
    if (!answer) reply = unanswered(process, call);
    return answer && answer->succeeded ? std::move(answer) : std::nullopt;
}

// The outcome for a process that has ended instead of answering.
Outcome Relay::unanswered(ModelProcess& process, const Call& call)
{
    if (call.stop.stop_requested())
        return failed({.code = base::ErrorCode::Cancelled, .message = "cancelled", .hint = {}, .where = {}});
    const verify::ChildEnd end = process.ended().value_or(verify::ChildEnd());
    endLike(end);
    return failed(epitaph(end));
}

// The reason why a process has ended by itself applies to this one as well: a lost GPU, or a file that was truncated while
// it was read.
void Relay::endLike(const verify::ChildEnd& end)
{
    if (WIFEXITED(end.status) && WEXITSTATUS(end.status) != 0) stop(WEXITSTATUS(end.status));
}

void Relay::processEnded(const verify::ChildEnd& end, std::int64_t run)
{
    protocol::RunFinished finished;
    finished.run = run;
    finished.error = epitaph(end);
    if (run != 0) notify("run/finished", protocol::writeFinished(finished));
    endLike(end);
}

}  // namespace hopscope::engine
