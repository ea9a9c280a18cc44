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

namespace {

std::vector<std::pair<std::int64_t, std::int64_t>> ofAll(std::int64_t edges, std::int64_t sources, std::int64_t targets)
{
    std::vector<std::pair<std::int64_t, std::int64_t>> list;
    for (std::int64_t e = 0; e < edges; ++e) list.emplace_back(e % sources, e % targets);
    return list;
}

const std::string pairRoles = "edge_index=index:node>x.1 x.0=node:node x.1=node:x.1";

}  // namespace

TEST_CASE("a pair of inputs holds the rows of sources and of destinations, whatever numbers agree")
{
    const Row rows[] = {
        {"a width above the number of rows",
         {{"x.0", floats({70, 16})}, {"x.1", floats({5, 76})}, {"edge_index", index(ofAll(90, 70, 5))}},
         {},
         pairRoles,
         "edge_index=90 node=70 x.1=5"},
        {"the same with a role for it",
         {{"x.0", floats({70, 16})}, {"x.1", floats({5, 76})}, {"edge_index", index(ofAll(90, 70, 5))}},
         {"x.1=node:d"},
         "edge_index=index:node>d x.0=node:node x.1=node:d",
         "d=5 edge_index=90 node=70"},
        {"as many edges as sources",
         {{"x.0", floats({20, 4})}, {"x.1", floats({5, 3})}, {"edge_index", index(ofAll(20, 20, 5))}},
         {},
         pairRoles,
         "edge_index=20 node=20 x.1=5"},
        {"as many edges as destinations",
         {{"x.0", floats({20, 4})}, {"x.1", floats({5, 3})}, {"edge_index", index(ofAll(5, 20, 5))}},
         {},
         pairRoles,
         "edge_index=5 node=20 x.1=5"},
        {"four nodes and two",
         {{"x.0", floats({4, 8})}, {"x.1", floats({2, 16})}, {"edge_index", index({{0, 0}, {1, 0}, {2, 1}, {3, 1}})}},
         {},
         pairRoles,
         "edge_index=4 node=4 x.1=2"},
    };
    for (const Row& row : rows) check(row);
}

TEST_CASE("pairs of inputs in all their forms hold the rows of both ends")
{
    const Row rows[] = {
        {"more destinations than sources, with ids that fit into both",
         {{"x.0", floats({4, 8})}, {"x.1", floats({9, 8})}, {"edge_index", index({{0, 3}, {1, 2}, {3, 1}})}},
         {},
         pairRoles,
         "edge_index=3 node=4 x.1=9"},
        {"as many of both",
         {{"x.0", floats({4, 8})}, {"x.1", floats({4, 2})}, {"edge_index", index({{0, 3}, {1, 2}, {3, 1}})}},
         {},
         "edge_index=index:node>node x.0=node:node x.1=node:node",
         "edge_index=3 node=4"},
        {"batches of features",
         {{"x.0", floats({3, 20, 4})}, {"x.1", floats({3, 5, 4})}, {"edge_index", index(ofAll(30, 20, 5))}},
         {},
         pairRoles,
         "edge_index=30 node=20 x.1=5"},
        {"compressed rows with a size that no id reaches",
         {{"x.0", floats({4, 8})},
          {"x.1", floats({3, 2})},
          {"a.csr_crow", column({0, 2, 3, 3})},
          {"a.csr_col", column({0, 2, 1})},
          {"a.csr_values", floats({3})},
          {"a.csr_size", column({3, 4})}},
         {},
         "a.csr_col=source:node>x.1 a.csr_crow=offsets:node>x.1 a.csr_size=plain a.csr_values=edge:a x.0=node:node "
         "x.1=node:x.1",
         "a=3 node=4 x.1=3"},
        {"a COO matrix, whose rows are the destinations",
         {{"x.0", floats({4, 8})},
          {"x.1", floats({2, 3})},
          {"a.coo_indices", index({{0, 3}, {1, 2}})},
          {"a.coo_values", floats({2})},
          {"a.coo_size", column({2, 4})}},
         {},
         "a.coo_indices=index:x.1>node a.coo_size=plain a.coo_values=edge:a x.0=node:node x.1=node:x.1",
         "a=2 node=4 x.1=2"},
    };
    for (const Row& row : rows) check(row);
}

TEST_CASE("as many edges as batches or nodes do not hide features of several batches")
{
    for (const auto& edges : {path(4), path(4, 1)}) {
        const auto schema = infer({{"x", floats({3, 4, 16})}, {"edge_index", edges}});
        REQUIRE(schema.has_value());
        CHECK(rolesText(*schema) == "edge_index=index:node>node x=node:node");
        CHECK(schema->roles.at("x").dim == 1);
    }
}

