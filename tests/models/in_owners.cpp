#include "models/in_owners.h"

#include <deque>
#include <filesystem>
#include <set>

#include "support/temporary_folder.h"

namespace hopscope::models {

namespace {

using executor::Chunk;
using executor::Order;
using executor::WantedRows;

// What one owner, or who gathers (0), leaves for its next turn and for the others.
struct Desk {
    std::string folder;
    std::vector<Chunk> notes;                    // of all processes that it knows of
    std::map<int, std::vector<Chunk>> finished;  // by stage: what it has told
    std::optional<std::vector<WantedRows>> wanted;
    std::set<int> hears;                         // stages
    std::map<std::string, std::string> digests;  // of what has been put into its folder, by list
};
using Desks = std::vector<Desk>;

std::string parcelOf(const WantedRows& rows) { return rows.list + ".rows"; }

class Owner final : public executor::Journal, public executor::Others, public executor::Dealer {
public:
    Owner(Desks& desks, int index) : m_desks(desks), m_index(index) {}

    // ---- the journal

    std::optional<std::int64_t> batchBytes() const override { return std::nullopt; }
    base::Result<std::vector<Chunk>> begin(std::int64_t, const std::vector<executor::LoopCut>&) override
    {
        return desk().notes;
    }
    base::Status append(const Chunk& chunk) override
    {
        desk().notes.push_back(chunk);
        return {};
    }
    base::Status sync(std::int64_t) override { return {}; }
    executor::Others* others() override { return this; }
    executor::Share share() const override { return {m_index, 0}; }
    bool repeated() const override { return true; }
    executor::Dealer* dealer() const override { return m_dealer; }
    std::optional<executor::Ownership> ownership() const override
    {
        return executor::Ownership{m_index, static_cast<int>(m_desks.size()) - 1};
    }
    base::Result<std::vector<Chunk>> gather() override { return desk().notes; }
    base::Status wait(const executor::Waiting&, const std::stop_token&) override
    {
        return base::fail(base::ErrorCode::Internal, "an owner waits by itself");
    }
    void ready() override {}
    base::Result<bool> conclude(const std::stop_token&) override { return true; }

    // ---- what it is told, in the order in which a client would

    base::Result<Order> next(plan::StageId stage, int stages, const std::stop_token&) override
    {
        if (!m_asked) return Order{.kind = Order::Kind::Want};
        if (m_stage != stage) begin(stage);
        if (m_listed != stage) return Order{.kind = Order::Kind::List, .parts = 2};
        if (!m_shards.empty()) return take();
        if (m_told != stage) return Order{.kind = Order::Kind::Tell, .stage = stage};
        if (const auto sent = forOthers(stage)) return *sent;
        if (stage.number == stages && m_index > 0) return waits();
        if (const auto heard = fromOthers(stage)) return *heard;
        return Order{.kind = Order::Kind::Leave, .publish = m_index == 0};
    }

    void listed(executor::StageShards left) override
    {
        m_listed = m_stage;
        m_shards.assign(left.shards.begin(), left.shards.end());
    }
    void computed(std::int64_t, const plan::Bytes&) override {}
    void readBack(std::int64_t) override {}
    void exchanged(executor::Exchanged result) override
    {
        if (!m_asked) {
            m_asked = true;
            desk().wanted = std::move(result.wanted);
            for (const plan::StageId stage : result.hears) desk().hears.insert(stage.number);
        } else if (m_sending) {
            m_desks.at(m_sendingTo).digests[m_sending->list] = result.parcel.digest;
            m_sending.reset();
        } else if (m_told != m_stage) {
            m_told = m_stage;
            desk().finished[m_stage.number] = std::move(result.chunks);
        }
    }

private:
    Desk& desk() { return m_desks.at(static_cast<std::size_t>(m_index)); }
    static base::Result<Order> waits() { return base::fail(base::ErrorCode::Cancelled, "waits"); }

    void begin(plan::StageId stage)
    {
        m_stage = stage;
        m_imported = 0;
        m_heard.clear();
    }

