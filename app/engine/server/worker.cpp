#include "server/worker.h"

#include <memory>

#include "server/conversation.h"
#include "server/dealt_run.h"
#include "server/documents.h"

namespace hopscope::engine {

namespace {

using executor::Order;
using json::Reader;
using json::Value;

pipeline::EvaluationRequest requestOf(const protocol::OpenRun& query)
{
    base::Settings settings = base::forTask(query.settings, base::Task::Run);
    if (settings.device == "auto") settings.device = "cpu";
    return {.model = modelOptionsOf(query.files, settings),
            .plan = {.file = query.plan, .pins = query.pins},
            .settings = std::move(settings)};
}

class Worker final : public Conversation {
public:
    Worker(Channel& channel, DealtRequest request, base::Result<pipeline::OutputFolder> folder)
        : Conversation(channel, true),
          m_request(std::move(request)),
          m_folder(std::move(folder))
    {}

protected:
    std::optional<Outcome> dispatch(const protocol::Request& request, const Call& call) override
    {
        const Reader params(request.params, "params");
        const std::optional<protocol::WorkerQuery> query = protocol::readWorkerQuery(request.method, params);
        if (!params.ok()) return invalid(params);
        return std::visit([&](const auto& each) { return own(each, call); }, query.value());
    }

private:
    // Opens the run that this process was started for. Once it is over, another process opens the next one.
    Outcome own(const protocol::OpenRun&, const Call& call)
    {
        if (m_run && m_run->stage().valid()) return invalid("a run is open already");
        if (m_run) return Value();
        m_run = std::make_unique<DealtRun>(std::move(m_request.run), std::move(m_folder));
        return carryOut(std::nullopt, call, &Worker::placeValue);
    }

    Outcome own(const protocol::ListShards& query, const Call& call)
    {
        Order order{.kind = Order::Kind::List};
        order.parts = query.parts;
        return atStage(query.stage, order, call, &Worker::leftValue);
    }

    Outcome own(const protocol::ComputeShard& query, const Call& call)
    {
        Order order{.kind = Order::Kind::Compute};
        order.range = {.loop = query.loop, .first = query.first, .count = query.count};
        return atStage(query.stage, order, call, &Worker::computedValue);
    }

    Outcome own(const protocol::EndStage& query, const Call& call)
    {
        Order order{.kind = Order::Kind::Leave};
        order.publish = query.publish;
        return atStage(query.stage, order, call, &Worker::stageEndValue);
    }

    using Answer = Value (Worker::*)() const;

    // Handles an order for the stage at which the client expects the run to be.
    Outcome atStage(int stage, const Order& order, const Call& call, Answer say)
    {
        if (!m_run || !m_run->stage().valid()) return invalid("no run is open: worker/open opens one");
        if (m_run->stage().number != stage)
            return invalid("the run is at stage " + std::to_string(m_run->stage().number));
        return carryOut(order, call, say);
    }

    Outcome carryOut(const std::optional<Order>& order, const Call& call, Answer say)
    {
        const base::Status done = m_run->carryOut(order, call);
        if (!done) return failed(done.error());
        return (this->*say)();
    }

    protocol::RunPlace place() const
    {
        protocol::RunPlace place{.stages = m_run->stages(), .notes = m_run->takeNotes()};
        if (m_run->stage().valid()) place.stage = m_run->stage().number;
        if (const schema::Report* const report = m_run->report())
            place.report = protocol::JsonObject{schema::reportValue(*report)};
        return place;
    }

    Value placeValue() const { return protocol::answerValue(place()); }
    Value stageEndValue() const { return protocol::answerValue(protocol::StageEnd{place(), m_run->readBack()}); }

    Value leftValue() const
    {
        const executor::StageShards& left = m_run->left();
        protocol::ShardList list{.done = left.done, .total = left.total};
        for (const executor::ShardRange& shard : left.shards)
            list.shards.push_back({.loop = shard.loop, .first = shard.first, .count = shard.count, .work = shard.work});
        return protocol::answerValue(std::move(list));
    }

    Value computedValue() const
    {
        return protocol::answerValue(protocol::ComputedShard{
            .destinations = m_run->destinations(), .written = m_run->moved().d2h, .read = m_run->moved().h2d});
    }

    DealtRequest m_request;
    base::Result<pipeline::OutputFolder> m_folder;
    std::unique_ptr<DealtRun> m_run;
};

}  // namespace

DealtRequest dealtRequestOf(const protocol::OpenRun& query)
{
    DealtRequest dealt{.run = requestOf(query), .output = query.output};
    dealt.run.shard = pipeline::ShardOptions{.index = 0, .count = 0, .patience = query.wait};
    return dealt;
}

int serveWorker(Channel& channel, DealtRequest request, base::Result<pipeline::OutputFolder> folder)
{
    Worker worker(channel, std::move(request), std::move(folder));
    return converse(worker, {});
}

}  // namespace hopscope::engine
