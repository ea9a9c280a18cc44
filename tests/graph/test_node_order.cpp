#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "graph/node_order.h"

using namespace hopscope::graph;

namespace {

struct Graph {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> columns;

    [[nodiscard]] Neighbours view() const
    {
        return {offsets.data(), columns.data(), static_cast<std::int64_t>(offsets.size()) - 1};
    }
};

Graph fromPairs(std::int64_t nodes, const std::vector<std::pair<std::int32_t, std::int32_t>>& pairs)
{
    std::vector<std::vector<std::int32_t>> lists(static_cast<std::size_t>(nodes));
    for (const auto& [source, destination] : pairs) lists[static_cast<std::size_t>(destination)].push_back(source);
    Graph graph{{0}, {}};
    for (const auto& list : lists) {
        graph.columns.insert(graph.columns.end(), list.begin(), list.end());
        graph.offsets.push_back(static_cast<std::int64_t>(graph.columns.size()));
    }
    return graph;
}

std::vector<std::int32_t> shuffledIds(std::int64_t nodes, std::mt19937& random)
{
    std::vector<std::int32_t> ids(static_cast<std::size_t>(nodes));
    std::iota(ids.begin(), ids.end(), 0);
    std::shuffle(ids.begin(), ids.end(), random);
    return ids;
}

// `inside` of 100 edges lie within communities of `size` nodes; ids are shuffled.
Graph planted(std::int64_t nodes, std::int64_t size, int degree, unsigned inside, unsigned seed)
{
    std::mt19937 random(seed);
    const auto ids = shuffledIds(nodes, random);
    std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
    for (std::int64_t v = 0; v < nodes; ++v)
        for (int i = 0; i < degree; ++i) {
            const bool within = random() % 100 < inside;
            const std::int64_t u = within ? v / size * size + random() % size : random() % nodes;
            pairs.emplace_back(ids[static_cast<std::size_t>(std::min(u, nodes - 1))], ids[static_cast<std::size_t>(v)]);
        }
    return fromPairs(nodes, pairs);
}

Graph shuffledGrid(std::int64_t side, unsigned seed)
{
    std::mt19937 random(seed);
    const auto ids = shuffledIds(side * side, random);
    const auto id = [&](std::int64_t x, std::int64_t y) { return ids[static_cast<std::size_t>(x * side + y)]; };
    std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
    for (std::int64_t x = 0; x < side; ++x)
        for (std::int64_t y = 0; y < side; ++y)
            for (const auto& [dx, dy] : {std::pair{1, 0}, {0, 1}})
                if (x + dx < side && y + dy < side) {
                    pairs.emplace_back(id(x, y), id(x + dx, y + dy));
                    pairs.emplace_back(id(x + dx, y + dy), id(x, y));
                }
    return fromPairs(side * side, pairs);
}

bool isPermutation(NodeOrder order, std::int64_t nodes)
{
    std::sort(order.begin(), order.end());
    NodeOrder all(static_cast<std::size_t>(nodes));
    std::iota(all.begin(), all.end(), 0);
    return order == all;
}

double rowsByBruteForce(const Neighbours& graph, const std::int64_t* order, std::int64_t rows)
{
    std::size_t distinct = 0;
    for (std::int64_t first = 0; first < graph.nodes; first += rows) {
        std::set<std::int32_t> tile;
        for (std::int64_t p = first; p < std::min(first + rows, graph.nodes); ++p) {
            const std::int64_t node = order ? order[p] : p;
            tile.insert(graph.columns + graph.offsets[node], graph.columns + graph.offsets[node + 1]);
        }
        distinct += tile.size();
    }
    return static_cast<double>(distinct) / static_cast<double>(graph.nodes);
}

std::int64_t bandwidth(const Neighbours& graph, const NodeOrder& order)
{
    NodeOrder places(order.size());
    for (std::size_t p = 0; p < order.size(); ++p)
        places[static_cast<std::size_t>(order[p])] = static_cast<std::int64_t>(p);
    std::int64_t widest = 0;
    for (std::int64_t v = 0; v < graph.nodes; ++v)
        for (std::int64_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e)
            widest = std::max(widest, std::abs(places[static_cast<std::size_t>(v)] -
                                               places[static_cast<std::size_t>(graph.columns[e])]));
    return widest;
}

}  // namespace