    Order take()
    {
        const executor::ShardRange range = m_shards.front();
        m_shards.pop_front();
        return Order{.kind = Order::Kind::Compute, .range = range};
    }

    // Rows up to this stage that others want, as far as they have said so.
    std::optional<Order> forOthers(plan::StageId stage)
    {
        for (std::size_t to = 0; to < m_desks.size(); ++to) {
            if (!m_desks[to].wanted) continue;
            for (const WantedRows& rows : *m_desks[to].wanted) {
                if (rows.from != m_index || rows.stage > stage || m_desks[to].digests.contains(rows.list)) continue;
                m_sending = rows;
                m_sendingTo = to;
                return Order{.kind = Order::Kind::Export, .parcel = {rows.value, rows.list, parcelOf(rows), {}}};
            }
        }
        return std::nullopt;
    }

    // Records, then rows. Waits where somebody is not as far.
    std::optional<base::Result<Order>> fromOthers(plan::StageId stage)
    {
        if (desk().hears.contains(stage.number))
            for (int from = 1; from < static_cast<int>(m_desks.size()); ++from) {
                if (from == m_index || m_heard.contains(from)) continue;
                const Desk& other = m_desks.at(static_cast<std::size_t>(from));
                const auto told = other.finished.find(stage.number);
                if (told == other.finished.end()) return waits();
                m_heard.insert(from);
                copyParts(other, told->second);
                return Order{.kind = Order::Kind::Hear, .chunks = told->second};
            }
        for (; m_imported < desk().wanted->size(); ++m_imported) {
            const WantedRows& rows = desk().wanted->at(m_imported);
            if (rows.stage != stage) continue;
            const auto digest = desk().digests.find(rows.list);
            if (digest == desk().digests.end()) return waits();
            ++m_imported;
            return Order{.kind = Order::Kind::Import,
                         .parcel = {rows.value, rows.list, parcelOf(rows), digest->second}};
        }
        return std::nullopt;
    }

    void copyParts(const Desk& other, const std::vector<Chunk>& chunks)
    {
        for (const Chunk& chunk : chunks)
            if (!chunk.parts.empty())
                std::filesystem::copy_file(other.folder + "/" + chunk.parts, desk().folder + "/" + chunk.parts,
                                           std::filesystem::copy_options::overwrite_existing);
    }

    Desks& m_desks;
    int m_index;
    executor::Dealer* m_dealer = this;
    bool m_asked = false;
    plan::StageId m_stage, m_listed, m_told;
    std::deque<executor::ShardRange> m_shards;
    std::optional<WantedRows> m_sending;
    std::size_t m_sendingTo = 0, m_imported = 0;
    std::set<int> m_heard;
};

}  // namespace

base::Result<executor::RunReport> runInOwners(const Prepared& prepared, const plan::Plan& plan,
                                              const base::TensorMap& inputs, executor::Options options, int owners)
{
    const test::TemporaryFolder folder;
    executor::Observer silent;
    std::map<std::string, std::string> files;
    const base::Result<base::TensorMap> copies = options.tile ? copiesOf(inputs, folder.path, files) : inputs;
    if (!copies) return base::forward(copies);
    Desks desks(static_cast<std::size_t>(owners) + 1);
    for (std::size_t i = 0; i < desks.size(); ++i) {
        desks[i].folder = folder.file(std::to_string(i));
        std::filesystem::create_directory(desks[i].folder);
    }
    const std::size_t most = (plan.stages.size() + 2) * desks.size() * 2;
    for (std::size_t turn = 0; turn < most; ++turn) {
        const std::size_t index = turn % desks.size();
        Owner owner(desks, static_cast<int>(index));
        options.folder = desks[index].folder;
        options.journal = &owner;
        auto report = executor::run(prepared.walk, prepared.analysis, plan, *copies, options, silent, {});
        if (!report && report.error().code != base::ErrorCode::Cancelled) return report;
        if (report && report->shard->complete) return report;
    }
    return base::fail(base::ErrorCode::Internal, "the owners wait for each other");
}

}  // namespace hopscope::models
