#include "study/animation/animation_frames.h"

#include <algorithm>
#include <map>
#include <set>

namespace hopscope::study {

namespace {

using protocol::PlanAccess;
using protocol::PlanLoop;
using protocol::PlanStage;
using protocol::PlanStep;

constexpr std::int64_t usualBatches = 3;

// "O(edge_index,dst)", as plan.json names the rows of a relation.
std::string ownedRows(const schema::PartRelation& relation)
{
    return "O(" + relation.table + "," + relation.owner + ")";
}

class Animator {
public:
    Animator(const protocol::ModelRecord& model, const protocol::PlanRecord& plan, const schema::GraphPart& part,
             std::int64_t batch)
        : m_model(model),
          m_plan(plan),
          m_part(part)
    {
        m_animation.batch = std::max<std::int64_t>(1, batch);
    }

    Animation make()
    {
        makeNodes();
        makeEdges();
        makeStores();
        push({.moment = Moment::Start});
        for (std::size_t stage = 0; stage < m_plan.stages.size(); ++stage) addStage(static_cast<int>(stage));
        return std::move(m_animation);
    }

private:
    void makeNodes()
    {
        for (std::size_t t = 0; t < m_part.tables.size(); ++t) {
            const schema::PartTable& table = m_part.tables[t];
            for (const std::int64_t id : table.ids) {
                m_nodeAt[{table.table, id}] = static_cast<int>(m_animation.nodes.size());
                m_animation.nodes.push_back(
                    {.table = static_cast<int>(t), .id = id, .whole = std::ranges::binary_search(table.whole, id)});
            }
        }
    }

    [[nodiscard]] int nodeOf(const std::string& table, std::int64_t id) const
    {
        const auto found = m_nodeAt.find({table, id});
        return found == m_nodeAt.end() ? -1 : found->second;
    }

    void makeEdges()
    {
        for (std::size_t r = 0; r < m_part.relations.size(); ++r) {
            const schema::PartRelation& relation = m_part.relations[r];
            // Rows that nothing is gathered along may be nodes themselves.
            const std::string& from = relation.key.empty() ? relation.table : relation.from;
            for (std::size_t i = 0; i < relation.toIds.size(); ++i)
                if (const int to = nodeOf(relation.to, relation.toIds[i]); to >= 0)
                    m_animation.edges.push_back(
                        {.relation = static_cast<int>(r), .from = nodeOf(from, relation.fromIds[i]), .to = to});
        }
    }

    // The rows of a value: all drawn nodes of a type, or all drawn edges of a relation; none if it has others.
    [[nodiscard]] std::optional<DrawnStore> storeOn(protocol::ValueId value, const std::string& rows) const
    {
        DrawnStore store{.value = value};
        for (std::size_t t = 0; t < m_part.tables.size(); ++t) {
            const schema::PartTable& table = m_part.tables[t];
            if (rows != "B(" + table.table + ")" && rows != "F(" + table.table + ")") continue;
            store.rows = table.rows;
            for (std::size_t n = 0; n < m_animation.nodes.size(); ++n)
                if (m_animation.nodes[n].table == static_cast<int>(t)) store.cells.push_back(static_cast<int>(n));
            return store;
        }
        const auto relation =
            std::ranges::find_if(m_part.relations, [&](const auto& r) { return ownedRows(r) == rows; });
        if (relation == m_part.relations.end()) return std::nullopt;
        store.onEdges = true;
        store.rows = relation->of;
        for (std::size_t e = 0; e < m_animation.edges.size(); ++e)
            if (m_animation.edges[e].relation == relation - m_part.relations.begin())
                store.cells.push_back(static_cast<int>(e));
        return store;
    }

    void makeStores()
    {
        for (const PlanStage& stage : m_plan.stages)
            for (const PlanAccess& read : stage.reads)
                if (m_model.values[read.value].origin == protocol::Origin::Input) addStore(read, std::nullopt);
        for (const PlanStage& stage : m_plan.stages)
            for (const PlanAccess& write : stage.writes) addStore(write, stage.index);
        for (const DrawnStore& store : m_animation.stores)
            m_exact.emplace_back(store.cells.size(), static_cast<char>(!store.stage));
    }

    void addStore(const PlanAccess& access, std::optional<protocol::StageId> stage)
    {
        if (indexOf(access.value) >= 0) return;
        std::optional<DrawnStore> store = storeOn(access.value, access.rows.text);
        if (!store) return;
        store->stage = stage;
        const protocol::PlanCheckpoint* const checkpoint = m_plan.checkpointOf(access.value);
        store->output = stage && checkpoint && checkpoint->output;
        m_animation.stores.push_back(std::move(*store));
    }

