#include <doctest/doctest.h>

#include "role_rows.h"

using namespace hopscope;
using namespace inputs;

TEST_CASE("a graph with one node type is recognised by names and sizes")
{
    const Row rows[] = {
        {"features and an edge index",
         {{"x", floats({10, 4})}, {"edge_index", path(10, 3)}},
         {},
         "edge_index=index:node>node x=node:node",
         "edge_index=12 node=10"},
        {"isolated nodes at the end",
         {{"x", floats({15, 4})}, {"edge_index", path(10, 3)}},
         {},
         "edge_index=index:node>node x=node:node",
         "edge_index=12 node=15"},
        {"edge weights and types",
         {{"x", floats({10, 4})},
          {"edge_index", path(10, 3)},
          {"edge_weight", floats({12})},
          {"edge_type", zeros({12})}},
         {},
         "edge_index=index:node>node edge_type=edge:edge_index edge_weight=edge:edge_index x=node:node",
         "edge_index=12 node=10"},
        {"labels and masks",
         {{"x", floats({10, 4})}, {"edge_index", path(10, 3)}, {"y", zeros({10})}, {"train_mask", mask(10)}},
         {},
         "edge_index=index:node>node train_mask=node:node x=node:node y=node:node",
         "edge_index=12 node=10"},
        {"as many edges as nodes: names decide",
         {{"x", floats({10, 4})}, {"edge_index", path(10, 1)}, {"edge_attr", floats({10, 2})}, {"y", zeros({10})}},
         {},
         "edge_attr=edge:edge_index edge_index=index:node>node x=node:node y=node:node",
         "edge_index=10 node=10"},
    };
    for (const Row& row : rows) check(row);
}

TEST_CASE("small and empty graphs are recognised")
{
    const Row rows[] = {
        {"one node and one edge",
         {{"x", floats({1, 4})}, {"edge_index", index({{0, 0}})}, {"edge_attr", floats({1, 2})}},
         {},
         "edge_attr=edge:edge_index edge_index=index:node>node x=node:node",
         "edge_index=1 node=1"},
        {"two nodes with integer features",
         {{"x", zeros({2, 5})}, {"edge_index", index({{0, 1}})}},
         {},
         "edge_index=index:node>node x=node:node",
         "edge_index=1 node=2"},
        {"no edges",
         {{"x", floats({5, 4})}, {"edge_index", zeros({2, 0})}, {"edge_attr", floats({0, 3})}},
         {},
         "edge_attr=edge:edge_index edge_index=index:node>node x=node:node",
         "edge_index=0 node=5"},
        {"no nodes",
         {{"x", floats({0, 4})}, {"edge_index", zeros({2, 0})}},
         {},
         "edge_index=index:node>node x=node:node",
         "edge_index=0 node=0"},
    };
    for (const Row& row : rows) check(row);
}

TEST_CASE("tables are recognised by what else has their rows")
{
    const Row rows[] = {
        {"atom numbers and positions",
         {{"z", zeros({10})}, {"pos", floats({10, 3})}, {"edge_index", path(10, 3)}},
         {},
         "edge_index=index:node>node pos=node:node z=node:node",
         "edge_index=12 node=10"},
        {"two feature matrices share a type",
         {{"x", floats({10, 4})}, {"x_skip", floats({10, 7})}, {"edge_index", path(10, 3)}},
         {},
         "edge_index=index:node>node x=node:node x_skip=node:node",
         "edge_index=12 node=10"},
        {"unnamed features",
         {{"a", floats({10, 4})}, {"b", path(10, 3)}, {"c", floats({12, 2})}},
         {},
         "a=node:node b=index:node>node c=edge:b",
         "b=12 node=10"},
        {"short names",
         {{"h", floats({10, 4})}, {"ei", path(10, 3)}, {"ew", floats({12})}},
         {},
         "ei=index:node>node ew=edge:ei h=node:node",
         "ei=12 node=10"},
        {"only edges", {{"edge_index", path(10, 3)}}, {}, "edge_index=index:node>node", "edge_index=12 node=10"},
        {"node numbers for an embedding",
         {{"n_id", column(batchOf(12, 12))}, {"edge_index", path(10)}},
         {},
         "edge_index=index:node>node n_id=node:node",
         "edge_index=9 node=12"},
    };
    for (const Row& row : rows) check(row);
}

