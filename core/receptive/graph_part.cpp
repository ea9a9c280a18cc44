#include "receptive/graph_part.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "analysis/naming/table_labels.h"
#include "base/units.h"
#include "executor/exception_boundary.h"
#include "executor/structure.h"
#include "graph/random.h"
#include "schema/names.h"

namespace hopscope::receptive {

namespace {

using analysis::Analysis;
using base::ErrorCode;
using ir::KeyId;
using ir::SpaceId;

constexpr std::uint64_t partStream = 3;
constexpr std::uint64_t mostDraws = 200;  // for a node that can be drawn with all that it gathers
constexpr std::int64_t fewSources = 2;    // a node with fewer is no good example, where there are others

// Rows of `table` by the nodes that `owner` assigns them to, with the nodes that `key` names; no key: nothing is gathered.
struct Relation {
    SpaceId table;
    KeyId owner, key;
    auto operator<=>(const Relation&) const = default;
};

struct Node {
    SpaceId table;
    std::int64_t row = 0;
    auto operator<=>(const Node&) const = default;
};

// Each once, in the order of the plan.
std::vector<Relation> gatheredAlong(const plan::Plan& plan)
{
    std::vector<Relation> found;
    for (const plan::Stage& stage : plan.stages)
        for (const plan::Loop& loop : stage.loops)
            for (const plan::FrontierSource& source : loop.frontier) {
                const Relation relation{source.space, source.owner, source.key};
                if (std::ranges::find(found, relation) == found.end()) found.push_back(relation);
            }
    return found;
}

// And those whose rows loops compute on without gathering along them.
std::vector<Relation> relationsOf(const plan::Plan& plan)
{
    std::vector<Relation> found = gatheredAlong(plan);
    const auto add = [&](const ir::RowClass& rows) {
        const auto same = [&](const Relation& r) { return r.table == rows.table && r.owner == rows.key; };
        if (rows.kind == ir::RowKind::Owned && std::ranges::none_of(found, same))
            found.push_back({rows.table, rows.key, {}});
    };
    for (const plan::Stage& stage : plan.stages)
        for (const plan::Loop& loop : stage.loops) {
            for (const plan::Step& step : loop.steps) add(step.rows);
            for (const plan::Access& access : loop.reads) add(access.rows);
            for (const plan::Access& access : loop.writes) add(access.rows);
        }
    return found;
}

// The tables that loops compute and gather from.
std::vector<SpaceId> nodeTables(const plan::Plan& plan)
{
    std::vector<SpaceId> found;
    const auto add = [&](SpaceId table) {
        if (std::ranges::find(found, table) == found.end()) found.push_back(table);
    };
    for (const plan::Stage& stage : plan.stages)
        for (const plan::Loop& loop : stage.loops) {
            add(loop.destination);
            for (const plan::FrontierSource& source : loop.frontier) add(source.type);
        }
    return found;
}

SpaceId lastDestination(const plan::Plan& plan)
{
    SpaceId last = plan.stages.front().loops.front().destination;
    for (const plan::Stage& stage : plan.stages)
        for (const plan::Loop& loop : stage.loops)
            if (!loop.frontier.empty()) last = loop.destination;
    return last;
}

class PartMaker {
public:
    PartMaker(executor::Structure& structure, const Analysis& analysis, const plan::Plan& plan)
        : m_structure(structure),
          m_analysis(analysis),
          m_tables(nodeTables(plan)),
          m_relations(relationsOf(plan)),
          m_middle(lastDestination(plan))
    {}

    schema::GraphPart make(const PartRequest& request)
    {
        schema::GraphPart part;
        part.complete = takeAll();
        if (!part.complete) {
            part.node = around(request);
            part.table = names().space(m_middle);
        }
        for (const SpaceId table : m_tables) part.tables.push_back(tableOf(table));
        for (const Relation& relation : m_relations) part.relations.push_back(relationOf(relation));
        return part;
    }

private:
    const schema::Names& names() const { return m_names; }

    bool takeAll()
    {
        std::int64_t nodes = 0, edges = 0;
        for (const SpaceId table : m_tables) nodes += m_structure.size(table);
        for (const Relation& relation : m_relations) edges += m_structure.size(relation.table);
        if (nodes > schema::mostNodesOfAll || edges > schema::mostEdgesOfPart) return false;
        for (const SpaceId table : m_tables)
            for (std::int64_t row = 0; row < m_structure.size(table); ++row) m_whole.insert({table, row});
        m_nodes = m_whole;
        return true;
    }

    // Calls it with each row that belongs to the node.
    template <class Visit>
    void eachRow(const Relation& relation, const Node& node, Visit&& visit)
    {
        if (m_structure.column(relation.table, relation.owner).identity()) return visit(node.row);
        const graph::Adjacency& adjacency = m_structure.adjacency(relation.table, relation.owner);
        adjacency.eachRow(adjacency.begin(node.row), adjacency.end(node.row),
                          [&](std::int64_t, std::int64_t row) { visit(row); });
    }

    std::int64_t rowsInto(const Node& node)
    {
        std::int64_t count = 0;
        for (const Relation& relation : m_relations) {
            if (m_analysis.tables.target(relation.table, relation.owner) != node.table) continue;
            if (m_structure.column(relation.table, relation.owner).identity()) ++count;
            else {
                const graph::Adjacency& adjacency = m_structure.adjacency(relation.table, relation.owner);
                count += adjacency.end(node.row) - adjacency.begin(node.row);
            }
        }
        return count;
    }

