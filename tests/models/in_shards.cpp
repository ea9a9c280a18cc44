#include "models/in_shards.h"

#include <memory>
#include <set>

#include "support/temporary_folder.h"

namespace hopscope::models {

namespace {

using executor::Chunk;
using executor::Order;

// What each shard has noted.
using Notes = std::vector<std::vector<Chunk>>;

class Shard : public executor::Journal, public executor::Others {
public:
    Shard(Notes& notes, int index) : m_notes(notes), m_share{index, static_cast<int>(notes.size())} {}

    std::optional<std::int64_t> batchBytes() const override { return std::nullopt; }
    base::Result<std::vector<Chunk>> begin(std::int64_t, const std::vector<plan::LoopCut>&) override
    {
        return gather();
    }
    base::Status append(const Chunk& chunk) override
    {
        m_notes.at(static_cast<std::size_t>(m_share.index) - 1).push_back(chunk);
        return {};
    }
    base::Status sync(std::int64_t) override { return {}; }
    executor::Others* others() override { return this; }

    executor::Share share() const override { return m_share; }
    bool repeated() const override { return true; }
    base::Result<std::vector<Chunk>> gather() override
    {
        std::vector<Chunk> all;
        for (const std::vector<Chunk>& of : m_notes) all.insert(all.end(), of.begin(), of.end());
        return all;
    }
    base::Status wait(const executor::Waiting& waiting, const std::stop_token&) override
    {
        if (dealer() == nullptr && waiting.left.contains(m_share.index))
            return base::fail(base::ErrorCode::Internal, "a shard waits for itself");
        return base::fail(base::ErrorCode::Cancelled, "waits");
    }
    void ready() override {}
    base::Result<bool> conclude(const std::stop_token&) override { return true; }

protected:
    Notes& m_notes;
    executor::Share m_share;
};

// Is dealt three shards of a stage, or what is left of them, of which it computes every n-th.
class Worker final : public Shard, public executor::Dealer {
public:
    using Shard::Shard;
    executor::Dealer* dealer() const override { return m_dealer; }
    base::Result<Order> next(plan::StageId, int, const std::stop_token&) override
    {
        if (!m_listed) return Order{.kind = Order::Kind::List, .parts = 3};
        if (m_mine.empty()) {
            m_listed = false;
            return Order{.kind = Order::Kind::Leave, .publish = true};
        }
        const executor::ShardRange range = m_mine.back();
        m_mine.pop_back();
        return Order{.kind = Order::Kind::Compute, .range = range};
    }
    void listed(executor::StageShards left) override
    {
        m_listed = true;
        for (std::size_t i = 0; i < left.shards.size(); ++i)
            if (static_cast<int>(i % m_notes.size()) + 1 == m_share.index || left.shards.size() == 1)
                m_mine.push_back(left.shards[i]);
    }
    void computed(std::int64_t, const plan::Bytes&) override {}
    void readBack(std::int64_t) override {}

private:
    executor::Dealer* m_dealer = this;
    bool m_listed = false;
    std::vector<executor::ShardRange> m_mine;
};

}  // namespace

base::Result<executor::RunReport> runInShards(const Prepared& prepared, const plan::Plan& plan,
                                              const base::TensorMap& inputs, executor::Options options, int shards,
                                              bool dealt)
{
    const test::TemporaryFolder folder;
    options.folder = folder.path;
    executor::Observer silent;
    std::map<std::string, std::string> files;
    const base::Result<base::TensorMap> copies = options.tile ? copiesOf(inputs, folder.path, files) : inputs;
    if (!copies) return base::forward(copies);
    Notes notes(static_cast<std::size_t>(shards));
    std::set<int> done;
    const std::size_t most = (plan.stages.size() + 2) * notes.size() * (dealt ? 4 : 1);
    for (std::size_t turn = 0; turn < most; ++turn) {
        const int index = static_cast<int>(turn) % shards + 1;
        if (done.contains(index)) continue;
        const auto journal =
            dealt ? std::unique_ptr<Shard>(new Worker(notes, index)) : std::make_unique<Shard>(notes, index);
        options.journal = journal.get();
        auto report = executor::run(prepared.walk, prepared.analysis, plan, *copies, options, silent, {});
        if (!report && report.error().code != base::ErrorCode::Cancelled) return report;
        if (!report) continue;
        if (report->shard->complete) return report;
        done.insert(index);
    }
    return base::fail(base::ErrorCode::Internal, "the shards wait for each other");
}

}  // namespace hopscope::models