TEST_CASE("several indices and containers are recognised")
{
    const Row rows[] = {
        {"a second index",
         {{"x", floats({10, 4})},
          {"edge_index", path(10, 3)},
          {"edge_label_index", path(7)},
          {"edge_label", floats({6})}},
         {},
         "edge_index=index:node>node edge_label=edge:edge_label_index edge_label_index=index:node>node x=node:node",
         "edge_index=12 edge_label_index=6 node=10"},
        {"positive and negative edges",
         {{"x", floats({10, 4})},
          {"pos_edge_index", path(9)},
          {"neg_edge_index", path(10)},
          {"pos_edge_attr", floats({8, 2})}},
         {},
         "neg_edge_index=index:node>node pos_edge_attr=edge:pos_edge_index pos_edge_index=index:node>node x=node:node",
         "neg_edge_index=9 node=10 pos_edge_index=8"},
        {"a list of indices with weights",
         {{"x", floats({10, 4})}, {"adjs.0", path(9)}, {"adjs.1", path(9)}, {"ews.1", floats({8})}},
         {},
         "adjs.0=index:node>node adjs.1=index:node>node ews.1=edge:adjs.1 x=node:node",
         "adjs.0=8 adjs.1=8 node=10"},
        {"numbers and small matrices",
         {{"x", floats({10, 4})}, {"edge_index", path(10, 3)}, {"alpha", floats({})}, {"w", floats({3, 4})}},
         {},
         "alpha=plain edge_index=index:node>node w=plain x=node:node",
         "edge_index=12 node=10"},
        {"a Dict of everything",
         {{"data.x", floats({10, 4})}, {"data.edge_index", path(10, 3)}, {"data.edge_attr", floats({12, 2})}},
         {},
         "data.edge_attr=edge:data.edge_index data.edge_index=index:node>node data.x=node:node",
         "data.edge_index=12 node=10"},
    };
    for (const Row& row : rows) check(row);
}

TEST_CASE("edges are recognised in every form of matrix")
{
    const Row rows[] = {
        {"small integer indices",
         {{"x", floats({10, 4})}, {"edge_index", index({{0, 9}, {3, 2}}, inputs::DType::Int32)}},
         {},
         "edge_index=index:node>node x=node:node",
         "edge_index=2 node=10"},
        {"a dense adjacency",
         {{"x", floats({10, 4})}, {"adj", floats({10, 10})}},
         {},
         "adj=node:node x=node:node",
         "node=10"},
        {"a sparse adjacency",
         {{"x", floats({10, 4})},
          {"adj_t.coo_indices", path(9)},
          {"adj_t.coo_values", floats({8})},
          {"adj_t.coo_size", column({10, 10})}},
         {},
         "adj_t.coo_indices=index:node>node adj_t.coo_size=plain adj_t.coo_values=edge:adj_t x=node:node",
         "adj_t=8 node=10"},
    };
    for (const Row& row : rows) check(row);
}

TEST_CASE("lists of pairs and columns for each end are edges")
{
    const std::vector<std::pair<std::int64_t, std::int64_t>> edges{{0, 9}, {3, 2}, {3, 3}};
    const auto from = inputs::endOf(edges, 0), to = inputs::endOf(edges, 1);
    const TensorView x = floats({10, 4});
    const Row rows[] = {
        {"a list of pairs",
         {{"x", x}, {"pairs", inputs::pairsOf(edges)}, {"edge_attr", floats({3, 2})}},
         {},
         "edge_attr=edge:pairs pairs=pairs:node>node x=node:node",
         "node=10 pairs=3"},
        {"two edges are rows of sources and destinations",
         {{"x", x}, {"edges", inputs::pairsOf({{0, 9}, {3, 2}})}},
         {},
         "edges=index:node>node x=node:node",
         "edges=2 node=10"},
        {"an edge index of pairs, on the user's word",
         {{"x", x}, {"edge_index", inputs::pairsOf(edges)}},
         {"edge_index=index"},
         "edge_index=pairs:node>node x=node:node",
         "edge_index=3 node=10"},
        {"two columns",
         {{"x", x}, {"src", from}, {"dst", to}, {"weight", floats({3})}},
         {},
         "dst=destination:node>node src=source:node>node weight=edge:edge x=node:node",
         "edge=3 node=10"},
        {"two columns of rows and columns",
         {{"x", x}, {"row", from}, {"col", to}},
         {},
         "col=destination:node>node row=source:node>node x=node:node",
         "edge=3 node=10"},
        {"two relations in columns",
         {{"x", x},
          {"bond_src", from},
          {"bond_dst", to},
          {"near_src", inputs::column({1, 2})},
          {"near_dst", inputs::column({2, 1})}},
         {},
         "bond_dst=destination:node>node bond_src=source:node>node near_dst=destination:node>node "
         "near_src=source:node>node x=node:node",
         "bond=3 near=2 node=10"},
        {"columns between two node types",
         {{"user", floats({5, 4})},
          {"x", x},
          {"edge_src", inputs::column({4, 0})},
          {"edge_dst", inputs::column({9, 8})}},
         {"user=node:user", "edge_src=source:user>node", "edge_dst=destination"},
         "edge_dst=destination:user>node edge_src=source:user>node user=node:user x=node:node",
         "edge=2 node=10 user=5"},
    };
    for (const Row& row : rows) check(row);
}

