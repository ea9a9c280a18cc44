#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "analysis/roles/int_column.h"
#include "analysis/roles/landmarks.h"
#include "analysis/roles/sample.h"
#include "tensors.h"

using namespace hopscope;
using analysis::InputRole;
using analysis::IntColumn;
using inputs::DType;
using inputs::schemaOf;
using inputs::TensorMap;
using inputs::TensorView;

namespace {

using Edges = std::vector<std::pair<std::int64_t, std::int64_t>>;

TensorMap cut(const TensorMap& data, std::int64_t nodes, std::uint64_t seed = 1)
{
    const auto sample = analysis::cutSample(data, schemaOf(data), nodes, seed);
    REQUIRE(sample.has_value());
    return *sample;
}

Edges edgesOf(const TensorView& index)
{
    const IntColumn from(index, 0, 0), to(index, 1, 0);
    Edges edges;
    for (std::int64_t p = 0; p < from.size(); ++p) edges.emplace_back(from[p], to[p]);
    return edges;
}

// The first column of float rows made by `tagged`: which original row each row was.
std::vector<std::int64_t> tags(const TensorView& view)
{
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < view.shape[0]; ++i) {
        float value = 0;
        std::memcpy(&value, view.data + i * view.strides[0] * 4, 4);
        rows.push_back(static_cast<std::int64_t>(value) / (view.elements() / view.shape[0]));
    }
    return rows;
}

struct Random {
    std::mt19937_64 engine;
    explicit Random(std::uint64_t seed) : engine(seed) {}
    std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(n)); }
};

Edges randomEdges(Random& random, std::int64_t sources, std::int64_t targets, std::int64_t count)
{
    Edges edges;
    for (std::int64_t e = 0; e < count; ++e) {
        const bool repeat = !edges.empty() && random.below(10) == 0;
        edges.push_back(repeat ? edges[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(edges.size())))]
                               : std::pair(random.below(sources), random.below(targets)));
    }
    return edges;
}

// The sample's edges must be exactly the original edges between kept rows, relabelled, in input order.
void checkInduced(const Edges& original, const Edges& sample, const std::vector<std::int64_t>& sources,
                  const std::vector<std::int64_t>& targets)
{
    const auto rank = [](const std::vector<std::int64_t>& kept, std::int64_t row) {
        const auto at = std::ranges::lower_bound(kept, row);
        return at != kept.end() && *at == row ? at - kept.begin() : -1;
    };
    Edges want;
    for (const auto& [from, to] : original)
        if (rank(sources, from) >= 0 && rank(targets, to) >= 0)
            want.emplace_back(rank(sources, from), rank(targets, to));
    CHECK(sample == want);
    CHECK((original.empty() || !sample.empty()));
}

void checkAscending(const std::vector<std::int64_t>& rows, std::int64_t size)
{
    CHECK(std::ranges::is_sorted(rows));
    CHECK(std::set(rows.begin(), rows.end()).size() == rows.size());
    CHECK((rows.empty() || (rows.front() >= 0 && rows.back() < size)));
}

}  // namespace

