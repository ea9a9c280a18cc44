#include <doctest/doctest.h>

#include "protocol/documents.h"
#include "protocol/pin.h"
#include "protocol/plan.h"

using namespace hopscope;
using protocol::PinRecord;

namespace {

base::Result<PinRecord> read(const std::string& text)
{
    const json::Value value = json::parse(text).value();
    const json::Reader reader(value, "pin");
    const PinRecord pin = protocol::readPin(reader);
    if (!reader.ok()) return base::forward(reader.status());
    return pin;
}

}  // namespace

TEST_CASE("pins of every kind are written as they were read")
{
    for (const char* text : {R"(["checkpoint","v1"])", R"(["no_checkpoint","v1"])", R"(["cut","v1","v2"])",
                             R"(["hop_stage","v1",2])", R"(["no_recompute","v1"])"}) {
        const auto pin = read(text);
        REQUIRE_MESSAGE(pin, text);
        CHECK(json::write(protocol::writePins({*pin})) == "[" + std::string(text) + "]");
    }
}

TEST_CASE("what is no pin is refused")
{
    for (const char* text :
         {R"("checkpoint")", R"([])", R"(["checkpoint"])", R"(["nail","v1"])", R"(["checkpoint","v1","v2"])",
          R"(["cut","v1"])", R"(["cut","v1",2])", R"(["hop_stage","v1"])", R"(["hop_stage","v1","2"])",
          R"(["hop_stage","v1",0])", R"(["no_recompute",1])"})
        CHECK_FALSE_MESSAGE(read(text), text);
}

TEST_CASE("the later of two answers to one question counts")
{
    const PinRecord store{"checkpoint", "v1"}, cut{"cut", "v1", "v2"}, stage{"hop_stage", "v1", {}, 2};
    CHECK(sameQuestion(store, {"no_checkpoint", "v1"}));
    CHECK_FALSE(sameQuestion(store, {"checkpoint", "v2"}));
    CHECK(sameQuestion(stage, {"hop_stage", "v1", {}, 3}));
    CHECK_FALSE(sameQuestion(store, stage));
    CHECK_FALSE(sameQuestion(cut, {"cut", "v1", "v3"}));
    CHECK_FALSE(needsOptimum(store));
    CHECK(needsOptimum(cut));
}

TEST_CASE("a fix drops a pin or takes another stage")
{
    const json::Value answer = json::parse(R"({"repairs": [{"drop": ["cut", "v1", "v2"], "cost": 3.0, "unit": "s"},
        {"stages": 4, "cost": 2.0, "unit": "s"}]})")
                                   .value();
    const auto repairs = protocol::readRepairs(answer);
    REQUIRE(repairs);
    CHECK(*repairs ==
          std::vector<protocol::RepairRecord>{{std::nullopt, 4, 2.0}, {PinRecord{"cut", "v1", "v2"}, 0, 3.0}});
    CHECK_FALSE(protocol::readRepairs(json::parse(R"({"repairs": [{"cost": 1.0}]})").value()));
}
