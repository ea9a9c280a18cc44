#include <doctest/doctest.h>

#include "schema/every_member.h"
#include "schema/graph_part.h"

using namespace hopscope;

namespace {

schema::GraphPart part()
{
    schema::GraphPart made{.complete = false, .table = "user", .node = 7};
    made.tables = {{"user", "user", 900, {3, 7}, {7}}, {"item", "item", 40, {1}, {}}};
    made.relations = {{"likes", "dst", "src", "likes", "item", "user", 5000, {1, 1}, {7, 7}},
                      {"user#4", "group", "", "part of user", "", "user", 12, {5}, {7}}};
    return made;
}

}  // namespace

TEST_CASE("a part of a graph survives writing and reading")
{
    const json::Value document = schema::graphPartValue(part());
    const auto read = schema::graphPartFrom(document, "part");
    REQUIRE_MESSAGE(read, base::describe(read.error()));
    CHECK(*read == part());
    schema::GraphPart whole = part();
    whole.complete = true;
    whole.node.reset();
    const auto again = schema::graphPartFrom(schema::graphPartValue(whole), "part");
    REQUIRE_MESSAGE(again, base::describe(again.error()));
    CHECK(*again == whole);
}

TEST_CASE("a part of a graph has the bytes that it had, and refuses what its schema does not allow")
{
    described::checkDocument(json::write(schema::graphPartValue(part()), true), "graph-part",
                             described::Schema("graph-part-1.schema.json"), schema::graphPartFrom);
}

TEST_CASE("edges of a part have two ends each")
{
    json::Value document = schema::graphPartValue(part());
    document["relations"].asArray()->front()["to_ids"].asArray()->pop_back();
    const auto read = schema::graphPartFrom(document, "part");
    REQUIRE_FALSE(read);
    CHECK(read.error().where.find("/relations/0/to_ids") != std::string::npos);
}