TEST_CASE("the sample of a random graph is an induced subgraph with its rows in input order")
{
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        Random random(seed);
        const std::int64_t nodes = random.below(900) + 1, limit = random.below(60) + 10;
        const Edges edges = randomEdges(random, nodes, nodes, random.below(4 * nodes) + 1);
        const auto count = static_cast<std::int64_t>(edges.size());
        CAPTURE(seed);
        CAPTURE(nodes);
        CAPTURE(limit);
        const TensorMap data{{"x", inputs::floats({nodes, 3})},
                             {"edge_index", inputs::index(edges)},
                             {"edge_attr", inputs::floats({count, 2})},
                             {"scale", inputs::floats({})}};
        const TensorMap sample = cut(data, limit, seed);
        const std::vector<std::int64_t> kept = tags(sample.at("x")), keptEdges = tags(sample.at("edge_attr"));
        checkAscending(kept, nodes);
        checkAscending(keptEdges, count);
        CHECK(static_cast<std::int64_t>(kept.size()) <= std::min(limit, nodes));
        CHECK(kept.size() >= static_cast<std::size_t>(std::min(limit, nodes) / 2));
        checkInduced(edges, edgesOf(sample.at("edge_index")), kept, kept);
        REQUIRE(keptEdges.size() == edgesOf(sample.at("edge_index")).size());
        for (std::size_t e = 0; e < keptEdges.size(); ++e) {
            const auto [from, to] = edgesOf(sample.at("edge_index"))[e];
            CHECK(edges[static_cast<std::size_t>(keptEdges[e])] ==
                  std::pair(kept[static_cast<std::size_t>(from)], kept[static_cast<std::size_t>(to)]));
        }
    }
}

TEST_CASE("the sample of a random graph with two node types is an induced subgraph of each relation")
{
    for (std::uint64_t seed = 1; seed <= 80; ++seed) {
        Random random(seed + 1000);
        const std::int64_t a = random.below(500) + 1, b = random.below(500) + 1, limit = random.below(60) + 10;
        const Edges ab = randomEdges(random, a, b, random.below(800) + 1),
                    ba = randomEdges(random, b, a, random.below(800) + 1);
        CAPTURE(seed);
        const TensorMap data{{"xs.a", inputs::floats({a, 3})},
                             {"xs.b", inputs::floats({b, 5})},
                             {"es.a__b", inputs::index(ab)},
                             {"es.b__a", inputs::index(ba, DType::Int32)}};
        const TensorMap sample = cut(data, limit, seed);
        const std::vector<std::int64_t> keptA = tags(sample.at("xs.a")), keptB = tags(sample.at("xs.b"));
        checkAscending(keptA, a);
        checkAscending(keptB, b);
        checkInduced(ab, edgesOf(sample.at("es.a__b")), keptA, keptB);
        checkInduced(ba, edgesOf(sample.at("es.b__a")), keptB, keptA);
        CHECK(sample.at("es.b__a").dtype == DType::Int32);
    }
}

TEST_CASE("self-loops, isolated nodes, duplicates and a hub come along where the graph has them")
{
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        Random random(seed);
        const std::int64_t nodes = 5000;
        Edges edges;
        for (int e = 0; e < 9000; ++e) {
            const std::int64_t from = random.below(nodes - 1);
            edges.emplace_back(from, (from + 1 + random.below(nodes - 2)) % (nodes - 1));
        }
        for (int e = 0; e < 400; ++e) edges.emplace_back(2000 + e, 1234);  // hub 1234; node 4999 isolated
        edges.emplace_back(4321, 4321);
        edges.push_back(edges[7000]);
        const TensorMap data{{"x", inputs::floats({nodes, 3})}, {"edge_index", inputs::index(edges)}};
        const TensorMap sample = cut(data, 200, seed);
        const Edges kept = edgesOf(sample.at("edge_index"));
        std::vector<std::int64_t> degree(static_cast<std::size_t>(sample.at("x").shape[0]));
        std::set<std::int64_t> touched;
        for (const auto& [from, to] : kept) {
            ++degree[static_cast<std::size_t>(to)];
            touched.insert({from, to});
        }
        CAPTURE(seed);
        CHECK(std::ranges::any_of(kept, [](const auto& e) { return e.first == e.second; }));
        CHECK(std::set(kept.begin(), kept.end()).size() < kept.size());
        CHECK(touched.size() < degree.size());
        CHECK(*std::ranges::max_element(degree) >= 10);
        CHECK(kept.size() >= degree.size() / 2);
    }
}