TEST_CASE("compressed rows are the offsets of their destinations and a column of sources")
{
    const TensorView x = floats({5, 4}), rowptr = inputs::column({0, 2, 2, 3, 3, 4}),
                     col = inputs::column({4, 1, 0, 3});
    const Row rows[] = {
        {"of one node type",
         {{"x", x}, {"rowptr", rowptr}, {"col", col}, {"edge_weight", floats({4})}},
         {},
         "col=source:node>node edge_weight=edge:edge rowptr=offsets:node>node x=node:node",
         "edge=4 node=5"},
        {"under other names",
         {{"x", x}, {"indptr", rowptr}, {"indices", col}},
         {},
         "indices=source:node>node indptr=offsets:node>node x=node:node",
         "edge=4 node=5"},
        {"of no known name, by their numbers",
         {{"x", x}, {"a", rowptr}, {"b", col}, {"kind", inputs::column({0, 1, 0, 1})}},
         {},
         "a=offsets:node>node b=source:node>node kind=edge:edge x=node:node",
         "edge=4 node=5"},
        {"of no known name, on the user's word",
         {{"x", x}, {"a", rowptr}, {"b", col}},
         {"a=offsets", "b=source"},
         "a=offsets:node>node b=source:node>node x=node:node",
         "edge=4 node=5"},
        {"with fewer destinations than sources",
         {{"x", floats({9, 4})}, {"target", floats({5, 3})}, {"rowptr", rowptr}, {"col", inputs::column({8, 1, 0, 3})}},
         {"target=node:target"},
         "col=source:node>target rowptr=offsets:node>target target=node:target x=node:node",
         "edge=4 node=9 target=5"},
        {"of a sparse matrix",
         {{"x", x},
          {"adj.csr_crow", rowptr},
          {"adj.csr_col", col},
          {"adj.csr_values", floats({4})},
          {"adj.csr_size", inputs::column({5, 5})}},
         {},
         "adj.csr_col=source:node>node adj.csr_crow=offsets:node>node adj.csr_size=plain adj.csr_values=edge:adj "
         "x=node:node",
         "adj=4 node=5"},
        {"the offsets of graphs are none",
         {{"x", x}, {"ptr", inputs::column({0, 2, 5})}, {"z", inputs::column({4, 1, 0, 3, 2})}},
         {},
         "ptr=plain x=node:node z=node:node",
         "node=5"},
    };
    for (const Row& row : rows) check(row);
}

namespace {

// [n, 2]: each row's number, and -1.
TensorView everyRow(std::int64_t n)
{
    std::vector<std::int64_t> numbers;
    for (std::int64_t row = 0; row < n; ++row) numbers.insert(numbers.end(), {row, -1});
    return inputs::integers({n, 2}, numbers);
}

}  // namespace

TEST_CASE("a table of neighbours names rows of a node table for each row")
{
    const TensorView x = floats({4, 4}), padded = inputs::integers({4, 2}, {1, 3, 0, -1, -1, -1, 2, 0});
    const Row rows[] = {
        {"padded", {{"x", x}, {"nbr", padded}}, {}, "nbr=key:node>node x=node:node", "node=4"},
        {"padded with the number of rows",
         {{"x", x}, {"neighbors", inputs::integers({4, 2}, {1, 3, 0, 4, 4, 4, 2, 0})}},
         {},
         "neighbors=key:node>node x=node:node",
         "node=4"},
        {"of any name, on the user's word",
         {{"x", x}, {"table", padded}},
         {"table=key"},
         "table=key:node>node x=node:node",
         "node=4"},
        {"of any name, by its numbers",
         {{"x", floats({80, 4})}, {"table", everyRow(80)}},
         {},
         "table=key:node>node x=node:node",
         "node=80"},
        {"kinds are none",
         {{"x", floats({80, 4})}, {"kinds", inputs::zeros({80, 3})}},
         {},
         "kinds=node:node x=node:node",
         "node=80"},
        {"a mask beside it is none",
         {{"x", x}, {"nbr", padded}, {"nbr_mask", inputs::zeros({4, 2})}},
         {},
         "nbr=key:node>node nbr_mask=node:node x=node:node",
         "node=4"},
    };
    for (const Row& row : rows) check(row);
}