    [[nodiscard]] int indexOf(protocol::ValueId value) const
    {
        const auto found = std::ranges::find(m_animation.stores, value, &DrawnStore::value);
        return found == m_animation.stores.end() ? -1 : static_cast<int>(found - m_animation.stores.begin());
    }

    [[nodiscard]] std::vector<int> storesOf(const std::vector<PlanAccess>& accesses) const
    {
        std::set<int> found;
        for (const PlanAccess& access : accesses)
            if (const int store = indexOf(access.value); store >= 0) found.insert(store);
        return {found.begin(), found.end()};
    }

    void push(Frame frame)
    {
        frame.exact = m_exact;
        m_animation.frames.push_back(std::move(frame));
    }

    void addStage(int number)
    {
        const PlanStage& stage = m_plan.stages[static_cast<std::size_t>(number)];
        push({.moment = Moment::Stage, .stage = number, .stores = storesOf(stage.reads)});
        for (std::size_t loop = 0; loop < stage.loops.size(); ++loop) addLoop(number, static_cast<int>(loop));
        Frame done{.moment = Moment::Done, .stage = number, .stores = storesOf(stage.writes)};
        for (const int store : done.stores) std::ranges::fill(m_exact[static_cast<std::size_t>(store)], char{1});
        for (const PlanLoop& loop : stage.loops)
            done.ops.insert(done.ops.end(), loop.reductions.begin(), loop.reductions.end());
        for (const PlanStep& step : stage.steps)
            if (step.loop.empty()) done.ops.push_back(step.op);
        push(std::move(done));
    }

    void addLoop(int stage, int number)
    {
        const PlanLoop& loop = m_plan.stages[static_cast<std::size_t>(stage)].loops[static_cast<std::size_t>(number)];
        std::vector<int> nodes;
        for (std::size_t n = 0; n < m_animation.nodes.size(); ++n)
            if (const DrawnNode& node = m_animation.nodes[n]; node.whole && tableName(node) == loop.destination)
                nodes.push_back(static_cast<int>(n));
        const auto size = static_cast<std::size_t>(m_animation.batch);
        const auto batches = static_cast<int>((nodes.size() + size - 1) / size);
        for (int batch = 0; batch < batches; ++batch) {
            const std::size_t first = static_cast<std::size_t>(batch) * size;
            Frame frame{.stage = stage, .loop = number, .batch = batch, .batches = batches};
            frame.destinations.assign(nodes.begin() + static_cast<std::ptrdiff_t>(first),
                                      nodes.begin() +
                                          static_cast<std::ptrdiff_t>(std::min(first + size, nodes.size())));
            frame.edges = edgesInto(stage, loop, frame.destinations);
            frame.frontier = frontierOf(loop, frame);
            addBatch(loop, frame);
        }
    }

    [[nodiscard]] const std::string& tableName(const DrawnNode& node) const
    {
        return m_part.tables[static_cast<std::size_t>(node.table)].table;
    }

    [[nodiscard]] static bool gathersAlong(const PlanLoop& loop, const schema::PartRelation& relation)
    {
        return std::ranges::any_of(loop.frontier, [&](const protocol::PlanFrontier& source) {
            return source.space == relation.table && source.owner == relation.owner && source.key == relation.key;
        });
    }

    [[nodiscard]] bool computesOn(int stage, const PlanLoop& loop, const schema::PartRelation& relation) const
    {
        const std::string rows = ownedRows(relation);
        const auto on = [&](const auto& item) { return item.rows == rows; };
        const auto step = [&](const PlanStep& s) { return s.loop == loop.destination && s.rows == rows; };
        return std::ranges::any_of(m_plan.stages[static_cast<std::size_t>(stage)].steps, step) ||
               std::ranges::any_of(loop.reads, on) || std::ranges::any_of(loop.writes, on);
    }

    [[nodiscard]] std::vector<int> edgesInto(int stage, const PlanLoop& loop,
                                             const std::vector<int>& destinations) const
    {
        std::vector<char> used;
        for (const schema::PartRelation& relation : m_part.relations)
            used.push_back(relation.to == loop.destination &&
                           (gathersAlong(loop, relation) || computesOn(stage, loop, relation)));
        std::vector<int> found;
        for (std::size_t e = 0; e < m_animation.edges.size(); ++e)
            if (const DrawnEdge& edge = m_animation.edges[e];
                used[static_cast<std::size_t>(edge.relation)] != 0 && std::ranges::binary_search(destinations, edge.to))
                found.push_back(static_cast<int>(e));
        return found;
    }