TEST_CASE("the first self-loop is found, however many threads look for it")
{
    const std::int64_t count = 1'100'000;
    Random random(3);
    for (int loops = 0; loops < 12; ++loops) {
        Edges edges;
        for (std::int64_t e = 0; e < count; ++e) edges.emplace_back(e, e + 1);
        std::int64_t first = -1;
        for (int i = 0; i < loops; ++i) {
            const std::int64_t at = random.below(count);
            edges[static_cast<std::size_t>(at)] = {7, 7};
            first = first < 0 ? at : std::min(first, at);
        }
        const TensorView index = inputs::index(edges);
        CAPTURE(loops);
        CHECK(analysis::landmarks::selfLoop(IntColumn(index, 0, 0), IntColumn(index, 1, 0)) == first);
    }
}

TEST_CASE("columns so long that several threads look at them have an induced sample with an isolated node, too")
{
    const std::int64_t nodes = 600'001;
    Edges edges;
    for (std::int64_t node = 0; node + 2 < nodes; ++node) edges.emplace_back(node, node + 1);
    const TensorMap data{{"x", inputs::floats({nodes, 1})}, {"edge_index", inputs::index(edges)}};
    const TensorMap sample = cut(data, 200);
    const std::vector<std::int64_t> kept = tags(sample.at("x"));
    checkAscending(kept, nodes);
    checkInduced(edges, edgesOf(sample.at("edge_index")), kept, kept);
    CHECK(kept.back() == nodes - 1);
}

TEST_CASE("a small graph comes whole, and without a copy")
{
    const TensorMap data{
        {"x", inputs::floats({34, 5})}, {"edge_index", inputs::path(34, 3)}, {"y", inputs::zeros({34})}};
    const TensorMap sample = cut(data, 300);
    CHECK(sample.at("x").data == data.at("x").data);
    CHECK(edgesOf(sample.at("edge_index")) == edgesOf(data.at("edge_index")));
}

TEST_CASE("column-major tensors are cut to column-major ones with the same numbers")
{
    const std::int64_t nodes = 5000;
    TensorView x = inputs::floats({3, nodes});
    std::swap(x.shape[0], x.shape[1]);
    std::swap(x.strides[0], x.strides[1]);
    const TensorMap data{{"x", x}, {"edge_index", inputs::path(nodes)}};
    const TensorView part = cut(data, 200).at("x");
    REQUIRE(part.shape[0] < nodes);
    CHECK(part.strides == std::vector<std::int64_t>{1, part.shape[0]});
    const auto at = [](const TensorView& view, std::int64_t row, std::int64_t c) {
        float number = 0;
        std::memcpy(&number, view.data + (row * view.strides[0] + c * view.strides[1]) * 4, 4);
        return number;
    };
    for (std::int64_t row = 0; row < part.shape[0]; ++row)
        for (std::int64_t c : {1, 2}) CHECK(at(part, row, c) == at(part, row, 0) + static_cast<float>(c * nodes));
}

TEST_CASE("one node and one edge stay")
{
    const TensorMap data{{"x", inputs::floats({1, 1})}, {"edge_index", inputs::index({{0, 0}})}};
    const TensorMap sample = cut(data, 300);
    CHECK(sample.at("x").shape == std::vector<std::int64_t>{1, 1});
    CHECK(edgesOf(sample.at("edge_index")) == Edges{{0, 0}});
}

TEST_CASE("empty tables stay empty")
{
    const TensorMap noEdges = cut(
        {{"x", inputs::floats({700, 4})}, {"edge_index", inputs::zeros({2, 0})}, {"edge_attr", inputs::floats({0, 3})}},
        100);
    CHECK(noEdges.at("edge_index").shape == std::vector<std::int64_t>{2, 0});
    CHECK(noEdges.at("edge_attr").shape == std::vector<std::int64_t>{0, 3});
    CHECK(noEdges.at("x").shape[0] >= 50);
    const TensorMap noNodes = cut({{"x", inputs::floats({0, 4})}, {"edge_index", inputs::zeros({2, 0})}}, 100);
    CHECK(noNodes.at("x").shape == std::vector<std::int64_t>{0, 4});
}

