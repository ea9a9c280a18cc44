#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "executor/memory.h"
#include "executor/rows/block.h"
#include "model_runs.h"

using namespace hopscope;
using namespace hopscope::executor;

namespace {

struct RandomGraph {
    std::int64_t nodes = 0;
    std::vector<std::int64_t> source, destination;
};

RandomGraph randomGraph(std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    RandomGraph g;
    g.nodes = 1 + static_cast<std::int64_t>(random() % 40);
    const std::size_t edges = random() % 120;
    for (std::size_t i = 0; i < edges; ++i) {
        g.source.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(g.nodes)));
        g.destination.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(g.nodes)));
    }
    return g;
}

// A program whose only content is its inputs: x [nodes, 1] and edge_index [2, edges].
struct Fixture {
    explicit Fixture(const RandomGraph& g)
    {
        ir::Value x, index;
        x.id = ir::ValueId(0);
        x.origin = index.origin = ir::Origin::Input;
        x.shape = {4, 1};
        index.id = ir::ValueId(1);
        index.dtype = base::DType::Int64;
        index.shape = {2, 9};
        a.program.values = {x, index};
        a.program.inputs = {{"x", x.id}, {"edge_index", index.id}};
        a.tables.keys = {{analysis::KeyKind::Id, 0, {}, {}, {}, {}},
                         {analysis::KeyKind::Pos, 0, {}, {}, {}, {}},
                         {analysis::KeyKind::End, 0, {}, {}, {}, {}},
                         {analysis::KeyKind::End, 1, {}, {}, {}, {}}};
        analysis::Space node, edge;
        node.kind = analysis::SpaceKind::Node;
        node.name = "node";
        edge.kind = analysis::SpaceKind::Edge;
        edge.name = "edge";
        edge.ends[0] = edge.ends[1] = nodes;
        edge.index = index.id;
        a.tables.spaces = {node, edge};
        a.values.resize(2);
        a.values[0].dims = {nodes, {}};
        a.values[1].dims = {{}, edges};
        a.values[1].structureOnly = true;
        data["x"] = base::allocate(base::DType::Float32, {g.nodes, 1}).view;
        const auto count = static_cast<std::int64_t>(g.source.size());
        auto pair = base::allocate(base::DType::Int64, {2, count});
        auto* numbers = reinterpret_cast<std::int64_t*>(pair.bytes);
        std::copy(g.source.begin(), g.source.end(), numbers);
        std::copy(g.destination.begin(), g.destination.end(), numbers + count);
        data["edge_index"] = pair.view;
        walk.tensors = std::make_shared<loader::Walk::Tensors>();
        loop.destination = nodes;
        loop.frontier = {{nodes, edges, a.tables.endKey(1), a.tables.endKey(0)}};
    }

    ir::SpaceId nodes{0}, edges{1};
    analysis::Analysis a;
    base::TensorMap data;
    loader::Walk walk;
    plan::Loop loop;
    tests::TemporaryFolder folder;
};

std::vector<std::int64_t> list(const at::Tensor& t)
{
    const std::int64_t* p = t.const_data_ptr<std::int64_t>();
    return {p, p + t.numel()};
}

