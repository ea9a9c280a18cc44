#include "server/worker.h"

#include <map>
#include <memory>

#include "protocol/settings.h"
#include "server/conversation.h"
#include "server/dealt_run.h"
#include "server/documents.h"

namespace hopscope::engine {

namespace {

using executor::Order;
using json::Reader;
using json::Value;

constexpr int mostParts = 100'000;

pipeline::EvaluationRequest requestOf(const Reader& params)
{
    base::Settings settings = protocol::readSettings(params, base::Task::Run);
    settings.device = "cpu";
    if (!settings.cache.empty()) params.child("cache").refuse("is not for workers: they keep nothing for later runs");
    return {.model = modelOptionsOf(params),
            .plan = {.file = textOr(params, "plan", ""), .pins = textOr(params, "pins", "")},
            .settings = std::move(settings)};
}

Value shardValue(const executor::ShardRange& shard)
{
    Value item;
    item["loop"] = shard.loop;
    item["first"] = shard.first;
    item["count"] = shard.count;
    item["work"] = shard.work;
    return item;
}

class Worker final : public Conversation {
public:
    Worker(Channel& channel, DealtRequest request, base::Result<pipeline::OutputFolder> folder)
        : Conversation(channel, true),
          m_request(std::move(request)),
          m_folder(std::move(folder))
    {}

    using Method = Outcome (Worker::*)(const Reader&, const Call&);
    static const std::map<std::string, Method>& methods()
    {
        static const std::map<std::string, Method> known{{"worker/open", &Worker::open},
                                                         {"shard/list", &Worker::list},
                                                         {"shard/compute", &Worker::compute},
                                                         {"stage/end", &Worker::leave}};
        return known;
    }

protected:
    std::optional<Outcome> dispatch(const protocol::Request& request, const Call& call) override
    {
        return (this->*methods().at(request.method))(Reader(request.params, "params"), call);
    }

private:
    // Opens the run that this process was started for. Once it is over, another process opens the next one.
    Outcome open(const Reader&, const Call& call)
    {
        if (m_run && m_run->stage().valid()) return invalid("a run is open already");
        if (m_run) return Value();
        m_run = std::make_unique<DealtRun>(std::move(m_request.run), std::move(m_folder));
        return carryOut(std::nullopt, call, &Worker::placeValue);
    }

    Outcome list(const Reader& params, const Call& call)
    {
        Order order{.kind = Order::Kind::List};
        order.parts = params.get<int>("parts");
        if (params.ok() && (order.parts < 1 || order.parts > mostParts))
            params.child("parts").refuse("must be 1 to 100000");
        return atStage(params, order, call, &Worker::leftValue);
    }

    Outcome compute(const Reader& params, const Call& call)
    {
        Order order{.kind = Order::Kind::Compute};
        order.range.loop = params.get<int>("loop");
        order.range.first = params.get<std::int64_t>("first");
        order.range.count = params.get<std::int64_t>("count");
        return atStage(params, order, call, &Worker::computedValue);
    }

    Outcome leave(const Reader& params, const Call& call)
    {
        Order order{.kind = Order::Kind::Leave};
        order.publish = params.maybe<bool>("publish").value_or(false);
        return atStage(params, order, call, &Worker::stageEndValue);
    }

    using Answer = Value (Worker::*)() const;

    // Handles an order for the stage at which the client expects the run to be.
    Outcome atStage(const Reader& params, const Order& order, const Call& call, Answer say)
    {
        const auto stage = params.get<int>("stage");
        if (!params.ok()) return invalid(params);
        if (!m_run || !m_run->stage().valid()) return invalid("no run is open: worker/open opens one");
        if (m_run->stage().number != stage)
            return invalid("the run stands at stage " + std::to_string(m_run->stage().number));
        return carryOut(order, call, say);
    }

    Outcome carryOut(const std::optional<Order>& order, const Call& call, Answer say)
    {
        const base::Status done = m_run->carryOut(order, call);
        if (!done) return failed(done.error());
        return (this->*say)();
    }

    Value placeValue() const
    {
        Value place;
        const schema::Report* const report = m_run->report();
        place["stage"] = m_run->stage().valid() ? Value(m_run->stage().number) : Value();
        place["stages"] = m_run->stages();
        place["report"] = report ? schema::reportValue(*report) : Value();
        place["notes"] = Value(m_run->takeNotes());
        return place;
    }

    Value stageEndValue() const
    {
        Value place = placeValue();
        place["read_back"] = m_run->readBack();
        return place;
    }

    Value leftValue() const
    {
        Value left;
        left["done"] = m_run->left().done;
        left["total"] = m_run->left().total;
        left["shards"] = Value::array();
        for (const executor::ShardRange& shard : m_run->left().shards) left["shards"].push(shardValue(shard));
        return left;
    }

    Value computedValue() const
    {
        Value computed;
        computed["destinations"] = m_run->destinations();
        computed["written"] = m_run->moved().d2h;
        computed["read"] = m_run->moved().h2d;
        return computed;
    }

    DealtRequest m_request;
    base::Result<pipeline::OutputFolder> m_folder;
    std::unique_ptr<DealtRun> m_run;
};

}  // namespace

bool isOfRun(const std::string& method) { return Worker::methods().contains(method); }

DealtRequest dealtRequestOf(const Reader& params)
{
    DealtRequest dealt{.run = requestOf(params), .output = params.get<std::string>("output")};
    dealt.run.shard = pipeline::ShardOptions{.index = 0, .count = 0, .patience = params.maybe<double>("wait")};
    return dealt;
}

int serveWorker(Channel& channel, DealtRequest request, base::Result<pipeline::OutputFolder> folder)
{
    Worker worker(channel, std::move(request), std::move(folder));
    return converse(worker, {});
}

}  // namespace hopscope::engine