    // The nodes that it gathers from.
    std::set<Node> sourcesOf(const Node& node)
    {
        std::set<Node> sources;
        for (const Relation& relation : m_relations) {
            if (m_analysis.tables.target(relation.table, relation.owner) != node.table || !relation.key.valid())
                continue;
            const SpaceId from = m_analysis.tables.target(relation.table, relation.key);
            const executor::Column& column = m_structure.column(relation.table, relation.key);
            eachRow(relation, node, [&](std::int64_t row) { sources.insert({from, column[row]}); });
        }
        return sources;
    }

    // Takes the node with all that it gathers, if that fits.
    bool take(const Node& node)
    {
        const std::int64_t edges = rowsInto(node);
        if (m_edges + edges > schema::mostEdgesOfPart) return false;
        std::set<Node> wanted = sourcesOf(node);
        wanted.insert(node);
        const auto more = std::ranges::count_if(wanted, [this](const Node& n) { return !m_nodes.contains(n); });
        if (std::ssize(m_nodes) + more > schema::mostNodesOfPart) return false;
        for (const Node& n : wanted)
            if (m_nodes.insert(n).second && n != node) m_waiting.push_back(n);
        m_whole.insert(node);
        m_edges += edges;
        return true;
    }

    std::int64_t around(const PartRequest& request)
    {
        const std::int64_t middle = middleOf(request);
        while (!m_waiting.empty()) {
            const Node next = m_waiting.front();
            m_waiting.pop_front();
            if (!m_whole.contains(next)) take(next);
        }
        return middle;
    }

    std::int64_t middleOf(const PartRequest& request)
    {
        const std::int64_t rows = m_structure.size(m_middle);
        const std::string label = analysis::tableLabel(m_analysis.tables, m_middle);
        if (rows == 0) executor::raise(ErrorCode::Input, label + " has no rows");
        if (!request.node) return drawn(request.seed, rows, label);
        if (*request.node < 0 || *request.node >= rows)
            executor::raise(ErrorCode::Usage, label + " has no row " + std::to_string(*request.node) + ": it has " +
                                                  base::counted(rows, "row") + ", from 0");
        if (take({m_middle, *request.node})) return *request.node;
        executor::raise(ErrorCode::Unsupported, "row " + std::to_string(*request.node) + " of " + label +
                                                    " gathers more than can be drawn: choose another one");
    }

    // With few edges, or none, only where no other can be found.
    std::int64_t drawn(std::uint64_t seed, std::int64_t rows, const std::string& label)
    {
        const auto draw = [&](std::uint64_t i) {
            return graph::Draws(graph::streamKey(seed, partStream), static_cast<std::int64_t>(i)).below(rows);
        };
        for (const std::int64_t least : {fewSources, std::int64_t{0}})
            for (std::uint64_t i = 0; i < mostDraws; ++i)
                if (const Node node{m_middle, draw(i)}; rowsInto(node) >= least && take(node)) return node.row;
        executor::raise(ErrorCode::Unsupported,
                        "every row of " + label + " that was tried gathers more than can be drawn");
    }

    schema::PartTable tableOf(SpaceId table)
    {
        schema::PartTable made{.table = names().space(table),
                               .label = analysis::tableLabel(m_analysis.tables, table),
                               .rows = m_structure.size(table)};
        for (const Node& node : m_nodes)
            if (node.table == table) made.ids.push_back(node.row);
        for (const Node& node : m_whole)
            if (node.table == table) made.whole.push_back(node.row);
        return made;
    }

    schema::PartRelation relationOf(const Relation& relation)
    {
        const SpaceId to = m_analysis.tables.target(relation.table, relation.owner);
        const bool gathers = relation.key.valid();
        schema::PartRelation made{.table = names().space(relation.table),
                                  .owner = names().key(relation.owner),
                                  .key = names().key(relation.key),
                                  .label = analysis::tableLabel(m_analysis.tables, relation.table),
                                  .to = names().space(to),
                                  .of = m_structure.size(relation.table)};
        const executor::Column* const column = gathers ? &m_structure.column(relation.table, relation.key) : nullptr;
        if (gathers) made.from = names().space(m_analysis.tables.target(relation.table, relation.key));
        for (const Node& node : m_whole) {
            if (node.table != to) continue;
            eachRow(relation, node, [&](std::int64_t row) {
                made.fromIds.push_back(column ? (*column)[row] : row);
                made.toIds.push_back(node.row);
            });
        }
        return made;
    }

    executor::Structure& m_structure;
    const Analysis& m_analysis;
    const schema::Names m_names{m_analysis};
    std::vector<SpaceId> m_tables;
    std::vector<Relation> m_relations;
    SpaceId m_middle;
    std::set<Node> m_nodes, m_whole;
    std::deque<Node> m_waiting;
    std::int64_t m_edges = 0;
};

}  // namespace

base::Result<schema::GraphPart> graphPart(const loader::Walk& walk, const Analysis& analysis, const plan::Plan& plan,
                                          const base::TensorMap& inputs, const PartRequest& request,
                                          const std::string& folder, std::stop_token stop)
{
    if (plan.stages.empty() || plan.stages.front().loops.empty())
        return base::fail(ErrorCode::Unsupported, "the plan computes nothing in batches");
    const c10::InferenceMode inference;
    return executor::catchAtBoundary(
        [&] {
            executor::Structure structure(walk, analysis, inputs, folder, at::get_num_threads(), std::move(stop));
            return PartMaker(structure, analysis, plan).make(request);
        },
        [] { return base::fail(ErrorCode::Resources, "out of memory for the graph"); });
}

}  // namespace hopscope::receptive