void checkBatch(Block& block, const Fixture& f, const RandomGraph& g, const Destinations& batch)
{
    const ir::RowClass own{ir::RowKind::Batch, f.nodes, {}}, in{ir::RowKind::Owned, f.edges, f.a.tables.endKey(1)};
    const ir::RowClass frontier{ir::RowKind::Frontier, f.nodes, {}};
    block.begin(batch);
    std::vector<std::int64_t> edges, bounds{0}, wanted;
    for (std::int64_t i = 0; i < batch.count; ++i) {
        wanted.push_back(batch[i]);
        for (std::size_t e = 0; e < g.source.size(); ++e)
            if (g.destination[e] == batch[i]) edges.push_back(static_cast<std::int64_t>(e));
        bounds.push_back(static_cast<std::int64_t>(edges.size()));
    }
    CHECK(list(block.rows(own)) == wanted);
    CHECK(list(block.rows(in)) == edges);
    CHECK(list(block.offsets(in)) == bounds);
    CHECK(block.count(in) == static_cast<std::int64_t>(edges.size()));
    const auto members = list(block.rows(frontier));
    CHECK(std::equal(wanted.begin(), wanted.end(), members.begin()));
    std::set<std::int64_t> expected(wanted.begin(), wanted.end());
    for (std::int64_t e : edges) expected.insert(g.source[static_cast<std::size_t>(e)]);
    CHECK(std::set<std::int64_t>(members.begin(), members.end()) == expected);
    CHECK(members.size() == expected.size());
    const auto sources = list(block.positions(in, f.edges, f.a.tables.endKey(0), frontier));
    const auto targets = list(block.positions(in, f.edges, f.a.tables.endKey(1), own));
    for (std::size_t i = 0; i < edges.size(); ++i) {
        CHECK(members[static_cast<std::size_t>(sources[i])] == g.source[static_cast<std::size_t>(edges[i])]);
        CHECK(wanted[static_cast<std::size_t>(targets[i])] == g.destination[static_cast<std::size_t>(edges[i])]);
    }
    block.end();
}

}  // namespace

TEST_CASE("the rows of every batch are those that a search over all edges finds")
{
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        const RandomGraph g = randomGraph(seed);
        Fixture f(g);
        Structure structure(f.walk, f.a, f.data, f.folder.path, 2, {});
        Block block(structure, f.a, f.loop);
        std::vector<std::int64_t> order(static_cast<std::size_t>(g.nodes));
        std::iota(order.begin(), order.end(), std::int64_t{0});
        std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
        const std::int64_t size = 1 + static_cast<std::int64_t>(seed % 9);
        for (std::int64_t first = 0; first < g.nodes; first += size) {
            const std::int64_t count = std::min(size, g.nodes - first);
            checkBatch(block, f, g, {first, count, nullptr});
            checkBatch(block, f, g, {first, count, order.data()});
        }
    }
}

TEST_CASE("row numbers that ran out of memory leave nothing behind for the smaller batch")
{
    installCpuAllocator();
    int failures = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const RandomGraph g = randomGraph(seed);
        Fixture f(g);
        Structure structure(f.walk, f.a, f.data, f.folder.path, 1, {});
        Block block(structure, f.a, f.loop);
        const ir::RowClass in{ir::RowKind::Owned, f.edges, f.a.tables.endKey(1)};
        for (std::int64_t allowed = 1; allowed < 4000; allowed += 64) {
            CAPTURE(seed);
            CAPTURE(allowed);
            block.begin({0, g.nodes, nullptr});
            setCpuLimit(cpuMemory().current + allowed);
            try {
                block.positions(in, f.edges, f.a.tables.endKey(0), {ir::RowKind::Frontier, f.nodes, {}});
            } catch (const c10::OutOfMemoryError&) {
                ++failures;
            }
            setCpuLimit(0);
            block.end();
            checkBatch(block, f, g, {g.nodes / 2, (g.nodes + 1) / 2, nullptr});
        }
    }
    CHECK(failures > 100);
}

TEST_CASE("an index that leaves the rows of its batch is caught")
{
    RandomGraph g;
    g.nodes = 4;
    g.source = {3};
    g.destination = {0};
    Fixture f(g);
    Structure structure(f.walk, f.a, f.data, f.folder.path, 1, {});
    Block block(structure, f.a, f.loop);
    block.begin({0, 2, nullptr});
    const ir::RowClass in{ir::RowKind::Owned, f.edges, f.a.tables.endKey(1)};
    CHECK_THROWS_AS(block.positions(in, f.edges, f.a.tables.endKey(0), {ir::RowKind::Batch, f.nodes, {}}), Failure);
}
