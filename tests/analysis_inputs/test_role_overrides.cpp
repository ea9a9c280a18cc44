#include <doctest/doctest.h>

#include "role_rows.h"

using namespace hopscope;
using namespace inputs;

TEST_CASE("overrides win and the rest is inferred around them")
{
    const TensorMap plainGraph{{"x", floats({10, 4})}, {"edge_index", path(10, 1)}};
    const Row rows[] = {
        {"a type of one's own",
         plainGraph,
         {"x=node:user"},
         "edge_index=index:user>user x=node:user",
         "edge_index=10 user=10"},
        {"a bipartite index without tables",
         {{"edge_index", index({{5, 2}})}},
         {"edge_index=index:user>item"},
         "edge_index=index:user>item",
         "edge_index=1 item=3 user=6"},
        {"edges instead of nodes",
         {{"x", floats({10, 4})}, {"edge_index", path(10, 1)}, {"s", floats({10})}},
         {"s=edge"},
         "edge_index=index:node>node s=edge:edge_index x=node:node",
         "edge_index=10 node=10"},
        {"nodes instead of edges",
         {{"x", floats({10, 4})}, {"edge_index", path(10, 1)}, {"edge_y", floats({10})}},
         {"edge_y=node"},
         "edge_index=index:node>node edge_y=node:node x=node:node",
         "edge_index=10 node=10"},
        {"plain",
         {{"x", floats({10, 4})}, {"edge_index", path(10, 1)}, {"s", floats({10})}},
         {"s=plain"},
         "edge_index=index:node>node s=plain x=node:node",
         "edge_index=10 node=10"},
        {"an integer pair that is no index",
         {{"x", floats({10, 4})}, {"edge_index", path(10, 1)}, {"lut", integers({2, 3}, {1, 2, 3, 4, 5, 6})}},
         {"lut=plain"},
         "edge_index=index:node>node lut=plain x=node:node",
         "edge_index=10 node=10"},
    };
    for (const Row& row : rows) check(row);
}

TEST_CASE("overrides name keys, graph rows and weight tables")
{
    const TensorMap plainGraph{{"x", floats({10, 4})}, {"edge_index", path(10, 1)}};
    const Row rows[] = {
        {"a key into another table",
         {{"x", floats({4, 4})}, {"edge_index", path(4, 3)}, {"room", column({2, 0, 2, 1})}},
         {"room=key:node>room"},
         "edge_index=index:node>node room=key:node>room x=node:node",
         "edge_index=6 node=4 room=3"},
        {"labels that are a key",
         {{"x", floats({4, 4})}, {"edge_index", path(4, 3)}, {"y", column({2, 0, 2, 1})}},
         {"y=key"},
         "edge_index=index:node>node x=node:node y=key:node>graph",
         "edge_index=6 graph=3 node=4"},
        {"one global row",
         {{"x", floats({10, 4})}, {"edge_index", path(10, 1)}, {"u", floats({1, 3})}},
         {"u=graph"},
         "edge_index=index:node>node u=graph:graph x=node:node",
         "edge_index=10 graph=1 node=10"},
        {"a weight table",
         plainGraph,
         {"emb.weight=node:node"},
         "edge_index=index:node>node emb.weight=node:node x=node:node",
         "edge_index=10 node=10"},
        {"a weight table of the only type",
         plainGraph,
         {"emb.weight=node"},
         "edge_index=index:node>node emb.weight=node:node x=node:node",
         "edge_index=10 node=10"},
    };
    for (const Row& row : rows) check(row);
}

namespace {

struct Bad {
    std::string sentence;
    TensorMap data;
    std::vector<std::string> overrides;
    std::vector<std::string> says;
};

void checkRefused(const Bad& row)
{
    CAPTURE(row.sentence);
    const auto schema = infer(row.data, row.overrides);
    REQUIRE_FALSE(schema.has_value());
    CHECK(schema.error().code == base::ErrorCode::Input);
    for (const std::string& part : row.says) {
        CAPTURE(part);
        CAPTURE(schema.error().message);
        CHECK(schema.error().message.find(part) != std::string::npos);
    }
}

}  // namespace

TEST_CASE("the hint on an unknown name lists the inputs")
{
    const auto one = infer({{"x", floats({10, 4})}}, {"y=node"});
    REQUIRE_FALSE(one.has_value());
    CHECK(one.error().hint == "the only input is x");
    const auto two = infer({{"x", floats({10, 4})}, {"edge_index", path(10, 1)}}, {"y=node"});
    REQUIRE_FALSE(two.has_value());
    CHECK(two.error().hint == "the inputs are edge_index, x");
}

