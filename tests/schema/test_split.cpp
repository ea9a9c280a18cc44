#include <doctest/doctest.h>

#include <algorithm>

#include "schema/every_member.h"

using namespace hopscope;

namespace {

std::vector<ir::ValueId> values(std::initializer_list<int> numbers)
{
    std::vector<ir::ValueId> ids;
    for (const int number : numbers) ids.emplace_back(number);
    return ids;
}

base::Result<schema::Split> splitOf(const std::string& text) { return schema::readSplit(text, "schema.json"); }

}  // namespace

TEST_CASE("a split names what each stage takes and makes")
{
    const schema::Split split = fixture::split();
    CHECK(split.inputs == values({0, 1}));
    CHECK(split.outputs == values({7}));
    REQUIRE(split.stages.size() == 2);
    CHECK(split.stages[0].inputs == values({0, 1}));
    CHECK(split.stages[0].outputs == values({5}));
    CHECK(split.stages[1].inputs == values({5, 1}));
    CHECK(split.rowSpaces == std::vector<std::string>{"edge_index", "node"});
    CHECK(split.tensors[2].shape == std::vector<schema::Dim>{std::string("|node|"), std::int64_t(3)});
}

TEST_CASE("a split names what is computed before the first stage, for those that read it")
{
    const ir::ValueId counted(3);
    plan::Plan plan = fixture::plan();
    for (plan::Stage& stage : plan.stages) stage.loops[0].reads.push_back({counted, {}});
    const schema::Split split = schema::makeSplit(plan, fixture::analysis(), fixture::verification());
    CHECK(fixture::split().prologue.empty());
    CHECK(split.prologue == values({3}));
    CHECK(split.stages[0].inputs == values({0, 1, 3}));
    CHECK(std::ranges::count(split.tensors, counted, &schema::TensorSpec::value) == 1);
    const base::Result<schema::Split> again = splitOf(schema::writeSplit(split));
    REQUIRE_MESSAGE(again, base::describe(again.error()));
    CHECK(*again == split);
}

TEST_CASE("an exported split has the bytes that it had, and refuses what its schema does not allow")
{
    const std::string text = described::golden("schema.json");
    const base::Result<schema::Split> split = splitOf(text);
    REQUIRE_MESSAGE(split, base::describe(split.error()));
    const described::Schema schema("schema-1.schema.json");
    described::checkBytes(schema::writeSplit(*split), "schema.json", schema);
    described::checkEveryMember(text, schema, splitOf);
}

TEST_CASE("what a split names must be there when it is named")
{
    const std::string text = schema::writeSplit(fixture::split());
    const std::pair<const char*, json::Value> dangling[] = {{"/stages/0/inputs/0", "v5"},
                                                            {"/stages/1/inputs/0", "v99"},
                                                            {"/stages/1/outputs/0", "v99"},
                                                            {"/inputs/0", "v99"},
                                                            {"/outputs/0", "v99"},
                                                            {"/checkpoints/0/value", "v7"},
                                                            {"/checkpoints/0/stage", 9},
                                                            {"/stages/1/index", 1},
                                                            {"/stages/0/destinations/0", "user"},
                                                            {"/tensors/0/row_spaces/0", "user"},
                                                            {"/tensors/1/value", "v0"},
                                                            {"/tensors/0/row_spaces", json::Value::array()},
                                                            {"/tensors/0/dtype", "float31"}};
    for (const auto& [pointer, value] : dangling) {
        const auto result = splitOf(fixture::with(text, pointer, value));
        INFO(pointer);
        REQUIRE_FALSE(result);
        CHECK(result.error().where.find(std::string(" ") + pointer) != std::string::npos);
    }
}

TEST_CASE("a split whose code names an unlisted table is refused, and one that lists a table twice")
{
    const std::string text = described::golden("schema.json");
    for (const char* const place : {"/code/columns/0/table", "/code/columns/0/target", "/code/loops/0/destination",
                                    "/code/loops/0/frontier/0/target", "/code/loops/0/frontier/0/owner/table",
                                    "/code/loops/0/arguments/0/rows/0/table", "/code/loops/0/results/0/rows/table"}) {
        INFO(place);
        const auto refused = splitOf(fixture::with(text, place, "user"));
        REQUIRE_FALSE(refused);
        CHECK(refused.error().message == "schema.json: field " + std::string(place) + " is not a table");
    }
    const auto twice = splitOf(fixture::with(text, "/code/tables/1/name", "node"));
    REQUIRE_FALSE(twice);
    CHECK(twice.error().message == "schema.json: field /code/tables/1/name is listed twice");
}
