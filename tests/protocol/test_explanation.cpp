#include <doctest/doctest.h>

#include "protocol/documents.h"
#include "protocol/explanation.h"
#include "protocol/machine.h"

using namespace hopscope;

namespace {

const char* const explanation = R"({"unit": "seconds", "cost": 0.5, "decisions": [
    {"kind": "stored", "value": "v5", "stages": [1], "write": 0.1, "read": 0.2, "compute": 0.0, "possible": true,
     "alternative": 0.9, "saves": 0.4}],
  "against": [{"strategy": "depth", "cost": 0.7, "seconds": null, "bytes": {"d2h": 1, "h2d": 2, "structure": 3},
    "values": [{"value": "v4", "cost": {"own": 0.0, "other": 0.2}, "written": {"own": 0, "other": 60},
                "read": {"own": 0, "other": 120}, "stages": {"own": [1, 2], "other": [1]}}]}]})";

const protocol::ModelRecord& model()
{
    static const auto read = protocol::readModel(json::parse(test::inspectText()).value());
    REQUIRE(read);
    return *read;
}

}  // namespace

TEST_CASE("an explanation is read against the model")
{
    const auto read = protocol::readExplanation(json::parse(explanation).value(), model());
    REQUIRE_MESSAGE(read, base::describe(read.error()));
    const protocol::Decision* stored = read->decisionOn(model().findValue("v5"));
    REQUIRE(stored != nullptr);
    CHECK(stored->saves == 0.4);
    CHECK(stored->cost() == doctest::Approx(0.3));
    CHECK(read->decisionOn(model().findValue("v4")) == nullptr);
    REQUIRE(read->against.size() == 1);
    CHECK_FALSE(read->against[0].seconds);
    CHECK(read->against[0].values.at(0).written == std::array{0.0, 60.0});
    CHECK(read->against[0].values.at(0).stages[0] == std::vector{protocol::StageId(1), protocol::StageId(2)});
}

TEST_CASE("an explanation that lacks something or names what is not there is refused")
{
    int checked = 0;
    for (const fixture::Mutation& mutation : fixture::mutations(explanation)) {
        if (mutation.pointer.ends_with("seconds") || mutation.pointer.ends_with("alternative") ||
            mutation.pointer.ends_with("saves") || mutation.pointer == "/against/0/cost")
            continue;
        CHECK_FALSE_MESSAGE(protocol::readExplanation(json::parse(mutation.text).value(), model()), mutation.pointer);
        ++checked;
    }
    CHECK(checked > 20);
    CHECK_FALSE(protocol::readExplanation(json::parse(fixture::with(explanation, "/decisions/0/value", "v77")).value(),
                                          model()));
}

TEST_CASE("a machine's rates are read")
{
    const char* const text = R"({"device": "cpu", "measured": true, "runs": 3,
        "rates": [{"key": "gather", "what": "gathering rows", "unit": "GB/s", "value": 4.5}]})";
    const auto machine = protocol::readMachineRates(json::parse(text).value());
    REQUIRE(machine);
    CHECK(machine->runs == 3);
    CHECK(machine->rates.at(0).value == 4.5);
    CHECK_FALSE(protocol::readMachineRates(json::parse(fixture::with(text, "/rates/0/value", "4")).value()));
}
