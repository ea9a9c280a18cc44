#include <doctest/doctest.h>

#include "protocol/documents.h"
#include "protocol/plan.h"
#include "schema/pins.h"

using namespace hopscope;
using protocol::PlanRecord;

using test::model;

namespace {

base::Result<PlanRecord> read(const std::string& text)
{
    const auto value = json::parse(text);
    return value ? protocol::readPlanResult(*value, model()) : base::Result<PlanRecord>(base::forward(value));
}

std::string refusedAt(const std::string& pointer, json::Value value)
{
    const auto plan = read(fixture::with(test::planResultText(), pointer, std::move(value)));
    return plan ? "accepted" : plan.error().where;
}

}  // namespace

TEST_CASE("a plan and its prediction become indexed records")
{
    const auto plan = read(test::planResultText());
    REQUIRE_MESSAGE(plan, base::describe(plan.error()));
    CHECK(plan->strategy == base::Strategy::Depth);
    CHECK(plan->batch == 64);
    CHECK(plan->stages.size() == 2);
    CHECK(plan->stagesOf(model().findOp("op2")) == std::vector{protocol::StageId(1)});
    CHECK(plan->stagesOf(model().findOp("op5")) == std::vector{protocol::StageId(2)});
    CHECK(plan->stagesOf(model().findOp("input.x")).empty());
    CHECK(plan->stages[0].steps[0].rows == "O(edge_index,end1)");
    CHECK(plan->stages[0].steps[0].loop == "node");
    CHECK(plan->stages[1].reads[0].value == model().findValue("v5"));
    const protocol::PlanCheckpoint* const stored = plan->checkpointOf(model().findValue("v5"));
    REQUIRE(stored != nullptr);
    CHECK(stored->stage == protocol::StageId(1));
    CHECK(stored->bytesWritten == 60);
    CHECK_FALSE(stored->bytesRead);
    CHECK(plan->checkpointOf(model().findValue("v4")) == nullptr);
    CHECK(plan->pins.size() == 5);
    CHECK(
        json::write(schema::writePins(plan->pins)) ==
        R"([["checkpoint","v5"],["no_checkpoint","v4"],["cut","v5","v7"],["hop_stage","v7",2],["no_recompute","v5"]])");
    REQUIRE(plan->predicted);
    CHECK(plan->predicted->stages.at(0).recomputed == std::vector{ir::OpId(2)});
    CHECK(plan->predicted->structure == 20);
}

TEST_CASE("what is sent back to the engine is the plan as it came")
{
    const auto plan = read(test::planResultText());
    REQUIRE(plan);
    const auto again = schema::readPlan(json::write(plan->document), fixture::analysis(), "plan");
    REQUIRE(again);
    CHECK(*again == fixture::plan());
}

TEST_CASE("without data there is no prediction")
{
    const auto plan = read(fixture::with(test::planResultText(), "/predicted", json::Value()));
    REQUIRE(plan);
    CHECK_FALSE(plan->predicted);
}

TEST_CASE("names that the model does not have are refused at their place")
{
    CHECK(refusedAt("/plan/stages/0/ops/0/op", "op77") == "plan result /plan/stages/0/ops/0/op");
    CHECK(refusedAt("/plan/checkpoints/0/value", "v77") == "plan result /plan/checkpoints/0/value");
    CHECK(refusedAt("/plan/pins/0/1", "v77") == "plan result /plan/pins/0/1");
    CHECK(refusedAt("/plan/pins/0/0", "nail") == "plan result /plan/pins/0/0");
    CHECK(refusedAt("/predicted/stages/0/recomputed/0", "op77") == "plan result /predicted/stages/0/recomputed/0");
}

TEST_CASE("a damaged plan is refused or read, and never breaks the reader")
{
    std::mt19937 random(77);
    int accepted = 0;
    for (int round = 0; round < 3000; ++round) {
        const auto plan = read(test::damaged(test::planResultText(), random));
        if (!plan) continue;
        ++accepted;
        for (const protocol::PlanCheckpoint& c : plan->checkpoints) REQUIRE(model().values.contains(c.value));
    }
    CHECK(accepted > 100);
}