    [[nodiscard]] std::vector<int> frontierOf(const PlanLoop& loop, const Frame& frame) const
    {
        std::vector<int> frontier;
        const auto own = [&](const protocol::PlanFrontier& source) { return source.type == loop.destination; };
        if (std::ranges::any_of(loop.frontier, own)) frontier = frame.destinations;
        std::set<int> others;
        for (const int e : frame.edges) {
            const DrawnEdge& edge = m_animation.edges[static_cast<std::size_t>(e)];
            if (edge.from < 0 || !gathersAlong(loop, m_part.relations[static_cast<std::size_t>(edge.relation)]))
                continue;
            if (!std::ranges::binary_search(frame.destinations, edge.from)) others.insert(edge.from);
        }
        frontier.insert(frontier.end(), others.begin(), others.end());
        return frontier;
    }

    void addBatch(const PlanLoop& loop, const Frame& batch)
    {
        const auto with = [&](Moment moment) {
            Frame frame = batch;
            frame.moment = moment;
            return frame;
        };
        push(with(Moment::Block));
        Frame gather = with(Moment::Gather);
        gather.stores = storesOf(loop.reads);
        if (!gather.stores.empty()) push(std::move(gather));
        addComputing(loop, batch);
        Frame write = with(Moment::Write);
        write.stores = storesOf(loop.writes);
        if (write.stores.empty()) return;
        for (const int store : write.stores) fill(static_cast<std::size_t>(store), write);
        push(std::move(write));
    }

    // One frame for operators on the same rows that follow each other.
    void addComputing(const PlanLoop& loop, const Frame& batch)
    {
        Frame frame = batch;
        frame.moment = Moment::Compute;
        const auto flush = [&] {
            if (!frame.ops.empty()) push(frame);
            frame.ops.clear();
        };
        for (const PlanStep& step : m_plan.stages[static_cast<std::size_t>(batch.stage)].steps) {
            if (step.loop != loop.destination || std::ranges::find(loop.reductions, step.op) != loop.reductions.end())
                continue;
            if (step.rows != frame.rows) flush();
            frame.rows = step.rows;
            frame.ops.push_back(step.op);
        }
        flush();
    }

    void fill(std::size_t store, const Frame& batch)
    {
        const DrawnStore& drawn = m_animation.stores[store];
        for (std::size_t c = 0; c < drawn.cells.size(); ++c) {
            const int node =
                drawn.onEdges ? m_animation.edges[static_cast<std::size_t>(drawn.cells[c])].to : drawn.cells[c];
            if (std::ranges::binary_search(batch.destinations, node)) m_exact[store][c] = 1;
        }
    }

    const protocol::ModelRecord& m_model;
    const protocol::PlanRecord& m_plan;
    const schema::GraphPart& m_part;
    std::map<std::pair<std::string, std::int64_t>, int> m_nodeAt;
    std::vector<std::vector<char>> m_exact;
    Animation m_animation;
};

}  // namespace

Animation animate(const protocol::ModelRecord& model, const protocol::PlanRecord& plan, const schema::GraphPart& part,
                  std::int64_t batch)
{
    return Animator(model, plan, part, batch).make();
}

std::int64_t usualBatch(const schema::GraphPart& part)
{
    std::size_t most = 1;
    for (const schema::PartTable& table : part.tables) most = std::max(most, table.whole.size());
    return (static_cast<std::int64_t>(most) + usualBatches - 1) / usualBatches;
}

std::int64_t exactCells(const Frame& frame, std::size_t store) { return std::ranges::count(frame.exact[store], 1); }

std::vector<int> stagesReached(const Animation& animation, const protocol::PlanRecord& plan, const Frame& frame)
{
    std::vector<int> reached(animation.nodes.size(), 0);
    for (std::size_t s = 0; s < animation.stores.size(); ++s) {
        const DrawnStore& store = animation.stores[s];
        if (store.onEdges || !store.stage) continue;
        const auto stage =
            1 + static_cast<int>(std::ranges::find(plan.stages, *store.stage, &PlanStage::index) - plan.stages.begin());
        for (std::size_t c = 0; c < store.cells.size(); ++c)
            if (int& known = reached[static_cast<std::size_t>(store.cells[c])]; frame.exact[s][c] != 0)
                known = std::max(known, stage);
    }
    return reached;
}

}  // namespace hopscope::study