TEST_CASE("sizes of the sample equal neither each other nor a feature width")
{
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Random random(seed);
        const std::int64_t nodes = random.below(400) + 40;
        const Edges edges = randomEdges(random, nodes, nodes, random.below(2) == 0 ? nodes : 2 * nodes);
        const TensorMap data{{"x", inputs::floats({nodes, nodes})},
                             {"edge_index", inputs::index(edges)},
                             {"edge_attr", inputs::floats({static_cast<std::int64_t>(edges.size()), 97})},
                             {"w", inputs::floats({89, 30})}};
        const TensorMap sample = cut(data, 100, seed);
        const std::int64_t n = sample.at("x").shape[0], e = sample.at("edge_index").shape[1];
        CAPTURE(seed);
        CAPTURE(n);
        CAPTURE(e);
        CHECK(n != e);
        for (const std::int64_t width : {nodes, std::int64_t{97}, std::int64_t{89}, std::int64_t{30}}) {
            CHECK(n != width);
            CHECK(e != width);
        }
    }
}

TEST_CASE("keys are renumbered without gaps and graph rows go with them")
{
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        Random random(seed);
        const std::int64_t nodes = 2000, graphs = 40;
        std::vector<std::int64_t> batch;
        for (std::int64_t i = 0; i < nodes; ++i) batch.push_back(i * graphs / nodes);
        if (seed % 2 == 0) std::ranges::shuffle(batch, random.engine);
        const TensorMap data{{"x", inputs::floats({nodes, 3})},
                             {"edge_index", inputs::index(randomEdges(random, nodes, nodes, 4000))},
                             {"batch", inputs::column(batch)},
                             {"u", inputs::floats({graphs, 2})}};
        const TensorMap sample = cut(data, 60, seed);
        const std::vector<std::int64_t> kept = tags(sample.at("x")), rows = tags(sample.at("u"));
        const IntColumn ids(sample.at("batch"));
        REQUIRE(ids.size() == static_cast<std::int64_t>(kept.size()));
        CAPTURE(seed);
        std::set<std::int64_t> used;
        for (std::size_t i = 0; i < kept.size(); ++i) {
            const std::int64_t id = ids[static_cast<std::int64_t>(i)];
            used.insert(id);
            REQUIRE(id < static_cast<std::int64_t>(rows.size()));
            CHECK(rows[static_cast<std::size_t>(id)] == batch[static_cast<std::size_t>(kept[i])]);
        }
        CHECK(used.size() == rows.size());
        CHECK(used.size() >= 2);
    }
}

TEST_CASE("a key into a node table keeps the rows it names")
{
    Random random(5);
    const std::int64_t nodes = 900, clusters = 400;
    std::vector<std::int64_t> assigned;
    for (std::int64_t i = 0; i < nodes; ++i) assigned.push_back(i < clusters ? i : random.below(clusters));
    const TensorMap data{{"x", inputs::floats({nodes, 3})},
                         {"edge_index", inputs::index(randomEdges(random, nodes, nodes, 2000))},
                         {"cluster", inputs::column(assigned)},
                         {"x_coarse", inputs::floats({clusters, 7})},
                         {"coarse_edge_index", inputs::path(clusters)}};
    REQUIRE(schemaOf(data).roles.at("cluster").second == "coarse");
    const TensorMap sample = cut(data, 50);
    const std::vector<std::int64_t> kept = tags(sample.at("x")), coarse = tags(sample.at("x_coarse"));
    const IntColumn ids(sample.at("cluster"));
    for (std::size_t i = 0; i < kept.size(); ++i)
        CHECK(coarse.at(static_cast<std::size_t>(ids[static_cast<std::int64_t>(i)])) ==
              assigned[static_cast<std::size_t>(kept[i])]);
    checkInduced(edgesOf(data.at("coarse_edge_index")), edgesOf(sample.at("coarse_edge_index")), coarse, coarse);
}

