#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "schema/fixture.h"

using namespace hopscope;

namespace {

template <class Read>
void checkMutations(const std::string& text, Read read, const std::vector<std::string>& optional)
{
    for (const fixture::Mutation& mutation : fixture::mutations(text)) {
        const bool may = std::ranges::any_of(optional, [&](const auto& o) { return mutation.pointer.starts_with(o); });
        if (mutation.what == "missing" && may) continue;
        const auto result = read(mutation.text);
        INFO(mutation.pointer << " " << mutation.what);
        REQUIRE_FALSE(result);
        CHECK(result.error().where.find(" " + mutation.pointer) != std::string::npos);
    }
}

}  // namespace

TEST_CASE("a report survives writing and reading, byte for byte")
{
    const std::string text = schema::writeReport(fixture::report());
    const base::Result<schema::Report> report = schema::readReport(text, "report.json");
    REQUIRE_MESSAGE(report, base::describe(report.error()));
    CHECK(*report == fixture::report());
    CHECK(schema::writeReport(*report) == text);
}

TEST_CASE("a report has the keys that stay stable")
{
    const json::Value report = json::parse(schema::writeReport(fixture::report())).value();
    for (const char* pointer : {"/stages/0/index",
                                "/stages/0/seconds",
                                "/stages/0/phases/block",
                                "/stages/0/phases/gather",
                                "/stages/0/phases/h2d",
                                "/stages/0/phases/compute",
                                "/stages/0/phases/d2h",
                                "/stages/0/phases/write",
                                "/stages/0/batches",
                                "/stages/0/bytes/d2h",
                                "/stages/0/bytes/h2d",
                                "/stages/0/bytes/structure",
                                "/stages/0/peak_memory",
                                "/stages/0/reserved_memory",
                                "/stages/0/overlap",
                                "/stages/0/predicted",
                                "/stages/0/bound_seconds",
                                "/stages/0/wall",
                                "/reorder",
                                "/confinement",
                                "/orders/0/order",
                                "/orders/0/alpha_before",
                                "/orders/0/alpha_after",
                                "/seconds",
                                "/device",
                                "/verify/verdict",
                                "/verify/coverage",
                                "/verify/outputs/0/max_abs",
                                "/verify/outputs/0/max_rel",
                                "/verify/outputs/0/rows",
                                "/verify/checkpoints",
                                "/verify/tolerance"})
        CHECK_MESSAGE(json::resolve(report, pointer) != nullptr, pointer);
}

TEST_CASE("every missing field of a report and every field of another kind is refused at its pointer")
{
    checkMutations(schema::writeReport(fixture::report()),
                   [](const std::string& t) { return schema::readReport(t, "report.json"); },
                   {"/hashes/", "/stages/0/overlap", "/stages/0/reserved_memory", "/stages/0/core_seconds",
                    "/stages/0/windows", "/stages/0/file_bytes", "/stages/0/operators", "/reorder", "/confinement",
                    "/orders", "/store", "/narrowed", "/reassociated", "/resumed", "/shard", "/not_finite",
                    "/not_finite/first", "/not_finite/stage"});
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
    report.notFinite.reset();
    CHECK(json::resolve(schema::reportValue(report), "/not_finite")->isNull());
    CHECK(schema::readReport(schema::writeReport(report), "report.json").value() == report);
}

TEST_CASE("what was reassociated stands beside the measured error, and is missing where it was not asked for")
{
    schema::Report report = fixture::report();
    json::Value document = schema::reportValue(report);
    CHECK(*json::resolve(document, "/reassociated/places/0/out")->asInt() == 47);
    CHECK(*json::resolve(document, "/reassociated/max_abs")->asDouble() == report.verify->outputs[0].maxAbsolute);
    CHECK(*json::resolve(document, "/reassociated/max_rel")->asDouble() == report.verify->outputs[0].maxRelative);
    report.verify->outputs[0].maxRelative = std::numeric_limits<double>::infinity();
    CHECK(json::resolve(schema::reportValue(report), "/reassociated/max_rel")->isNull());
    report.verify.reset();
    document = schema::reportValue(report);
    CHECK(json::resolve(document, "/reassociated/max_abs")->isNull());
    CHECK(schema::readReport(schema::writeReport(report), "report.json")->reassociated == report.reassociated);
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
    checkMutations(schema::writeVerification(fixture::verification(), fixture::verification()),
                   [](const std::string& t) { return schema::readVerification(t, "verify.json"); }, {});
}
