#include <doctest/doctest.h>

#include "protocol/documents.h"
#include "protocol/messages.h"
#include "protocol/model.h"
#include "schema/machine_rates.h"
#include "schema/plan_answers.h"

using namespace hopscope;

using test::model;

namespace {

const char* const explanation = R"({"unit": "seconds", "cost": 0.5, "decisions": [
    {"kind": "stored", "value": "v5", "stages": [1], "write": 0.1, "read": 0.2, "compute": 0.0, "possible": true,
     "alternative": 0.9, "saves": 0.4}],
  "against": [{"strategy": "depth", "cost": 0.7, "seconds": null, "bytes": {"d2h": 1, "h2d": 2, "structure": 3},
    "values": [{"value": "v4", "cost": {"own": 0.0, "other": 0.2}, "written": {"own": 0, "other": 60},
                "read": {"own": 0, "other": 120}, "stages": {"own": [1, 2], "other": [1]}}]}]})";

const char* const prediction = R"({"batch": 64, "batches": 2, "stores": 60, "d2h": 60, "h2d": 120, "structure": 30,
  "peak_memory": 500, "seconds": 0.5, "stages": [{"index": 1, "written": 60, "read": 120,
    "reads": [{"value": "v5", "bytes": 120}], "structure": 30, "frontier_rows": 7, "destinations": 5, "peak_memory": 500,
    "seconds": 0.5, "operators": [{"op": "op2", "seconds": 0.25}], "recomputed": ["op2"]}]})";

base::Result<schema::Explanation> explanationOf(const json::Value& answer)
{
    return schema::readExplanation(answer, protocol::modelNames(model()));
}

base::Result<schema::Prediction> predictionOf(const json::Value& answer)
{
    const json::Reader reader(answer, "prediction");
    schema::Prediction read = schema::readPrediction(reader, protocol::modelNames(model()));
    if (!reader.ok()) return base::forward(reader.status());
    return read;
}

// Written again it has the same bytes; each member is needed as its table says; a name that the model lacks is refused.
template <class T, class From, class To>
void checkAnswer(const char* text, From from, To to, std::initializer_list<const char*> names)
{
    const json::Value answer = json::parse(text).value();
    const auto read = from(answer);
    REQUIRE_MESSAGE(read, base::describe(read.error()));
    CHECK(json::write(to(*read)) == json::write(answer));
    test::checkMessage<T>(text, from);
    for (const char* const place : names) {
        const std::string missing = json::resolve(answer, place)->asString()->substr(0, 1) == "v" ? "v77" : "op77";
        const auto refused = from(json::parse(fixture::with(text, place, missing)).value());
        REQUIRE_FALSE(refused);
        CHECK(refused.error().where.ends_with(place));
    }
}

}  // namespace

TEST_CASE("an explanation is read against the model")
{
    checkAnswer<schema::Explanation>(explanation, explanationOf, schema::explanationValue,
                                     {"/decisions/0/value", "/against/0/values/0/value"});
    const auto read = explanationOf(json::parse(explanation).value());
    const schema::Decision* stored = read->decisionOn(model().findValue("v5"));
    REQUIRE(stored != nullptr);
    CHECK(stored->saves == 0.4);
    CHECK(stored->cost() == doctest::Approx(0.3));
    CHECK(read->decisionOn(model().findValue("v4")) == nullptr);
    REQUIRE(read->against.size() == 1);
    CHECK_FALSE(read->against[0].seconds);
    CHECK(read->against[0].values.at(0).written == schema::Both<std::int64_t>{0, 60});
    CHECK(read->against[0].values.at(0).stages[0] == std::vector{protocol::StageId(1), protocol::StageId(2)});
}

TEST_CASE("a prediction is read against the model")
{
    checkAnswer<schema::Prediction>(prediction, predictionOf, schema::predictionValue,
                                    {"/stages/0/reads/0/value", "/stages/0/operators/0/op", "/stages/0/recomputed/0"});
}

TEST_CASE("a fix drops a pin or takes another stage")
{
    const char* const text = R"({"repairs": [{"drop": ["cut", "v1", "v2"], "cost": 3.0, "unit": "seconds"},
        {"stages": 4, "cost": 2.0, "unit": "bytes"}]})";
    const auto repairs = schema::readRepairs(json::parse(text).value());
    REQUIRE(repairs);
    CHECK(json::write(schema::repairsValue(*repairs)) == json::write(json::parse(text).value()));
    const plan::Pin cut{plan::PinKind::Cut, ir::ValueId(1), ir::ValueId(2)};
    CHECK(repairs->repairs ==
          std::vector<schema::RepairRecord>{{cut, {}, 3.0, base::Unit::Seconds}, {{}, 4, 2.0, base::Unit::Bytes}});
    const char* const both =
        R"({"repairs": [{"drop": ["cut", "v1", "v2"], "stages": 4, "cost": 1.0, "unit": "bytes"}]})";
    test::checkMessage<schema::Repairs>(both, schema::readRepairs);
    CHECK_FALSE(schema::readRepairs(json::parse(R"({"repairs": [{"cost": 1.0, "unit": "bytes"}]})").value()));
}

TEST_CASE("a machine's rates are read")
{
    const char* const text = R"({"device": "cpu", "measured": true, "runs": 3,
        "rates": [{"key": "gather", "what": "gathering rows", "unit": "GB/s", "value": 4.5}],
        "walls": [{"what": "random rows of 256 bytes", "unit": "B/s", "all": 2.5, "one": 1.25}]})";
    checkAnswer<schema::MachineRates>(
        text, [](const json::Value& answer) { return schema::machineRatesFrom(answer, "machine"); },
        schema::machineRatesValue, {});
}