TEST_CASE("inconsistent edges are refused in one sentence")
{
    const Bad rows[] = {
        {"a negative id",
         {{"x", floats({10, 4})}, {"edge_index", index({{0, 1}, {2, -3}, {1, -1}})}},
         {},
         {"edge_index[1, 1]", "-3", "2 of 3"}},
        {"an id out of range",
         {{"x", floats({10, 4})}, {"edge_index", index({{0, 1}, {10, 3}})}},
         {},
         {"edge_index[0, 1]", "10", "1 of 2"}},
        {"an id out of range of one row",
         {{"x", floats({1, 4})}, {"edge_index", index({{0, 1}})}},
         {},
         {"\"node\" has 1 row (invalid: 1 of 1 number)"}},
        {"an id out of range in a Dict",
         {{"xs.a", floats({3, 4})}, {"xs.b", floats({9, 4})}, {"es.a__b", index({{3, 1}})}},
         {},
         {"es.a__b[0, 0]", "\"a\"", "3 rows"}},
        {"an index of floats",
         {{"x", floats({10, 4})}, {"edge_index", floats({2, 5})}},
         {},
         {"edge_index", "float32", "[2, 5]"}},
        {"an index the wrong way round",
         {{"x", floats({10, 4})}, {"edge_index", zeros({7, 2})}},
         {},
         {"edge_index", "[7, 2]"}},
        {"too few edge weights",
         {{"x", floats({10, 4})}, {"edge_index", path(10, 1)}, {"edge_weight", floats({7})}},
         {},
         {"the number of rows of edge_weight is 7", "10 edges"}},
    };
    for (const Bad& row : rows) checkRefused(row);
}

TEST_CASE("overrides that fit no input are refused in one sentence")
{
    const TensorMap good{{"x", floats({10, 4})}, {"edge_index", path(10, 1)}};
    const Bad rows[] = {
        {"an unknown name", good, {"xx=node"}, {"xx", "neither an input"}},
        {"a misspelt parameter", good, {"emb.wieght=node"}, {"emb.wieght", "neither an input"}},
        {"an unknown Dict item", {{"xs.a", floats({3, 4})}}, {"xs.b=node"}, {"xs.b", "neither an input"}},
        {"an unknown type for a weight", good, {"emb.weight=node:user"}, {"emb.weight"}},
        {"two sizes of a type",
         {{"x", floats({10, 4})}, {"w", floats({9, 4})}, {"edge_index", path(9)}},
         {"x=node:a", "w=node:a"},
         {"\"a\"", "10 rows", "has 9"}},
        {"two sizes of a type, one of them a single row",
         {{"x", floats({1, 4})}, {"w", floats({9, 4})}, {"edge_index", path(9)}},
         {"x=node:a", "w=node:a"},
         {"x has 1 row and w has 9"}},
        {"a node override of no table's size",
         {{"x", floats({10, 4})}, {"edge_index", path(10)}, {"w", floats({})}},
         {"w=node"},
         {"w"}},
        {"a key that is no integer column",
         {{"x", floats({10, 4})}, {"edge_index", path(10)}, {"w", floats({10})}},
         {"w=key"},
         {"w", "float32"}},
    };
    for (const Bad& row : rows) checkRefused(row);
}

TEST_CASE("rows of edges without any edge index are refused with the hint to declare one")
{
    for (const char* role : {"w=edge:likes", "w=edge"}) {
        CAPTURE(role);
        const auto schema = infer({{"x", floats({10, 4})}, {"w", floats({5})}}, {role});
        REQUIRE_FALSE(schema.has_value());
        CHECK(schema.error().hint == "declare the input with the edges: --role NAME=index:S>T");
    }
}

TEST_CASE("keys and sizes beyond their tables are refused in one sentence")
{
    const Bad rows[] = {
        {"a negative batch",
         {{"x", floats({3, 4})}, {"edge_index", path(3)}, {"batch", column({0, -1, 1})}},
         {},
         {"batch[1]", "-1"}},
        {"a key beyond its table",
         {{"x", floats({3, 4})}, {"c", floats({2, 4})}, {"edge_index", path(3)}, {"k", column({0, 1, 2})}},
         {"c=node:c", "k=key:node>c"},
         {"k[2]", "\"c\"", "2 rows"}},
        {"a sparse size that is not the table's",
         {{"x", floats({10, 4})}, {"adj.coo_indices", path(9)}, {"adj.coo_size", column({11, 10})}},
         {},
         {"adj.coo_size[0]", "11", "10 rows"}},
    };
    for (const Bad& row : rows) checkRefused(row);
}