TEST_CASE("edges have the same sample in every form")
{
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        Random random(seed);
        const Edges edges = randomEdges(random, 400, 400, 900);
        const TensorMap rows = cut({{"x", inputs::floats({400, 3})}, {"edges", inputs::index(edges)}}, 50, seed);
        const TensorMap pairs = cut({{"x", inputs::floats({400, 3})}, {"edges", inputs::pairsOf(edges)}}, 50, seed);
        const TensorMap columns =
            cut({{"x", inputs::floats({400, 3})}, {"src", inputs::endOf(edges, 0)}, {"dst", inputs::endOf(edges, 1)}},
                50, seed);
        REQUIRE(pairs.at("edges").shape == std::vector<std::int64_t>{rows.at("edges").shape[1], 2});
        for (int end = 0; end < 2; ++end) {
            const IntColumn wanted(rows.at("edges"), end, 0), paired(pairs.at("edges"), end, 1);
            const IntColumn single(columns.at(end == 0 ? "src" : "dst"));
            REQUIRE(single.size() == wanted.size());
            for (std::int64_t e = 0; e < wanted.size(); ++e) {
                CHECK(paired[e] == wanted[e]);
                CHECK(single[e] == wanted[e]);
            }
        }
    }
}

TEST_CASE("compressed rows have the sample of the same edges in columns")
{
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        Random random(seed);
        Edges edges = randomEdges(random, 400, 400, 900);
        std::ranges::stable_sort(edges, {}, &Edges::value_type::second);
        std::vector<std::int64_t> offsets(401);
        for (const auto& [from, to] : edges)
            for (std::int64_t row = to + 1; row <= 400; ++row) ++offsets[static_cast<std::size_t>(row)];
        const TensorView x = inputs::floats({400, 3}), from = inputs::endOf(edges, 0);
        const TensorMap columns = cut({{"x", x}, {"src", from}, {"dst", inputs::endOf(edges, 1)}}, 50, seed);
        const TensorMap rows = cut({{"x", x}, {"rowptr", inputs::column(offsets)}, {"col", from}}, 50, seed);
        const IntColumn sources(columns.at("src")), targets(columns.at("dst"));
        const IntColumn begin(rows.at("rowptr")), col(rows.at("col"));
        REQUIRE(col.size() == sources.size());
        REQUIRE(begin.size() == rows.at("x").shape[0] + 1);
        CHECK(begin[begin.size() - 1] == col.size());
        for (std::int64_t row = 0; row + 1 < begin.size(); ++row)
            for (std::int64_t e = begin[row]; e < begin[row + 1]; ++e) {
                CHECK(targets[e] == row);
                CHECK(sources[e] == col[e]);
            }
    }
}

TEST_CASE("a table of neighbours keeps its padding, and names rows of the sample")
{
    Random random(3);
    std::vector<std::int64_t> ids(400 * 3);
    for (std::int64_t& id : ids) id = random.below(402) - 1;
    const TensorMap sample = cut({{"x", inputs::floats({400, 1})}, {"nbr", inputs::integers({400, 3}, ids)}}, 50, 1);
    const std::int64_t rows = sample.at("x").shape[0];
    REQUIRE(rows < 400);
    REQUIRE(sample.at("nbr").shape == std::vector<std::int64_t>{rows, 3});
    for (std::int64_t row = 0; row < rows; ++row) {
        float original = 0;
        std::memcpy(&original, sample.at("x").data + row * 4, 4);
        const IntColumn kept(sample.at("nbr"), row, 0);
        for (std::int64_t k = 0; k < 3; ++k) {
            const std::int64_t before = ids[static_cast<std::size_t>(original) * 3 + static_cast<std::size_t>(k)];
            CHECK((kept[k] == -1) == (before == -1));
            CHECK((kept[k] == rows) == (before == 400));
            CHECK(kept[k] <= rows);
        }
    }
}

