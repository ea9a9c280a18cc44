#include <doctest/doctest.h>

#include <cmath>

#include "schema/comparison.h"
#include "schema/every_member.h"

using namespace hopscope;

namespace {

schema::Comparison comparison()
{
    const schema::OperatorRecord place{.op = ir::OpId(4),
                                       .value = ir::ValueId(9),
                                       .name = "relu after convs.0",
                                       .kind = "aten::relu",
                                       .module = "convs.0",
                                       .source = "gcn.py:17",
                                       .depth = 1};
    schema::DivergenceRecord operators{.first = "a.pt2", .second = "b.pt", .compared = 12};
    operators.divergence = schema::DifferenceRecord{.place = place, .other = ir::OpId(5), .what = "values"};
    operators.divergence->shown = {{.table = "node", .row = 5, .element = 2, .first = 0.5, .second = 0.25}};
    operators.onlySecond = {place};
    operators.growth = {{ir::OpId(4), ir::ValueId(9), 1, 1e-7, 1e-6}};
    schema::ComparedOutput output{.errors = {.name = "out", .maxAbsolute = 0.25, .maxRelative = 1, .rows = 9}};
    output.errors.different = 3;
    output.at = schema::DifferentElement{.row = 5, .element = 2, .first = 0.5, .second = 0.25};
    schema::Comparison made{.first = "a.pt2", .second = "b.pt", .secondBy = schema::OutputsBy::Staged};
    made.verdict = schema::Verdict::Different;
    made.reason = "out: 3 elements outside the tolerance";
    made.outputs = {output};
    made.operators = operators;
    made.seconds = 0.5;
    return made;
}

base::Result<schema::Comparison> readAgain(const schema::Comparison& written)
{
    const auto document = json::parse(schema::writeComparison(written));
    REQUIRE(document);
    return schema::comparisonFrom(*document, "comparison");
}

}  // namespace

TEST_CASE("comparisons survive writing and reading")
{
    const auto read = readAgain(comparison());
    REQUIRE_MESSAGE(read, base::describe(read.error()));
    CHECK(read->outputs == comparison().outputs);
    CHECK(schema::writeComparison(*read) == schema::writeComparison(comparison()));
}

TEST_CASE("elements of comparisons that are not finite are null and read as NaN")
{
    schema::Comparison apart = comparison();
    apart.outputs[0].at->second = INFINITY;
    const auto read = readAgain(apart);
    REQUIRE(read);
    CHECK(std::isnan(read->outputs[0].at->second));
}

TEST_CASE("comparisons have the bytes that they had, and refuse what their schema does not allow")
{
    described::checkDocument(schema::writeComparison(comparison()), "comparison",
                             described::Schema("comparison-1.schema.json"), schema::comparisonFrom);
}
