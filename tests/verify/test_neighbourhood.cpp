#include <doctest/doctest.h>

#include <random>
#include <set>

#include "verify/models.h"
#include "verify/neighbourhood.h"

using namespace hopscope;
using testing::Edge;

namespace {

struct Graph {
    base::OwnedTensor index;
    verify::Structure structure;
};

// One node table (space 0), one relation (space 1); `followed` ends are aggregated along.
Graph makeStructure(std::int64_t nodes, const std::vector<Edge>& edges, bool bySource, bool byDestination)
{
    Graph graph;
    const auto count = static_cast<std::int64_t>(edges.size());
    graph.index = base::allocate(base::DType::Int64, {2, count});
    auto* ids = reinterpret_cast<std::int64_t*>(graph.index.bytes);
    for (std::size_t e = 0; e < edges.size(); ++e) {
        ids[e] = edges[e].source;
        ids[edges.size() + e] = edges[e].destination;
    }
    const ir::SpaceId node(0), relation(1);
    graph.structure.tables = {node, relation};
    graph.structure.sizes = {{node, nodes}, {relation, count}};
    for (int end = 0; end < 2; ++end) {
        const bool followed = end == 0 ? bySource : byDestination;
        graph.structure.links.push_back({relation, node, "edge_index", end, analysis::EdgeForm::Rows,
                                         analysis::IntColumn(graph.index.view, end, 0), followed, followed});
    }
    return graph;
}

// Rounds by the book: every edge with a followed end among the known nodes comes in, and both its ends.
std::set<std::int64_t> roundsByHand(const std::vector<Edge>& edges, std::set<std::int64_t> nodes, int rounds,
                                    bool bySource, bool byDestination)
{
    for (int round = 0; round < rounds; ++round) {
        std::set<std::int64_t> next = nodes;
        for (const Edge& edge : edges) {
            const bool reached =
                (bySource && nodes.contains(edge.source)) || (byDestination && nodes.contains(edge.destination));
            if (reached) next.insert({edge.source, edge.destination});
        }
        nodes = next;
    }
    return nodes;
}

const auto always = [](const verify::TableSizes&) { return true; };

}  // namespace

TEST_CASE("a neighbourhood is what rounds by hand reach, for any ends followed")
{
    const testing::Folder folder;
    std::mt19937_64 random(11);
    for (int trial = 0; trial < 40; ++trial) {
        const std::int64_t nodes = 2 + static_cast<std::int64_t>(random() % 40);
        std::vector<Edge> edges(random() % 60 + 1);
        for (Edge& edge : edges)
            edge = {static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(nodes)),
                    static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(nodes))};
        const bool bySource = trial % 3 != 0, byDestination = trial % 3 != 1;
        const int rounds = static_cast<int>(random() % 4);
        CAPTURE(trial);
        Graph graph = makeStructure(nodes, edges, bySource, byDestination);
        REQUIRE(verify::prepareRounds(graph.structure, folder.path));
        auto neighbourhood = verify::Neighbourhood::create(graph.structure, folder.path);
        REQUIRE(neighbourhood);
        const std::int64_t seed = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(nodes));
        REQUIRE(neighbourhood->expand({{ir::SpaceId(0), 0}}, 3, always));
        REQUIRE(neighbourhood->expand({{ir::SpaceId(0), seed}}, rounds, always));
        const auto expected = roundsByHand(edges, {seed}, rounds, bySource, byDestination);
        std::set<std::int64_t> found;
        for (std::int64_t v = 0; v < nodes; ++v)
            if (neighbourhood->contains(ir::SpaceId(0), v)) found.insert(v);
        CHECK(found == expected);
        CHECK(neighbourhood->sizes().at(ir::SpaceId(0)) == static_cast<std::int64_t>(expected.size()));
    }
}

TEST_CASE("an edge as seed brings its ends, then their in-edges")
{
    const testing::Folder folder;
    Graph graph = makeStructure(5, {{0, 1}, {2, 0}, {3, 2}, {4, 3}}, false, true);
    REQUIRE(verify::prepareRounds(graph.structure, folder.path));
    auto neighbourhood = verify::Neighbourhood::create(graph.structure, folder.path);
    REQUIRE(neighbourhood->expand({{ir::SpaceId(1), 0}}, 1, always));
    CHECK(neighbourhood->sizes().at(ir::SpaceId(0)) == 3);
    CHECK(neighbourhood->sizes().at(ir::SpaceId(1)) == 2);
}

TEST_CASE("expansion stops when it no longer fits")
{
    const testing::Folder folder;
    std::vector<Edge> edges;
    for (std::int64_t v = 1; v < 200; ++v) edges.push_back({v, 0});
    Graph graph = makeStructure(200, edges, false, true);
    REQUIRE(verify::prepareRounds(graph.structure, folder.path));
    auto neighbourhood = verify::Neighbourhood::create(graph.structure, folder.path);
    const auto few = [](const verify::TableSizes& sizes) { return sizes.at(ir::SpaceId(0)) < 50; };
    CHECK_FALSE(neighbourhood->expand({{ir::SpaceId(0), 0}}, 1, few));
    CHECK(neighbourhood->expand({{ir::SpaceId(0), 7}}, 3, few));
}

TEST_CASE("an isolated seed gets an edge from elsewhere, and never one that touches it")
{
    const testing::Folder folder;
    Graph graph = makeStructure(4, {{3, 3}, {1, 2}}, false, true);
    REQUIRE(verify::prepareRounds(graph.structure, folder.path));
    auto neighbourhood = verify::Neighbourhood::create(graph.structure, folder.path);
    REQUIRE(neighbourhood->expand({{ir::SpaceId(0), 0}}, 2, always));
    CHECK(neighbourhood->sizes().at(ir::SpaceId(1)) == 0);
    neighbourhood->fillEmptyTables();
    CHECK(neighbourhood->sizes().at(ir::SpaceId(1)) == 1);
    CHECK(neighbourhood->contains(ir::SpaceId(0), 3));
}

TEST_CASE("in-degrees count the rows aggregated into a node and, for an edge, into its ends")
{
    const testing::Folder folder;
    const Graph graph = makeStructure(3, {{0, 1}, {2, 1}, {1, 2}}, false, true);
    const auto nodes = verify::inDegrees(graph.structure, ir::SpaceId(0), folder.path);
    const auto edges = verify::inDegrees(graph.structure, ir::SpaceId(1), folder.path);
    REQUIRE((nodes && edges));
    CHECK(std::vector<std::int64_t>(verify::asNumbers(*nodes), verify::asNumbers(*nodes) + 3) ==
          std::vector<std::int64_t>{0, 2, 1});
    CHECK(std::vector<std::int64_t>(verify::asNumbers(*edges), verify::asNumbers(*edges) + 3) ==
          std::vector<std::int64_t>{2, 3, 3});
}