TEST_CASE("strided inputs are read through their strides")
{
    TensorMap data{{"x", inputs::floats({3, 500})}, {"edge_index", inputs::path(500)}};
    TensorView& x = data.at("x");
    std::swap(x.shape[0], x.shape[1]);
    std::swap(x.strides[0], x.strides[1]);
    const TensorMap sample = cut(data, 50);
    const TensorView& cutX = sample.at("x");
    REQUIRE(cutX.strides[0] ==
            1);  // column by column, as the data: operators may give a view or a copy because of that
    for (std::int64_t i = 0; i < cutX.shape[0]; ++i) {
        const auto at = [&](std::int64_t column) {
            float number;
            std::memcpy(&number, cutX.data + (i + column * cutX.strides[1]) * 4, 4);
            return number;
        };
        CHECK(at(1) == at(0) + 500);
        CHECK(at(2) == at(0) + 1000);
    }
}

TEST_CASE("a sparse tensor's size follows its sample")
{
    const TensorMap data{{"x", inputs::floats({500, 4})},
                         {"adj.coo_indices", inputs::path(500)},
                         {"adj.coo_values", inputs::floats({499})},
                         {"adj.coo_size", inputs::column({500, 500})}};
    const TensorMap sample = cut(data, 50);
    const IntColumn size(sample.at("adj.coo_size"));
    CHECK(size[0] == sample.at("x").shape[0]);
    CHECK(size[1] == sample.at("x").shape[0]);
    CHECK(sample.at("adj.coo_values").shape[0] == sample.at("adj.coo_indices").shape[1]);
}

TEST_CASE("the same seed gives the same sample")
{
    Random random(3);
    const TensorMap data{{"x", inputs::floats({3000, 4})},
                         {"edge_index", inputs::index(randomEdges(random, 3000, 3000, 9000))}};
    CHECK(tags(cut(data, 100, 7).at("x")) == tags(cut(data, 100, 7).at("x")));
    CHECK(tags(cut(data, 100, 7).at("x")) != tags(cut(data, 100, 8).at("x")));
}

TEST_CASE("offsets of groups of rows end where the rows of the sample end")
{
    const TensorMap data{{"x", inputs::floats({900, 3})}, {"ptr", inputs::column({0, 0, 300, 450, 900})}};
    const auto schema = analysis::inferSchema(data, {});
    REQUIRE(schema.has_value());
    const auto sample = analysis::cutSample(data, *schema, 100);
    REQUIRE(sample.has_value());
    const analysis::IntColumn offsets(sample->at("ptr"));
    CHECK(offsets.size() == 5);
    CHECK(offsets[0] == 0);
    CHECK(offsets[1] == 0);
    CHECK(offsets[2] <= offsets[3]);
    CHECK(offsets[4] == sample->at("x").shape[0]);
    CHECK(offsets[4] < 900);
}

TEST_CASE("a table that a weight has the rows of is kept whole, with some of its edges, and is as large as the weight")
{
    const TensorMap data{{"x", inputs::floats({900, 3})}, {"edge_index", inputs::path(890)}};
    const std::map<std::string, InputRole> roles{*analysis::parseRole("w=node:node")};
    const auto schema = analysis::inferSchema(data, roles, {{"w", 900}});
    REQUIRE(schema.has_value());
    const auto sample = analysis::cutSample(data, *schema, 100);
    REQUIRE(sample.has_value());
    CHECK(sample->at("x").shape[0] == 900);
    CHECK(sample->at("edge_index").shape[1] > 0);
    CHECK(sample->at("edge_index").shape[1] < 300);
    const auto loose = analysis::inferSchema({{"edge_index", inputs::path(890)}}, roles, {{"w", 900}});
    REQUIRE(loose.has_value());
    CHECK(loose->sizes.at("node") == 900);
}
