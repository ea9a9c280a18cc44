#include <doctest/doctest.h>

#include "schema/documents.h"
#include "schema/every_member.h"
#include "schema/fixture.h"
#include "schema/names.h"
#include "schema/pins.h"
#include "schema/plan_document.h"

using namespace hopscope;

namespace {

base::Result<plan::Plan> read(const std::string& text)
{
    return schema::readPlan(text, fixture::analysis(), "plan.json");
}

// With every optional number.
plan::Plan full()
{
    plan::Plan plan = fixture::plan();
    plan.cost = 1.5;
    plan.lowerBound = 1.25;
    plan.gap = 0.2;
    plan.bytes = plan::Bytes{1, 2, 3};
    plan.peakMemory = std::int64_t(1) << 40;
    plan.checkpoints[0].bytesRead = 99;
    plan.stages[1].rowless = {ir::OpId(3)};
    plan.resident = {ir::ValueId(5)};
    plan.residentStructure = true;
    return plan;
}

// The pointer that a refusal names.
std::string refusedAt(const std::string& text)
{
    const base::Result<plan::Plan> plan = read(text);
    if (plan) return "accepted";
    CHECK(plan.error().code == base::ErrorCode::Input);
    return plan.error().where;
}

}  // namespace

TEST_CASE("a plan survives writing and reading, byte for byte")
{
    const std::string text = schema::writePlan(fixture::plan(), fixture::analysis());
    const base::Result<plan::Plan> plan = read(text);
    REQUIRE_MESSAGE(plan, base::describe(plan.error()));
    CHECK(*plan == fixture::plan());
    CHECK(schema::writePlan(*plan, fixture::analysis()) == text);
}

TEST_CASE("a plan with every optional number set survives as well")
{
    plan::Plan each = full();
    each.batch.reset();
    const base::Result<plan::Plan> plan = read(schema::writePlan(each, fixture::analysis()));
    REQUIRE_MESSAGE(plan, base::describe(plan.error()));
    CHECK(*plan == each);
}

TEST_CASE("a plan names row classes the way people read them")
{
    const std::string text = schema::writePlan(fixture::plan(), fixture::analysis());
    for (const char* part :
         {"\"B(node)\"", "\"O(edge_index,", "\"F(node)\"", "\"loop\": \"node\"", "\"|node|\"", "\"v0\": \"x\""})
        CHECK_MESSAGE(text.find(part) != std::string::npos, part);
}

TEST_CASE("a plan has the bytes that it had, and is refused where its schema does not allow it")
{
    described::checkDocument(schema::writePlan(full(), fixture::analysis()), "plan",
                             described::Schema("plan-1.schema.json"),
                             [](const json::Value& document, const std::string& name) {
                                 const json::Reader root(document, name);
                                 schema::readPlanDocument(root);
                                 return root.status();
                             });
}

TEST_CASE("names that the model does not have are refused at their pointer")
{
    const std::string text = schema::writePlan(fixture::plan(), fixture::analysis());
    const std::pair<const char*, json::Value> dangling[] = {{"/prologue/0", "op99"},
                                                            {"/prologue/0", "op01"},
                                                            {"/prologue/0", "v1"},
                                                            {"/stages/0/ops/0/op", "op6"},
                                                            {"/stages/0/ops/0/class", "O(edge_index,nothing)"},
                                                            {"/stages/0/ops/0/class", "B(user)"},
                                                            {"/stages/0/ops/0/loop", "edge_index"},
                                                            {"/stages/1/loops/0/writes/0/value", "v8"},
                                                            {"/stages/1/loops/0/destination", "user"},
                                                            {"/stages/1/loops/0/frontier/0/key", "nothing"},
                                                            {"/checkpoints/0/value", "v-1"},
                                                            {"/checkpoints/0/stage", 3},
                                                            {"/checkpoints/0/dtype", "float64"},
                                                            {"/stages/1/index", 1},
                                                            {"/stages/0/index", 7},
                                                            {"/batch", 0},
                                                            {"/pins/0/0", "nail"},
                                                            {"/pins/1/1", "v8"},
                                                            {"/pins/2/2", "v8"},
                                                            {"/pins/3/2", 0},
                                                            {"/format", "hopscope-report"},
                                                            {"/version", "2.0"},
                                                            {"/unit", "seconds"},
                                                            {"/checkpoints/1/shape/0", "|user|"},
                                                            {"/checkpoints/1/row_spaces/0", {}},
                                                            {"/checkpoints/1/row_spaces", json::Value::array()}};
    for (const auto& [pointer, value] : dangling) {
        const std::string where = refusedAt(fixture::with(text, pointer, value));
        INFO(pointer << " = " << json::write(value) << " -> " << where);
        CHECK(where.find(std::string(" ") + pointer) != std::string::npos);
    }
}

