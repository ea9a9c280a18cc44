#include <doctest/doctest.h>

#include "protocol/documents.h"
#include "schema/pins.h"

using namespace hopscope;
using plan::Pin;
using plan::PinKind;
using plan::StageId;

namespace {

base::Result<Pin> read(const std::string& text)
{
    const json::Value value = json::parse(text).value();
    const json::Reader reader(value, "pin");
    const Pin pin = schema::readPin(reader, schema::valueNamed);
    if (!reader.ok()) return base::forward(reader.status());
    return pin;
}

}  // namespace

TEST_CASE("pins of every kind are written as they were read")
{
    for (const base::PinTraits& kind : base::pinKinds) {
        const char* const third = kind.third == base::PinThird::Consumer ? ",\"v2\""
                                  : kind.third == base::PinThird::Stage  ? ",2"
                                                                         : "";
        const std::string text = std::string("[\"") + kind.name + "\",\"v1\"" + third + "]";
        const auto pin = read(text);
        REQUIRE_MESSAGE(pin, text);
        CHECK(json::write(schema::writePins({*pin})) == "[" + text + "]");
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
    const ir::ValueId v1(1), v2(2), v3(3);
    const Pin store{PinKind::Checkpoint, v1}, cut{PinKind::Cut, v1, v2}, stage{PinKind::HopStage, v1, {}, StageId(2)};
    CHECK(sameQuestion(store, {PinKind::NoCheckpoint, v1}));
    CHECK_FALSE(sameQuestion(store, {PinKind::Checkpoint, v2}));
    CHECK(sameQuestion(stage, {PinKind::HopStage, v1, {}, StageId(3)}));
    CHECK_FALSE(sameQuestion(store, stage));
    CHECK_FALSE(sameQuestion(cut, {PinKind::Cut, v1, v3}));
    CHECK(base::isStoring(store.kind));
    CHECK_FALSE(base::isStoring(cut.kind));
}
