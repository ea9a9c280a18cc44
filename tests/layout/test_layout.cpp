#include <doctest/doctest.h>

#include "layout/messages.h"
#include "json/json.h"

using namespace hopscope;

namespace {

layout::Graph chain(int nodes)
{
    layout::Graph graph;
    for (int i = 0; i < nodes; ++i) graph.sizes.push_back({100, 30});
    for (int i = 0; i + 1 < nodes; ++i) graph.edges.emplace_back(i, i + 1);
    return graph;
}

bool overlap(const layout::Graph& graph, const layout::Placement& placement, std::size_t a, std::size_t b)
{
    const double dx = std::abs(placement.centres[a].x - placement.centres[b].x);
    const double dy = std::abs(placement.centres[a].y - placement.centres[b].y);
    return dx < (graph.sizes[a].x + graph.sizes[b].x) / 2 - 0.5 && dy < (graph.sizes[a].y + graph.sizes[b].y) / 2 - 0.5;
}

}  // namespace

TEST_CASE("a chain goes straight down")
{
    layout::DotLayout dot;
    const auto placement = dot.run(chain(4));
    REQUIRE(placement);
    REQUIRE(placement->centres.size() == 4);
    for (std::size_t i = 1; i < 4; ++i) {
        CHECK(placement->centres[i].x == doctest::Approx(placement->centres[0].x));
        CHECK(placement->centres[i].y >= placement->centres[i - 1].y + 30);
    }
    CHECK(placement->size.x == doctest::Approx(100).epsilon(0.02));
}

TEST_CASE("boxes of different sizes do not overlap and edges point down")
{
    layout::Graph graph;
    for (int i = 0; i < 40; ++i) graph.sizes.push_back({60.0 + 13 * (i % 7), 24.0 + 31 * (i % 3)});
    for (int i = 0; i < 40; ++i)
        for (int j : {i + 1, i + 3, 2 * i + 1})
            if (j < 40 && j != i) graph.edges.emplace_back(i, j);
    layout::DotLayout dot;
    const auto placement = dot.run(graph);
    REQUIRE(placement);
    for (std::size_t a = 0; a < 40; ++a)
        for (std::size_t b = a + 1; b < 40; ++b) CHECK_FALSE(overlap(graph, *placement, a, b));
    for (const auto& [from, to] : graph.edges) CHECK(placement->centres[from].y < placement->centres[to].y);
}

TEST_CASE("heights move rows apart and change nothing else")
{
    layout::Graph low;
    for (int i = 0; i < 40; ++i) low.sizes.push_back({60.0 + 13 * (i % 7), 30});
    for (int i = 0; i < 40; ++i)
        for (int j : {i + 1, i + 3, 2 * i + 1})
            if (j < 40 && j != i) low.edges.emplace_back(i, j);
    layout::Graph high = low;
    for (int i = 0; i < 40; ++i) high.sizes[i].y = 24.0 + 31 * (i % 3);
    layout::DotLayout dot;
    const auto flat = dot.run(low), tall = dot.run(high);
    REQUIRE(flat);
    REQUIRE(tall);
    for (std::size_t a = 0; a < 40; ++a) {
        CHECK(tall->centres[a].x == doctest::Approx(flat->centres[a].x));
        for (std::size_t b = 0; b < 40; ++b)
            CHECK((tall->centres[a].y < tall->centres[b].y - 0.5) == (flat->centres[a].y < flat->centres[b].y - 0.5));
    }
}

TEST_CASE("a heavy chain stays straight where others skip it")
{
    layout::Graph graph = chain(5);
    graph.edges.insert(graph.edges.end(), {{0, 4}, {1, 4}, {2, 4}});
    graph.weights = {12, 12, 12, 12, 1, 1, 1};
    layout::DotLayout dot;
    const auto placement = dot.run(graph);
    REQUIRE(placement);
    for (const layout::Point& centre : placement->centres) CHECK(centre.x == doctest::Approx(placement->centres[0].x));
}

TEST_CASE("one context serves many graphs, also empty ones and single nodes")
{
    layout::DotLayout dot;
    for (int round = 0; round < 20; ++round) REQUIRE(dot.run(chain(round)));
    CHECK(dot.run({}).value().centres.empty());
}

TEST_CASE("what is out of bounds is refused")
{
    layout::DotLayout dot;
    layout::Graph dangling = chain(2), huge = chain(static_cast<int>(layout::maxNodes) + 1), flat = chain(2);
    dangling.edges.emplace_back(0, 2);
    flat.sizes[0].y = 0;
    layout::Graph unweighted = chain(3), overweight = chain(2);
    unweighted.weights = {1};
    overweight.weights = {1001};
    for (const layout::Graph& graph : {dangling, huge, flat, unweighted, overweight}) {
        const auto placement = dot.run(graph);
        REQUIRE_FALSE(placement);
        CHECK(placement.error().code == base::ErrorCode::Input);
    }
}

TEST_CASE("requests are read strictly, with the place of the fault")
{
    const auto good =
        layout::readRequest(R"({"id": 7, "nodes": [[10, 20.5], [30, 40]], "edges": [[0, 1]], "gaps": [5, 6]})");
    REQUIRE(good);
    CHECK(good->id == 7);
    CHECK(good->graph.sizes[0].y == 20.5);
    CHECK(good->graph.edges == std::vector<std::pair<int, int>>{{0, 1}});
    CHECK(good->graph.rankGap == 6);
    const std::pair<const char*, const char*> bad[] = {
        {R"({"nodes": [], "edges": []})", "request /id"},
        {R"({"id": 1, "edges": []})", "request /nodes"},
        {R"({"id": 1, "nodes": [[1]], "edges": []})", "request /nodes/0"},
        {R"({"id": 1, "nodes": [[1, 1]], "edges": [[0, 0], [0, 0.5]]})", "request /edges/1/1"},
        {R"({"id": 1, "nodes": [[1, 1]], "edges": [[0, -1]]})", "request /edges/0"},
        {R"({"id": 1, "nodes": [], "edges": [], "gaps": [1]})", "request /gaps"},
    };
    for (const auto& [text, where] : bad) {
        const auto request = layout::readRequest(text);
        REQUIRE_FALSE(request);
        CHECK(request.error().where == where);
    }
}

TEST_CASE("answers name their request, failures too")
{
    layout::DotLayout dot;
    const auto answer = json::parse(layout::writeAnswer(3, dot.run(chain(2)))).value();
    CHECK(*answer.find("id")->asInt() == 3);
    CHECK(answer.find("centres")->size() == 2);
    const auto failure = json::parse(layout::writeAnswer(4, base::fail(base::ErrorCode::Input, "no"))).value();
    CHECK(*failure.find("error")->asString() == "no");
}
