#include <doctest/doctest.h>

#include "analysis/roles/int_column.h"
#include "analysis/roles/sample.h"
#include "role_rows.h"

using namespace hopscope;
using namespace inputs;

namespace {

// Bonds in both directions, one after the other.
const std::vector<std::pair<std::int64_t, std::int64_t>> bonds{{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 2}};
const std::vector<std::int64_t> reverse{1, 0, 3, 2, 5, 4};

}  // namespace

TEST_CASE("features of several batches have their rows along the dimension that all edges fit into")
{
    const struct {
        std::vector<std::int64_t> shape;
        int dim;
    } rows[] = {{{3, 10, 4}, 1}, {{3, 10}, 1}, {{1, 2, 10, 4}, 2}, {{10, 4}, 0}, {{10, 12, 4}, 0}, {{10, 3, 12}, 0}};
    for (const auto& row : rows) {
        CAPTURE(row.shape.size());
        const auto schema = infer({{"x", floats(row.shape)}, {"edge_index", path(10, 3)}});
        REQUIRE(schema.has_value());
        CHECK(rolesText(*schema) == "edge_index=index:node>node x=node:node");
        CHECK(sizesText(*schema) == "edge_index=12 node=10");
        CHECK(schema->roles.at("x").dim == row.dim);
        CHECK(schema->notes.empty() == (row.dim == 0));
    }
}

TEST_CASE("features that no dimension makes large enough are refused")
{
    const auto schema = infer({{"x", floats({3, 4, 2})}, {"edge_index", path(10, 3)}});
    REQUIRE_FALSE(schema.has_value());
    CHECK(schema.error().message.find("rows") != std::string::npos);
}

TEST_CASE("edges that other inputs point to are a node table")
{
    const Row rows[] = {
        {"the reverse of each edge",
         {{"x", floats({9, 4})}, {"edge_index", index(bonds)}, {"edge_attr", floats({6, 2})}, {"rev", column(reverse)}},
         {},
         "edge_attr=node:edge_index edge_index=ends:node>node rev=key:edge_index>edge_index x=node:node",
         "edge_index=6 node=9"},
        {"the same under a name that says nothing, by --role",
         {{"x", floats({9, 4})}, {"edge_index", index(bonds)}, {"twins", column(reverse)}},
         {"twins=key:edge_index>edge_index"},
         "edge_index=ends:node>node twins=key:edge_index>edge_index x=node:node",
         "edge_index=6 node=9"},
        {"pairs of edges, by ids beyond all nodes",
         {{"x", floats({4, 3})}, {"edge_index", index(bonds)}, {"lg_edge_index", index({{0, 5}, {1, 4}, {2, 2}})}},
         {},
         "edge_index=ends:node>node lg_edge_index=index:edge_index>edge_index x=node:node",
         "edge_index=6 lg_edge_index=3 node=4"},
        {"pairs of edges in two columns",
         {{"x", floats({4, 3})},
          {"edge_index", index(bonds)},
          {"idx_kj", column({0, 1, 2, 5, 3})},
          {"idx_ji", column({2, 4, 3, 5, 0})},
          {"angle", floats({5})}},
         {"angle=edge:idx"},
         "angle=edge:idx edge_index=ends:node>node idx_ji=destination:edge_index>edge_index "
         "idx_kj=source:edge_index>edge_index x=node:node",
         "edge_index=6 idx=5 node=4"},
        {"columns of ends become keys",
         {{"x", floats({9, 4})}, {"src", column({0, 1, 1})}, {"dst", column({1, 0, 2})}, {"rev", column({1, 0, 2})}},
         {},
         "dst=key:edge>node rev=key:edge>edge src=key:edge>node x=node:node",
         "edge=3 node=9"},
    };
    for (const Row& row : rows) check(row);
}

TEST_CASE("the sample of edges that are a table renumbers their ends and what points to them")
{
    std::vector<std::pair<std::int64_t, std::int64_t>> edges;
    std::vector<std::int64_t> back;
    for (std::int64_t i = 0; i + 1 < 600; ++i) {
        edges.insert(edges.end(), {{i, i + 1}, {i + 1, i}});
        back.insert(back.end(), {2 * i + 1, 2 * i});
    }
    const TensorMap data{{"x", floats({600, 4})}, {"edge_index", index(edges)}, {"rev", column(back)}};
    const auto schema = infer(data);
    REQUIRE(schema.has_value());
    const auto sample = analysis::cutSample(data, *schema, 50, 3);
    REQUIRE(sample.has_value());
    const base::TensorView& cut = sample->at("edge_index");
    const analysis::IntColumn source(cut, 0, 0), target(cut, 1, 0), reversed(sample->at("rev"));
    REQUIRE(source.size() == reversed.size());
    CHECK(source.size() < 600);
    for (std::int64_t e = 0; e < source.size(); ++e) {
        CHECK(source[e] < sample->at("x").shape[0]);
        CHECK(source[reversed[e]] == target[e]);
        CHECK(target[reversed[e]] == source[e]);
    }
}

TEST_CASE("the sample of features with several batches keeps all of them")
{
    const TensorMap data{{"x", floats({3, 900, 2})}, {"edge_index", path(900, 3)}};
    const auto schema = infer(data);
    REQUIRE(schema.has_value());
    const auto sample = analysis::cutSample(data, *schema, 40, 3);
    REQUIRE(sample.has_value());
    const base::TensorView& x = sample->at("x");
    REQUIRE(x.shape.size() == 3);
    CHECK(x.shape[0] == 3);
    CHECK(x.shape[1] < 100);
    CHECK(x.shape[2] == 2);
}

TEST_CASE("rows that are asked for by number are a table that names rows of the nodes")
{
    const Row rows[] = {
        {"by a name",
         {{"x", floats({10, 4})}, {"edge_index", path(10, 3)}, {"seeds", column({7, 1, 3})}},
         {},
         "edge_index=index:node>node seeds=key:seeds>node x=node:node",
         "edge_index=12 node=10 seeds=3"},
        {"by --role",
         {{"x", floats({10, 4})}, {"edge_index", path(10, 3)}, {"those", column({7, 1, 3})}},
         {"those=key:chosen>node"},
         "edge_index=index:node>node those=key:chosen>node x=node:node",
         "chosen=3 edge_index=12 node=10"},
        {"numbers beyond the nodes name none",
         {{"x", floats({10, 4})}, {"edge_index", path(10, 3)}, {"ids", column({70, 1, 3})}},
         {},
         "edge_index=index:node>node ids=plain x=node:node",
         "edge_index=12 node=10"},
    };
    for (const Row& row : rows) check(row);
}
