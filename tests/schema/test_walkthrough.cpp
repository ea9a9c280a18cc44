#include <doctest/doctest.h>

#include "schema/every_member.h"
#include "schema/walkthrough.h"

using namespace hopscope;

namespace {

plan::Walkthroughs walkthroughs()
{
    const plan::StageId one(1), two(2);
    plan::Walkthroughs all{.unit = base::Unit::Bytes};
    all.ways = {{base::Strategy::SourceRule,
                 {{base::WalkKind::Label, {{ir::OpId(3), {one}}, {ir::OpId(12), {one, two}}}},
                  {base::WalkKind::Settle, {{ir::OpId(3), {}}}},
                  {base::WalkKind::Store, {}, ir::ValueId(7)}}}};
    all.colouring = plan::Colouring{1536, {ir::ValueId(7), ir::ValueId(9)}, "value v3 is not stored"};
    return all;
}

base::Result<plan::Walkthroughs> readSteps(const json::Value& document, const std::string& name)
{
    return schema::walkthroughsFrom(
        document, name,
        {.op = [](ir::OpId op) { return op.index < 20; }, .value = [](ir::ValueId value) { return value.index < 20; }});
}

}  // namespace

TEST_CASE("the steps of plans survive writing and reading")
{
    const auto again = readSteps(schema::walkthroughsValue(walkthroughs()), "steps");
    REQUIRE_MESSAGE(again, base::describe(again.error()));
    CHECK(*again == walkthroughs());
}

TEST_CASE("the steps of plans have the bytes that they had, and refuse what their schema does not allow")
{
    plan::Walkthroughs all = walkthroughs();
    const described::Schema schema("steps-1.schema.json");
    described::checkBytes(json::write(schema::walkthroughsValue(all), true), "steps.json", schema);
    all.ways[0].steps.pop_back();  // a store, which needs its value
    described::checkMembers(json::write(schema::walkthroughsValue(all)), "steps", schema, readSteps);
}

TEST_CASE("steps name operators and values of the model, and only a store has a value")
{
    const std::string text = json::write(schema::walkthroughsValue(walkthroughs()));
    const std::pair<const char*, json::Value> wrong[] = {
        {"/ways/0/steps/0/moved/0/op", "op77"}, {"/ways/0/steps/0/moved/0/op", ""}, {"/ways/0/steps/2/stored", "v77"},
        {"/ways/0/steps/2/stored", {}},         {"/ways/0/steps/0/stored", "v7"},   {"/colouring/stored/0", "v77"}};
    for (const auto& [pointer, value] : wrong) {
        const auto refused = readSteps(json::parse(fixture::with(text, pointer, value)).value(), "steps");
        REQUIRE_FALSE(refused);
        CHECK(refused.error().where == std::string("steps ") + pointer);
    }
}
