#pragma once

// A conversation in which the processes of models answer the requests (server/models.h).

#include <memory>
#include <optional>
#include <string>

#include "pipeline/files/home.h"
#include "server/conversation.h"
#include "server/models.h"

namespace hopscope::engine {

class Relay : public Conversation {
public:
    // `home` is the folder for the scratch folders of the processes, which are confined if `sandbox`.
    Relay(Channel& channel, const std::string& home, bool sandbox);

protected:
    using Process = std::shared_ptr<ModelProcess>;
    using Reply = std::optional<Outcome>;  // nullopt: already sent to the client

    // Returns a successful answer. After a failure, `reply` holds the client's answer unless it has been passed on.
    std::optional<ModelProcess::Answer> carryOut(ModelProcess& process, const protocol::Request& request,
                                                 const Call& call, ModelProcess::Asking how, Reply& reply);
    void closing() override { m_models.leave(); }
    [[nodiscard]] const std::string& home() const { return m_home; }
    [[nodiscard]] Models& models() { return m_models; }

private:
    Outcome unanswered(ModelProcess& process, const Call& call);
    void endLike(const verify::ChildEnd& end);
    void processEnded(const verify::ChildEnd& end, std::int64_t run);

    std::string m_home;
    Models m_models;
};

// Runs a Relay from the start of its connection to the end, and returns the exit code.
template <class Client>
base::Result<int> relayed(const std::stop_token& stop, bool sandbox)
{
    base::Result<std::unique_ptr<Channel>> channel = Channel::open();
    if (!channel) return base::forward(channel);
    const base::Result<pipeline::EngineHome> home = pipeline::EngineHome::make();
    if (!home) return base::forward(home);
    Client client(**channel, home->path(), sandbox);
    return converse(client, stop);
}

}  // namespace hopscope::engine
