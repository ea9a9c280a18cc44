#include <doctest/doctest.h>

#include <cmath>

#include "schema/every_member.h"
#include "schema/findings.h"

using namespace hopscope;

namespace {

schema::OperatorRecord place()
{
    return {.op = ir::OpId(4),
            .value = ir::ValueId(9),
            .name = "relu after convs.0",
            .kind = "aten::relu",
            .module = "convs.0",
            .source = "gcn.py:17",
            .depth = 1};
}

schema::RowRecord row(std::vector<std::int64_t> ends = {})
{
    return {.table = "edge_index", .row = 5, .ends = std::move(ends), .element = 2, .first = 0.5, .second = 0.25};
}

schema::DivergenceRecord divergence()
{
    schema::DifferenceRecord difference{.place = place(), .other = ir::OpId(5), .what = "values"};
    difference.arguments = {"exponent: -0.5, -1"};
    difference.rows = 3;
    difference.of = 9;
    difference.maxAbsolute = 0.25;
    difference.maxRelative = 1;
    difference.shown = {row({1, 2})};
    difference.stage = plan::StageId(2);
    schema::DivergenceRecord made{.first = "staged", .second = "unsplit", .compared = 12};
    made.divergence = difference;
    made.parameters = {"lin.weight: 1 of 64 elements, by up to 0.5"};
    made.onlyFirst = {place()};
    made.growth = {{ir::OpId(4), ir::ValueId(9), 1, 1e-7, 1e-6}};
    made.seconds = 0.5;
    return made;
}

schema::NonFiniteReport nonFinite()
{
    schema::NonFiniteRecord maker{.place = place(), .nan = 3, .infinite = 1, .stage = plan::StageId(1), .batch = 2};
    maker.reachesOutput = true;
    maker.shown = {row()};
    return {.makers = {maker}, .inputs = {"x"}, .outputs = {"out"}, .seconds = 1};
}

schema::WatchReport watched()
{
    schema::HitRecord hit{.place = place(),
                          .stage = plan::StageId(1),
                          .batch = 3,
                          .firstDestination = 64,
                          .destinations = 32,
                          .shape = {32, 8},
                          .dtype = "float32",
                          .rows = "rows of node in the batch"};
    hit.least = -1;
    hit.zeros = 4;
    schema::AggregationRecord aggregation{.place = place(), .node = 17, .messages = 2};
    aggregation.contributions = {{row({3, 17}), 0.75}};
    return {.hits = {hit},
            .seen = 5,
            .watched = {{place(), "v9.npy", {1, 17}, {{0.5, 1}, {2, 3}}}},
            .aggregations = {aggregation},
            .seconds = 2};
}

}  // namespace

TEST_CASE("findings survive writing and reading")
{
    const json::Value parted = schema::findingsValue(divergence());
    const auto divergenceRead = schema::divergenceFrom(parted, "findings");
    REQUIRE_MESSAGE(divergenceRead, base::describe(divergenceRead.error()));
    CHECK(schema::findingsValue(*divergenceRead) == parted);
    const json::Value hunted = schema::findingsValue(nonFinite());
    const auto nonFiniteRead = schema::nonFiniteFrom(hunted, "findings");
    REQUIRE_MESSAGE(nonFiniteRead, base::describe(nonFiniteRead.error()));
    CHECK(schema::findingsValue(*nonFiniteRead) == hunted);
    const json::Value seen = schema::findingsValue(watched());
    const auto watchRead = schema::watchFrom(seen, "findings");
    REQUIRE_MESSAGE(watchRead, base::describe(watchRead.error()));
    CHECK(schema::findingsValue(*watchRead) == seen);
}

TEST_CASE("numbers of findings that are not finite are null and read as NaN")
{
    schema::DivergenceRecord found = divergence();
    found.divergence->maxAbsolute = NAN;
    const auto document = json::parse(schema::writeFindings(found));
    REQUIRE(document);
    const auto read = schema::divergenceFrom(*document, "findings");
    REQUIRE(read);
    CHECK(std::isnan(read->divergence->maxAbsolute));
}

TEST_CASE("findings have the bytes that they had, and refuse what their schema does not allow")
{
    const auto part = [](int kind) {
        return described::Schema("findings-1.schema.json", "/oneOf/" + std::to_string(kind));
    };
    described::checkDocument(schema::writeFindings(divergence()), "divergence", part(0), schema::divergenceFrom);
    described::checkDocument(schema::writeFindings(nonFinite()), "nan", part(1), schema::nonFiniteFrom);
    described::checkDocument(schema::writeFindings(watched()), "watch", part(2), schema::watchFrom);
}

TEST_CASE("findings of another kind are refused")
{
    const auto read = schema::nonFiniteFrom(schema::findingsValue(divergence()), "findings");
    REQUIRE_FALSE(read);
    CHECK(read.error().where.find("/kind") != std::string::npos);
}