TEST_CASE("vectors that look like columns of edges are none")
{
    const std::vector<std::pair<std::int64_t, std::int64_t>> edges{{0, 9}, {3, 2}, {3, 3}};
    const auto from = inputs::endOf(edges, 0);
    const TensorView x = floats({10, 4});
    const Row rows[] = {
        {"a column alone",
         {{"x", x}, {"src", from}, {"edge_index", index(edges)}},
         {},
         "edge_index=index:node>node src=edge:edge_index x=node:node",
         "edge_index=3 node=10"},
        {"columns of different lengths",
         {{"x", x}, {"src", from}, {"dst", inputs::column({1})}, {"edge_index", index(edges)}},
         {},
         "dst=plain edge_index=index:node>node src=edge:edge_index x=node:node",
         "edge_index=3 node=10"},
        {"a row and a column of each pixel",
         {{"x", x}, {"row", zeros({10})}, {"col", zeros({10})}, {"edge_index", index(edges)}},
         {},
         "col=node:node edge_index=index:node>node row=node:node x=node:node",
         "edge_index=3 node=10"},
    };
    for (const Row& row : rows) check(row);
}

TEST_CASE("batch vectors, clusters and graph rows are recognised")
{
    const Row rows[] = {
        {"a batch vector",
         {{"x", floats({12, 4})}, {"edge_index", path(12, 4)}, {"batch", column(batchOf(12, 3))}},
         {},
         "batch=key:node>graph edge_index=index:node>node x=node:node",
         "edge_index=15 graph=3 node=12"},
        {"global features",
         {{"x", floats({12, 4})},
          {"edge_index", path(12, 4)},
          {"batch", column(batchOf(12, 3))},
          {"u", floats({4, 2})}},
         {},
         "batch=key:node>graph edge_index=index:node>node u=graph:graph x=node:node",
         "edge_index=15 graph=4 node=12"},
        {"labels of graphs",
         {{"x", floats({12, 4})}, {"edge_index", path(12, 4)}, {"batch", column(batchOf(12, 3))}, {"y", zeros({3})}},
         {},
         "batch=key:node>graph edge_index=index:node>node x=node:node y=graph:graph",
         "edge_index=15 graph=3 node=12"},
        {"an unnamed sorted column",
         {{"x", floats({12, 4})}, {"edge_index", path(12, 4)}, {"b", column(batchOf(12, 3))}},
         {},
         "b=key:node>graph edge_index=index:node>node x=node:node",
         "edge_index=15 graph=3 node=12"},
        {"sorted labels are labels",
         {{"x", floats({12, 4})}, {"edge_index", path(12, 4)}, {"y", column(batchOf(12, 3))}},
         {},
         "edge_index=index:node>node x=node:node y=node:node",
         "edge_index=15 node=12"},
        {"an unsorted batch",
         {{"x", floats({4, 4})}, {"edge_index", path(4, 3)}, {"batch", column({2, 0, 2, 1})}},
         {},
         "batch=key:node>graph edge_index=index:node>node x=node:node",
         "edge_index=6 graph=3 node=4"},
        {"a batch without other node inputs",
         {{"batch", column(batchOf(12, 3))}, {"edge_index", path(12, 4)}},
         {},
         "batch=key:node>graph edge_index=index:node>node",
         "edge_index=15 graph=3 node=12"},
        {"clusters with a table",
         {{"x", floats({12, 4})},
          {"edge_index", path(12, 4)},
          {"cluster", column(batchOf(12, 5))},
          {"x_coarse", floats({5, 4})},
          {"coarse_edge_index", path(5)}},
         {},
         "cluster=key:node>coarse coarse_edge_index=index:coarse>coarse edge_index=index:node>node x=node:node "
         "x_coarse=node:coarse",
         "coarse=5 coarse_edge_index=4 edge_index=15 node=12"},
    };
    for (const Row& row : rows) check(row);
}

