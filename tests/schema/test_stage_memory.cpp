#include <doctest/doctest.h>

#include "schema/every_member.h"
#include "schema/stage_memory.h"

using namespace hopscope;

namespace {

schema::StageMemoryRecord memory()
{
    schema::StageMemoryRecord made{.stage = plan::StageId(2), .peakMemory = 900, .outside = 100, .estimated = true};
    made.loops = {
        {.table = "user#4", .label = "user", .destinations = 10, .batches = 3, .sideBySide = 2, .peakStep = 1}};
    made.loops[0].steps = {{plan::BatchStep::Rows, "", {}, "x", 40},
                           {plan::BatchStep::Operator, "op3", {"op4"}, "lin output", 120},
                           {plan::BatchStep::Numbers, "", {}, "row numbers", 88}};
    made.loops[0].held = {
        {.value = "v1", .label = "x", .rows = "all rows", .bytes = 40, .from = 0, .to = 2},
        {.value = "v2", .label = "lin output", .rows = "all rows", .bytes = 80, .from = 1, .to = 3, .over = 0},
        {.value = "",
         .label = "row numbers",
         .rows = "",
         .bytes = 8,
         .from = 2,
         .to = 3,
         .viewOf = 1,
         .inPlace = true}};
    return made;
}

base::Result<schema::StageMemoryRecord> read(const schema::StageMemoryRecord& record)
{
    return schema::stageMemoryFrom(schema::stageMemoryValue(record), "memory");
}

}  // namespace

TEST_CASE("what a stage holds survives writing and reading")
{
    const auto found = read(memory());
    REQUIRE_MESSAGE(found, base::describe(found.error()));
    CHECK(*found == memory());
    CHECK(found->loops[0].peak() == 120);
    const auto empty = read({.stage = plan::StageId(1)});
    REQUIRE(empty);
    CHECK(empty->loops.empty());
}

TEST_CASE("the memory of a stage has the bytes that it had, and refuses what its schema does not allow")
{
    described::checkDocument(json::write(schema::stageMemoryValue(memory()), true), "stage-memory",
                             described::Schema("stage-memory-1.schema.json"), schema::stageMemoryFrom);
}

TEST_CASE("what is held lies within the steps and refers to what was held before")
{
    const auto refused = [](auto change) {
        schema::StageMemoryRecord record = memory();
        change(record.loops[0]);
        const auto found = read(record);
        return !found && found.error().where.find("/loops/0") != std::string::npos;
    };
    CHECK(refused([](auto& loop) { loop.peakStep = 3; }));
    CHECK(refused([](auto& loop) { loop.peakStep = -1; }));
    CHECK(refused([](auto& loop) { loop.held[0].to = 4; }));
    CHECK(refused([](auto& loop) { loop.held[0].from = 3; }));
    CHECK(refused([](auto& loop) { loop.held[1].over = 1; }));
    CHECK(refused([](auto& loop) { loop.held[2].viewOf = -1; }));
}

TEST_CASE("a step of a kind that does not exist is refused")
{
    json::Value document = schema::stageMemoryValue(memory());
    document["loops"].asArray()->front()["steps"].asArray()->front()["kind"] = "guess";
    const auto found = schema::stageMemoryFrom(document, "memory");
    REQUIRE_FALSE(found);
    CHECK(found.error().where.find("/loops/0/steps/0/kind") != std::string::npos);
}
