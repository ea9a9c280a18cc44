#include <doctest/doctest.h>

#include "schema/every_member.h"
#include "schema/receptive_field.h"

using namespace hopscope;

namespace {

schema::ReceptiveField field()
{
    schema::ReceptiveField made{.table = "user", .node = 3, .nodes = 9, .depth = 1};
    schema::FieldEdges edges{.table = "likes + self-loops", .from = "item", .to = "user", .edges = 2, .of = 40};
    edges.parents = {{"likes", 1, {17}}, {"user", 1, {3}}};
    edges.fromIds = {5, 3};
    edges.toIds = {3, 3};
    made.levels = {{1, {{"user", 1, 9, 16, {3}}}, {edges}}, {0, {{"item", 2, 7, 64, {3, 5}}}, {}}};
    made.blocks = {{1, "likes + self-loops", 2, 2}};
    made.reads = {{1, 0, "item", 2}, {1, 0, "user", 1}};
    made.explosion = {schema::MeanMethod::Sampled, 4, 7, {{1, "user", false, 1, 0.25, 1.5, 640, 144}}};
    made.notes = {"a note"};
    made.seconds = 0.5;
    return made;
}

}  // namespace

TEST_CASE("a receptive field survives writing and reading")
{
    const json::Value document = schema::receptiveFieldValue(field());
    const auto read = schema::receptiveFieldFrom(document, "field");
    REQUIRE_MESSAGE(read, base::describe(read.error()));
    CHECK(*read == field());
    CHECK(schema::receptiveFieldValue(*read) == document);
}

TEST_CASE("a receptive field has the bytes that it had, and refuses what its schema does not allow")
{
    described::checkDocument(schema::writeReceptiveField(field()), "receptive-field",
                             described::Schema("receptive-field-1.schema.json"), schema::receptiveFieldFrom);
}

TEST_CASE("edges have two ends each")
{
    json::Value document = schema::receptiveFieldValue(field());
    document["levels"].asArray()->front()["edges"].asArray()->front()["to_ids"].asArray()->pop_back();
    const auto read = schema::receptiveFieldFrom(document, "field");
    REQUIRE_FALSE(read);
    CHECK(read.error().where.find("/levels/0/edges/0/to_ids") != std::string::npos);
}