TEST_CASE("several node types are told apart by Dict keys, names and largest ids")
{
    const Row rows[] = {
        {"Dict keys name types and relations",
         {{"xs.user", floats({6, 4})},
          {"xs.item", floats({9, 3})},
          {"es.user__to__item", index({{5, 8}, {0, 0}})},
          {"es.item__user", index({{8, 5}})},
          {"ea.user__to__item", floats({2, 3})}},
         {},
         "ea.user__to__item=edge:es.user__to__item es.item__user=index:item>user es.user__to__item=index:user>item "
         "xs.item=node:item xs.user=node:user",
         "es.item__user=1 es.user__to__item=2 item=9 user=6"},
        {"lists of tables in a Dict",
         {{"xs.user.0", floats({6, 4})}, {"xs.user.1", floats({6, 3})}, {"xs.item.0", floats({9, 3})}},
         {},
         "xs.item.0=node:item xs.user.0=node:user xs.user.1=node:user",
         "item=9 user=6"},
        {"Dict types of equal size stay apart",
         {{"xs.a", floats({6, 4})}, {"xs.b", floats({6, 4})}, {"es.b__a", index({{5, 5}})}},
         {},
         "es.b__a=index:b>a xs.a=node:a xs.b=node:b",
         "a=6 b=6 es.b__a=1"},
        {"batch vectors per type",
         {{"xs.a", floats({6, 4})},
          {"xs.b", floats({6, 4})},
          {"es.b__a", index({{5, 5}})},
          {"batch.a", column(batchOf(6, 2))},
          {"batch.b", column(batchOf(6, 3))}},
         {},
         "batch.a=key:a>graph batch.b=key:b>graph es.b__a=index:b>a xs.a=node:a xs.b=node:b",
         "a=6 b=6 es.b__a=1 graph=3"},
        {"a type that only relations name",
         {{"xs.a", floats({6, 4})}, {"es.a__b", index({{5, 3}})}},
         {},
         "es.a__b=index:a>b xs.a=node:a",
         "a=6 b=4 es.a__b=1"},
        {"a type with underscores",
         {{"xs.a__x", floats({6, 4})}, {"xs.b", floats({6, 4})}, {"es.b__b", index({{5, 5}})}},
         {"xs.a__x=node:ax"},
         "es.b__b=index:b>b xs.a__x=node:ax xs.b=node:b",
         "ax=6 b=6 es.b__b=1"},
        {"hyperedges with their own rows",
         {{"x", floats({29, 4})}, {"hyperedge_attr", floats({37, 2})}, {"hyperedge_index", index({{28, 36}, {0, 0}})}},
         {},
         "hyperedge_attr=node:hyperedge hyperedge_index=index:node>hyperedge x=node:node",
         "hyperedge=37 hyperedge_index=2 node=29"},
        {"source and destination features",
         {{"x_src", floats({6, 4})}, {"x_dst", floats({6, 4})}, {"edge_index", index({{5, 5}})}},
         {},
         "edge_index=index:src>dst x_dst=node:dst x_src=node:src",
         "dst=6 edge_index=1 src=6"},
        {"types spelled in the index",
         {{"x_user", floats({6, 4})}, {"x_item", floats({6, 4})}, {"edge_index_user_item", index({{2, 3}})}},
         {},
         "edge_index_user_item=index:user>item x_item=node:item x_user=node:user",
         "edge_index_user_item=1 item=6 user=6"},
    };
    for (const Row& row : rows) check(row);
}

TEST_CASE("what was guessed is said")
{
    const auto schema = infer({{"a", floats({10, 4})}, {"b", path(10, 1)}, {"c", floats({10, 2})}});
    REQUIRE(schema.has_value());
    std::string notes;
    for (const std::string& note : schema->notes) notes += note + "\n";
    CAPTURE(notes);
    CHECK(notes.find("a: ") != std::string::npos);
    CHECK(notes.find("c: could be rows of") != std::string::npos);
    CHECK(notes.find("\"node\", as its number of rows, 10, fits the largest id, 9\n") != std::string::npos);
}

TEST_CASE("a table that is guessed without edges is not said to fit their ids")
{
    const auto schema = infer({{"a", floats({5, 3})}});
    REQUIRE(schema.has_value());
    REQUIRE(schema->notes.size() == 1);
    CHECK(schema->notes[0] == "a: assumed to be the table of \"node\"");
}

TEST_CASE("overridden roles are marked and relations are named after their keys")
{
    const auto schema = infer({{"x", floats({10, 4})}, {"edge_index", path(10, 1)}}, {"x=node:user"});
    REQUIRE(schema.has_value());
    CHECK(schema->roles.at("x").overridden);
    CHECK_FALSE(schema->roles.at("edge_index").overridden);
    CHECK(schema->roles.at("edge_index").relation == "edge_index");
}
