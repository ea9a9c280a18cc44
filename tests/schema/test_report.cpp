#include <doctest/doctest.h>

#include <limits>

#include "schema/every_member.h"

using namespace hopscope;

TEST_CASE("a report survives writing and reading, byte for byte")
{
    const std::string text = schema::writeReport(fixture::report());
    const base::Result<schema::Report> report = schema::readReport(text, "report.json");
    REQUIRE_MESSAGE(report, base::describe(report.error()));
    CHECK(*report == fixture::report());
    CHECK(schema::writeReport(*report) == text);
}

TEST_CASE("reports and verifications have the bytes that they had, and refuse what their schemas do not allow")
{
    const described::Schema ofReports("report-1.schema.json"), ofVerdicts("verification-1.schema.json");
    const std::string report = schema::writeReport(fixture::report());
    const std::string verdict = schema::writeVerification(fixture::verification(), fixture::verification());
    described::checkBytes(report, "report.json", ofReports);
    described::checkBytes(verdict, "verification.json", ofVerdicts);
    described::checkEveryMember(report, ofReports,
                                [](const std::string& text) { return schema::readReport(text, "report.json"); });
    described::checkEveryMember(verdict, ofVerdicts,
                                [](const std::string& text) { return schema::readVerification(text, "verify.json"); });
}

TEST_CASE("a golden may lack members that are optional, and no others; a document may lack none of the golden's")
{
    const described::Schema schema("report-1.schema.json");
    const json::Value whole = json::parse(schema::writeReport(fixture::report())).value();
    for (const auto& [member, optional] : {std::pair{"windows", true}, {"seconds", false}}) {
        INFO(member);
        json::Value without = whole;
        without["stages"].asArray()->front().asObject()->erase(member);
        CHECK((described::published(whole, without, schema) == without) == optional);
        CHECK_FALSE(described::published(without, whole, schema) == whole);
    }
}

TEST_CASE("results that are not finite are counted by output, and told in a sentence")
{
    schema::Report report = fixture::report();
    report.notFinite->outputs.push_back({"out.b", 1'000, 2'000});
    CHECK(report.notFinite->numbers() == 1'007);
    CHECK(schema::sentenceOf(*report.notFinite) ==
          "1,007 of 2,015 numbers in out, out.b are NaN or infinite: first made by aten::log");
    for (int i = 0; i < 4; ++i) report.notFinite->outputs.push_back({"more", 1, 1});
    CHECK(schema::sentenceOf(*report.notFinite).find("in out, out.b, more, more and 2 more outputs are") !=
          std::string::npos);
    report.notFinite->outputs = {{"a", 1, 1}};
    CHECK(schema::sentenceOf(*report.notFinite) == "1 of 1 number in a is NaN or infinite: first made by aten::log");
    for (const char* name : {"b", "c", "d", "e"}) report.notFinite->outputs.push_back({name, 0, 1});
    CHECK(schema::sentenceOf(*report.notFinite).find("1 of 5 numbers in a, b, c, d and 1 more output is") == 0);
    report.notFinite.reset();
    CHECK(json::resolve(schema::reportValue(report), "/not_finite")->isNull());
    CHECK(schema::readReport(schema::writeReport(report), "report.json").value() == report);
}

TEST_CASE("a report has no member about reassociation unless it was asked for")
{
    schema::Report report = fixture::report();
    CHECK(*json::resolve(schema::reportValue(report), "/reassociated/places/0/out")->asInt() == 47);
    report.reassociated->maxAbsolute.reset();
    CHECK(json::resolve(schema::reportValue(report), "/reassociated/max_abs")->isNull());
    CHECK(schema::readReport(schema::writeReport(report), "report.json").value() == report);
    report.reassociated.reset();
    CHECK(json::resolve(schema::reportValue(report), "/reassociated") == nullptr);
}

TEST_CASE("what only a GPU has is null in a report of a CPU, and may be missing in an older one")
{
    schema::Report report = fixture::report();
    report.stages[0].overlap.reset();
    report.stages[0].reservedMemory.reset();
    const std::string text = schema::writeReport(report);
    json::Value document = json::parse(text).value();
    for (const char* key : {"overlap", "reserved_memory"}) {
        CHECK(json::resolve(document, std::string("/stages/0/") + key)->isNull());
        document["stages"].asArray()->front().asObject()->erase(key);
    }
    CHECK(schema::readReport(text, "report.json").value() == report);
    CHECK(schema::readReport(json::write(document), "report.json").value() == report);
}

TEST_CASE("a stage that nobody looked at beforehand has neither prediction nor bound")
{
    schema::Report report = fixture::report();
    REQUIRE(report.stages[0].predicted);
    report.stages[0].predicted.reset();
    report.stages[0].boundSeconds.reset();
    report.stages[0].wall.reset();
    const std::string text = schema::writeReport(report);
    const json::Value document = json::parse(text).value();
    for (const char* key : {"predicted", "bound_seconds", "wall"})
        CHECK(json::resolve(document, std::string("/stages/0/") + key)->isNull());
    CHECK(schema::readReport(text, "report.json").value() == report);
}

TEST_CASE("a wall that is not known is refused")
{
    const std::string text = schema::writeReport(fixture::report());
    CHECK(schema::readReport(fixture::with(text, "/stages/0/wall", "stream"), "report.json"));
    CHECK_FALSE(schema::readReport(fixture::with(text, "/stages/0/wall", "berlin"), "report.json"));
}

TEST_CASE("a report without verification says so with null")
{
    schema::Report report = fixture::report();
    report.verify.reset();
    const std::string text = schema::writeReport(report);
    CHECK(json::resolve(json::parse(text).value(), "/verify")->isNull());
    CHECK(schema::readReport(text, "report.json").value() == report);
}

TEST_CASE("an unknown dtype and an unknown verdict are refused")
{
    const std::string text = schema::writeReport(fixture::report());
    CHECK_FALSE(schema::readReport(fixture::with(text, "/outputs/0/dtype", "float31"), "report.json"));
    CHECK_FALSE(schema::readReport(fixture::with(text, "/verify/verdict", "fine"), "report.json"));
    CHECK_FALSE(schema::readReport(fixture::with(text, "/version", "2.0"), "report.json"));
    CHECK_FALSE(schema::readReport("{", "report.json"));
}

TEST_CASE("a verification survives writing and reading, infinite errors included")
{
    schema::Verification verification = fixture::verification();
    verification.outputs[0].maxAbsolute = std::numeric_limits<double>::infinity();
    const std::string text = schema::writeVerification(verification, fixture::verification());
    const auto result = schema::readVerification(text, "verify.json");
    REQUIRE_MESSAGE(result, base::describe(result.error()));
    CHECK(*result == verification);
}