TEST_CASE("every order names each node once, on graphs with loops, duplicates, one-way edges and lonely nodes")
{
    std::mt19937 random(5);
    for (unsigned round = 0; round < 60; ++round) {
        CAPTURE(round);
        const std::int64_t nodes = random() % 40;
        std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
        for (std::int64_t e = 0; nodes > 0 && e < static_cast<std::int64_t>(random() % 120); ++e)
            pairs.emplace_back(random() % nodes, random() % nodes);
        const Graph graph = fromPairs(nodes, pairs);
        CHECK(isPermutation(communityOrder(graph.view(), 2), nodes));
        CHECK(isPermutation(rcmOrder(graph.view()), nodes));
        CHECK(isPermutation(degreeOrder(graph.view()), nodes));
    }
}

TEST_CASE("planted communities are found, in the same order on any number of threads")
{
    const Graph graph = planted(40000, 200, 16, 90, 1);
    const NodeOrder order = communityOrder(graph.view(), 1);
    for (const int threads : {2, 3, 16}) CHECK(order == communityOrder(graph.view(), threads));
    const double before = rowsByBruteForce(graph.view(), nullptr, 512),
                 after = rowsByBruteForce(graph.view(), order.data(), 512);
    CAPTURE(before);
    CAPTURE(after);
    CHECK(before > 13);
    CHECK(after < 0.4 * before);
}

TEST_CASE("neighbours in 64 bits give the same orders and the same samples")
{
    const Graph graph = planted(3000, 60, 12, 85, 4);
    const std::vector<std::int64_t> columns(graph.columns.begin(), graph.columns.end());
    const Neighbours narrow = graph.view();
    const Neighbours wide{.offsets = narrow.offsets, .nodes = narrow.nodes, .wideColumns = columns.data()};
    CHECK(communityOrder(wide, 2) == communityOrder(narrow, 2));
    CHECK(rcmOrder(wide) == rcmOrder(narrow));
    CHECK(rowsPerDestination(wide, nullptr, 64) == rowsPerDestination(narrow, nullptr, 64));
    CHECK(sampledTogether(wide, 512, 1) == sampledTogether(narrow, 512, 3));
}

TEST_CASE("the rows that tiles ask for are those that brute force counts")
{
    const Graph graph = planted(5000, 100, 10, 80, 2);
    const NodeOrder order = communityOrder(graph.view(), 1);
    for (const std::int64_t rows : {1, 64, 1000, 5000, 9000}) {
        CAPTURE(rows);
        CHECK(rowsPerDestination(graph.view(), nullptr, rows) ==
              doctest::Approx(rowsByBruteForce(graph.view(), nullptr, rows)));
        CHECK(rowsPerDestination(graph.view(), order.data(), rows) ==
              doctest::Approx(rowsByBruteForce(graph.view(), order.data(), rows)));
    }
}

TEST_CASE("reverse Cuthill-McKee gives a shuffled grid a bandwidth near its side")
{
    for (const std::int64_t side : {3, 20, 60}) {
        CAPTURE(side);
        const Graph graph = shuffledGrid(side, 3);
        CHECK(bandwidth(graph.view(), rcmOrder(graph.view())) <= 2 * side);
    }
}

TEST_CASE("degrees fall, and equal ones keep their order")
{
    const Graph graph = planted(3000, 50, 7, 30, 4);
    const Neighbours view = graph.view();
    NodeOrder expected(3000);
    std::iota(expected.begin(), expected.end(), 0);
    std::ranges::stable_sort(expected, [&](auto a, auto b) { return view.degree(a) > view.degree(b); });
    CHECK(degreeOrder(view) == expected);
}

TEST_CASE("a fixed tail keeps its nodes at the end and the others in their order")
{
    CHECK(withFixedTail({3, 0, 4, 2, 1}, 2) == NodeOrder{0, 2, 1, 3, 4});
    CHECK(withFixedTail({3, 0, 4, 2, 1}, 0) == NodeOrder{3, 0, 4, 2, 1});
    CHECK(withFixedTail({3, 0, 4, 2, 1}, 9) == NodeOrder{0, 1, 2, 3, 4});
}

TEST_CASE("a sample of the edges tells small communities from one large one and from none")
{
    CHECK(sampledTogether(planted(40000, 200, 16, 90, 5).view(), 2000, 2) > 0.15);
    CHECK(sampledTogether(planted(40000, 40000, 16, 90, 6).view(), 2000, 2) < 0.08);
    CHECK(sampledTogether(planted(40000, 200, 16, 0, 7).view(), 2000, 2) < 0.08);
    CHECK(sampledTogether(fromPairs(5, {}).view(), 10, 2) == 0);
}
