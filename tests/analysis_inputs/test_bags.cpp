#include <doctest/doctest.h>

#include "analysis/roles/int_column.h"
#include "analysis/roles/row_copies.h"
#include "analysis/roles/sample.h"
#include "role_rows.h"

using namespace hopscope;
using namespace inputs;

namespace {

// Where bags of 2, 0, 3, 1, 0, ... items begin, with the number of items behind them.
std::vector<std::int64_t> offsetsOf(std::int64_t rows)
{
    const std::vector<std::int64_t> counts{2, 0, 3, 1, 0};
    std::vector<std::int64_t> offsets{0};
    for (std::int64_t row = 0; row < rows; ++row)
        offsets.push_back(offsets.back() + counts[static_cast<std::size_t>(row) % counts.size()]);
    return offsets;
}

std::vector<std::int64_t> startsOf(std::int64_t rows)
{
    std::vector<std::int64_t> starts = offsetsOf(rows);
    starts.pop_back();
    return starts;
}

std::vector<std::int64_t> wordsOf(std::int64_t rows)
{
    std::vector<std::int64_t> words(static_cast<std::size_t>(offsetsOf(rows).back()));
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::int64_t>(i * 7 % 5);
    return words;
}

}  // namespace

TEST_CASE("offsets of bags end with the number of items or not, as the numbers of rows of tables tell")
{
    const Row rows[] = {
        {"features",
         {{"x", floats({40, 4})}, {"words", column(wordsOf(40))}, {"offsets", column(startsOf(40))}},
         {},
         "offsets=starts:node>node words=edge:offsets x=node:node",
         "node=40 offsets=48"},
        {"features and a last number",
         {{"x", floats({40, 4})}, {"words", column(wordsOf(40))}, {"offsets", column(offsetsOf(40))}},
         {},
         "offsets=offsets:node>node words=edge:offsets x=node:node",
         "node=40 offsets=48"},
        {"edges alone",
         {{"edge_index", path(39, 2)}, {"words", column(wordsOf(39))}, {"offsets", column(startsOf(39))}},
         {},
         "edge_index=index:node>node offsets=starts:node>node words=edge:offsets",
         "edge_index=40 node=39 offsets=48"},
        {"edges and a last number",
         {{"edge_index", path(39, 2)}, {"words", column(wordsOf(39))}, {"offsets", column(offsetsOf(39))}},
         {},
         "edge_index=index:node>node offsets=offsets:node>node words=edge:offsets",
         "edge_index=40 node=39 offsets=48"},
        {"of nobody's nodes",
         {{"words", column(wordsOf(38))}, {"offsets", column(startsOf(38))}},
         {},
         "offsets=starts:node>node words=edge:offsets",
         "node=38 offsets=47"},
        {"graphs by their first nodes",
         {{"x", floats({12, 4})}, {"sort", column(std::vector<std::int64_t>(12, 3))}, {"ptr", column({0, 5, 12})}},
         {},
         "ptr=plain sort=node:node x=node:node",
         "node=12"},
        {"by --role",
         {{"x", floats({40, 4})}, {"letters", column(wordsOf(40))}, {"first", column(startsOf(40))}},
         {"first=starts"},
         "first=starts:node>node letters=edge:first x=node:node",
         "first=48 node=40"},
        {"by --role, with rows",
         {{"x", floats({40, 4})},
          {"item", floats({5, 3})},
          {"ids", column(wordsOf(40))},
          {"first", column(startsOf(40))}},
         {"first=starts:item>node", "ids=source:item>node", "item=node:item"},
         "first=starts:item>node ids=source:item>node item=node:item x=node:node",
         "edge=48 item=5 node=40"},
    };
    for (const Row& row : rows) check(row);
}

TEST_CASE("offsets that begin no bags, or more than there are items, are refused")
{
    const TensorMap data{{"x", floats({4, 4})}, {"words", column({1, 2, 3, 4, 0})}, {"offsets", column({0, 2, 1, 5})}};
    const auto falling = infer(data, {"offsets=starts"});
    REQUIRE_FALSE(falling.has_value());
    CHECK(falling.error().message.find("do not ascend") != std::string::npos);
    const auto beyond = infer({{"x", floats({4, 4})}, {"words", column({1, 2, 3})}, {"offsets", column({0, 2, 2, 5})}},
                              {"offsets=starts"});
    REQUIRE_FALSE(beyond.has_value());
    CHECK(beyond.error().message.find("same number of edges") != std::string::npos);
}

TEST_CASE("samples keep whole bags of the chosen rows, in order")
{
    for (const bool last : {false, true}) {
        const std::vector<std::int64_t> offsets = offsetsOf(400);
        const TensorMap data{{"x", floats({400, 4})},
                             {"edge_index", path(400, 3)},
                             {"words", column(wordsOf(400))},
                             {"offsets", column(last ? offsets : startsOf(400))}};
        const auto schema = infer(data);
        REQUIRE(schema.has_value());
        const auto sample = analysis::cutTables(data, *schema, {.nodes = 50});
        const analysis::IntColumn cut(sample.tensors.at("offsets"));
        const std::int64_t rows = sample.tensors.at("x").shape[0], items = sample.tensors.at("words").shape[0];
        REQUIRE(cut.size() == rows + (last ? 1 : 0));
        CHECK(cut[0] == 0);
        const std::set<std::int64_t> sizes{0, 1, 2, 3};
        for (std::int64_t row = 0; row < rows; ++row)
            CHECK(sizes.contains((row + 1 < cut.size() ? cut[row + 1] : items) - cut[row]));
    }
}

TEST_CASE("disjoint copies repeat bags behind each other")
{
    for (const bool last : {false, true}) {
        const TensorMap data{{"x", floats({6, 4})},
                             {"words", column(wordsOf(6))},
                             {"offsets", column(last ? offsetsOf(6) : startsOf(6))}};
        const auto schema = infer(data, {last ? "offsets=offsets" : "offsets=starts"});
        REQUIRE(schema.has_value());
        const auto copies = analysis::disjointCopies(data, *schema, 2);
        const analysis::IntColumn numbers(copies.tensors.at("offsets"));
        const std::vector<std::int64_t> one = startsOf(6);
        REQUIRE(numbers.size() == (last ? 13 : 12));
        for (std::int64_t i = 0; i < 12; ++i)
            CHECK(numbers[i] == one[static_cast<std::size_t>(i % 6)] + (i < 6 ? 0 : 8));
        if (last) CHECK(numbers[12] == 16);
    }
}