TEST_CASE("a table that holds the rows of one end is wide, not turned, if another one holds those of the other")
{
    const auto schema =
        infer({{"user", floats({70, 3})}, {"item", floats({5, 76})}, {"edge_index", index({{69, 4}, {0, 0}, {3, 2}})}},
              {"user=node:user", "item=node:item"});
    REQUIRE(schema.has_value());
    CHECK(schema->roles.at("item").dim == 0);
    CHECK(rolesText(*schema) == "edge_index=index:user>item item=node:item user=node:user");
}

TEST_CASE("sparse matrices in a Dict belong to the relation that their key names")
{
    const Row rows[] = {
        {"compressed rows",
         {{"x_dict.a", floats({4, 3})},
          {"x_dict.b", floats({6, 3})},
          {"adj_t_dict.a__to__b.csr_crow", column({0, 1, 1, 2, 2, 2, 3})},
          {"adj_t_dict.a__to__b.csr_col", column({3, 0, 1})},
          {"adj_t_dict.a__to__b.csr_values", floats({3})},
          {"adj_t_dict.a__to__b.csr_size", column({6, 4})}},
         {},
         "adj_t_dict.a__to__b.csr_col=source:a>b adj_t_dict.a__to__b.csr_crow=offsets:a>b "
         "adj_t_dict.a__to__b.csr_size=plain adj_t_dict.a__to__b.csr_values=edge:adj_t_dict.a__to__b "
         "x_dict.a=node:a x_dict.b=node:b",
         "a=4 adj_t_dict.a__to__b=3 b=6"},
        {"COO, with values for several channels",
         {{"x_dict.a", floats({4, 3})},
          {"x_dict.b", floats({6, 3})},
          {"adj_t_dict.a__to__b.coo_indices", index({{5, 3}, {0, 1}})},
          {"adj_t_dict.a__to__b.coo_values", floats({2, 7})},
          {"adj_t_dict.a__to__b.coo_size", column({6, 4, 7})}},
         {},
         "adj_t_dict.a__to__b.coo_indices=index:b>a adj_t_dict.a__to__b.coo_size=plain "
         "adj_t_dict.a__to__b.coo_values=edge:adj_t_dict.a__to__b x_dict.a=node:a x_dict.b=node:b",
         "a=4 adj_t_dict.a__to__b=2 b=6"},
    };
    for (const Row& row : rows) check(row);
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
        {"but not edges with offsets, beside another index of as many edges",
         {{"x", floats({4, 3})},
          {"rowptr", column({0, 2, 2, 3, 7})},
          {"col", column({0, 1, 1, 3, 2, 0, 1})},
          {"edge_index", index({{0, 1}, {1, 2}, {2, 3}, {3, 0}, {3, 1}, {0, 2}, {1, 0}})},
          {"pairs", index({{0, 5}, {6, 1}})}},
         {},
         "col=source:node>node edge_index=ends:node>node pairs=index:edge_index>edge_index "
         "rowptr=offsets:node>node x=node:node",
         "edge=7 edge_index=7 node=4 pairs=2"},
        {"columns of ends become keys",
         {{"x", floats({9, 4})}, {"src", column({0, 1, 1})}, {"dst", column({1, 0, 2})}, {"rev", column({1, 0, 2})}},
         {},
         "dst=key:edge>node rev=key:edge>edge src=key:edge>node x=node:node",
         "edge=3 node=9"},
    };
    for (const Row& row : rows) check(row);
}

TEST_CASE("entries of a matrix have no numbers, so that pairs do not point to them")
{
    const TensorMap data{
        {"x", floats({4, 3})},
        {"adj.coo_indices", index({{0, 1}, {1, 2}, {2, 3}, {3, 0}, {3, 1}, {0, 2}, {1, 0}})},
        {"adj.coo_values", floats({7})},
        {"adj.coo_size", column({4, 4})},
        {"buy", index({{0, 6}, {3, 1}})},
    };
    const auto schema = infer(data);
    REQUIRE_FALSE(schema.has_value());
    CHECK(schema.error().message.starts_with("buy[1, 0] is 6, but \"node\" has 4 rows"));
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

TEST_CASE("rows of edges behind a dimension of batches are cut like the edges")
{
    const TensorMap data{{"feats", floats({2, 300, 4})}, {"edge_index", path(250, 51)}, {"xs.node", floats({250, 3})}};
    const auto schema = infer(data);
    REQUIRE(schema.has_value());
    CHECK(text(schema->roles.at("feats")) == "edge:edge_index");
    const auto sample = analysis::cutSample(data, *schema, 40, 3);
    REQUIRE(sample.has_value());
    const std::int64_t edges = sample->at("edge_index").shape[1];
    CHECK(edges < 300);
    CHECK(sample->at("feats").shape == std::vector<std::int64_t>{2, edges, 4});
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