TEST_CASE("a loop reads what earlier stages have written, and writes the checkpoints of its own stage")
{
    const std::string text = schema::writePlan(fixture::plan(), fixture::analysis());
    for (const char* unwritten : {"v5", "v7", "v4"})
        CHECK(refusedAt(fixture::with(text, "/stages/0/loops/0/reads/0/value", unwritten)) ==
              "plan.json /stages/0/loops/0/reads");
    CHECK(refusedAt(fixture::with(text, "/checkpoints/0/stage", 2)) == "plan.json /stages/0/loops/0/writes");
    CHECK(refusedAt(fixture::with(text, "/checkpoints/1/stage", 1)) == "plan.json /stages/1/loops/0/writes");
}

TEST_CASE("a pin that is too short or too long for its kind is refused as a whole")
{
    const std::string text = schema::writePlan(fixture::plan(), fixture::analysis());
    CHECK(refusedAt(fixture::with(text, "/pins/0/0", "cut")) == "plan.json /pins/0");
    CHECK(refusedAt(fixture::with(text, "/pins/0/0", "hop_stage")) == "plan.json /pins/0");
    CHECK(refusedAt(fixture::with(text, "/pins/2/0", "no_recompute")) == "plan.json /pins/2");
    CHECK(refusedAt(fixture::with(text, "/pins/3", json::Value::array())) == "plan.json /pins/3");
}

TEST_CASE("a file of pins is read strictly, and for its model only")
{
    const auto pins = [](const std::string& text) {
        return schema::readPinsFile(text, fixture::analysis(), "pins.json", "abc");
    };
    const std::string list = R"([["hop_stage", "v7", 2], ["cut", "v5", "v7"]])";
    const auto both = pins(R"({"model_sha256": "abc", "pins": )" + list + "}");
    REQUIRE_MESSAGE(both, base::describe(both.error()));
    CHECK(schema::writePins(*both) == json::parse(list, "list").value());
    CHECK(pins(R"({"pins": []})").value().empty());
    const auto named = pins(R"({"pins": [["hop_stage", "out", 2], ["cut", "relu", "out"]]})");
    REQUIRE_MESSAGE(named, base::describe(named.error()));
    CHECK(*named == *both);
    CHECK_FALSE(pins(R"({"pins": [["checkpoint", "another relu"]]})"));
    for (const auto& [text, where] : {std::pair(R"({"model_sha256": "abd", "pins": []})", "/model_sha256"),
                                      std::pair(R"({"pins": [], "pin": 1})", "/pin"), std::pair("{}", "/pins")}) {
        const auto refused = pins(text);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == base::ErrorCode::Input);
        CHECK(refused.error().where == std::string("pins.json ") + where);
    }
}

TEST_CASE("a stage has one loop for each destination type")
{
    const std::string text = schema::writePlan(fixture::plan(), fixture::analysis());
    const json::Value loop = *json::resolve(json::parse(text).value(), "/stages/0/loops/0");
    CHECK(refusedAt(fixture::with(text, "/stages/0/loops", json::Array{loop, loop})) ==
          "plan.json /stages/0/loops/1/destination");
}

TEST_CASE("a newer minor version and unknown fields are read, a newer major version is not")
{
    const std::string text = schema::writePlan(fixture::plan(), fixture::analysis());
    CHECK(read(fixture::with(text, "/version", "1.7")));
    CHECK(read(fixture::with(text, "/colour", "blue")));
    CHECK_FALSE(read(fixture::with(text, "/version", "10.0")));
}

TEST_CASE("a plan for other inputs is refused before anything else in it is looked at")
{
    const std::string text =
        fixture::with(schema::writePlan(fixture::plan(), fixture::analysis()), "/prologue/0", "op99");
    const auto plan = schema::readPlan(text, fixture::analysis(), "plan.json", {{"model", "other"}});
    REQUIRE_FALSE(plan);
    CHECK(plan.error().where == "plan.json /hashes/model");
    CHECK(schema::readPlan(schema::writePlan(fixture::plan(), fixture::analysis()), fixture::analysis(), "plan.json",
                           {{"model", "00ff"}, {"roles", "x=node:node"}}));
}

TEST_CASE("tables that share a name stay apart in documents")
{
    analysis::Analysis twice = fixture::analysis();
    twice.tables.spaces.push_back(twice.tables.spaces[0]);
    const schema::Names names(twice);
    CHECK(names.space(ir::SpaceId(0)) != names.space(ir::SpaceId(2)));
    for (int i = 0; i < 3; ++i) CHECK(names.findSpace(names.space(ir::SpaceId(i))) == ir::SpaceId(i));
    for (const ir::RowKind kind : {ir::RowKind::Batch, ir::RowKind::Frontier, ir::RowKind::Owned}) {
        const ir::RowClass rows{kind, ir::SpaceId(2), kind == ir::RowKind::Owned ? ir::KeyId(3) : ir::KeyId()};
        CHECK(names.findRows(names.rows(rows)) == rows);
    }
}
