// Whatever a model is like, its report can be read.

#include <doctest/doctest.h>

#include <algorithm>

#include "schema/fixture.h"

using namespace hopscope;

namespace {

std::string longName(std::size_t i, std::size_t length)
{
    return "value " + std::to_string(i) + " " + std::string(length, 'n');
}

// `stages` stages of `operators` operators, so many outputs, checkpoints and notes, and texts of `length` bytes.
schema::Report large(std::size_t stages, std::size_t operators, std::size_t records, std::size_t length)
{
    schema::Report report = fixture::report();
    schema::StageRecord stage = report.stages.front();
    stage.operators.resize(operators, stage.operators.front());
    for (std::size_t i = 0; i < operators; ++i) {
        stage.operators[i].label = longName(i, length);
        stage.operators[i].seconds = static_cast<double>(i);
    }
    report.stages.clear();
    for (std::size_t i = 0; i < stages; ++i) {
        stage.seconds = static_cast<double>(i + 1);
        report.stages.push_back(stage);
    }
    for (std::size_t i = 0; i < records; ++i) {
        schema::TensorRecord compared{longName(i, length), 0, 0, 5, 0, 0};
        compared.different = i == 7 ? 1 : 0;
        report.verify->checkpoints.push_back(compared);
        report.notes.push_back(longName(i, length));
        report.narrowed.push_back({longName(i, length), base::DType::Float32, base::DType::BFloat16, 0, 1, 0});
    }
    return report;
}

// It fits, can be read, says what is gone, and has its outputs and what is worst.
void checkBounded(const schema::Report& report)
{
    REQUIRE(schema::writeReport(report).size() > schema::mostReportBytes);
    const schema::Report bounded = schema::bounded(report);
    const std::string text = schema::writeReport(bounded);
    CHECK(text.size() < schema::mostReportBytes);
    const base::Result<schema::Report> read = schema::readReport(text, "report.json");
    REQUIRE(read);
    CHECK(*read == bounded);
    CHECK(bounded.notes.back().starts_with("a report has room for "));
    CHECK(bounded.outputs == report.outputs);
    CHECK(bounded.stages.back().seconds == report.stages.back().seconds);
    if (!bounded.stages.back().operators.empty())
        CHECK(bounded.stages.back().operators.back().seconds == report.stages.back().operators.back().seconds);
    const auto differs = [](const auto& record) { return record.different > 0; };
    CHECK(std::ranges::any_of(bounded.verify->checkpoints, differs) ==
          std::ranges::any_of(report.verify->checkpoints, differs));
}

}  // namespace

TEST_CASE("a report of usual size is left as it is") { CHECK(schema::bounded(fixture::report()) == fixture::report()); }

TEST_CASE("reports of any model stay below their limit, and say what is left out")
{
    SUBCASE("thousands of stages") { checkBounded(large(5'000, 1, 0, 10)); }
    SUBCASE("thousands of operators") { checkBounded(large(2, 14'000, 0, 10)); }
    SUBCASE("many stages with many operators") { checkBounded(large(180, 180, 10, 10)); }
    SUBCASE("names of a megabyte") { checkBounded(large(3, 2, 10, 1 << 20)); }
    SUBCASE("thousands of long notes and stores") { checkBounded(large(2, 2, 4'000, 500)); }
    SUBCASE("all at once") { checkBounded(large(1'000, 10, 1'000, 2'000)); }
}

TEST_CASE("what takes the least time is what is left out")
{
    const schema::Report bounded = schema::bounded(large(2, 14'000, 0, 10));
    REQUIRE_FALSE(bounded.stages.front().operators.empty());
    CHECK(bounded.stages.size() == 2);
    for (const schema::StageRecord& stage : bounded.stages)
        CHECK(stage.operators.front().seconds == 14'000 - static_cast<double>(stage.operators.size()));
}
