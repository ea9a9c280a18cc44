#include <doctest/doctest.h>

#include <algorithm>

#include "analysis/roles/int_column.h"
#include "analysis/roles/row_copies.h"
#include "analysis/roles/tracing.h"
#include "tensors.h"

using namespace hopscope;
using analysis::IntColumn;
using inputs::schemaOf;
using inputs::TensorMap;
using inputs::TensorView;

namespace {

std::vector<std::int64_t> numbers(const TensorView& column)
{
    const IntColumn ids(column);
    std::vector<std::int64_t> list;
    for (std::int64_t i = 0; i < ids.size(); ++i) list.push_back(ids[i]);
    return list;
}

std::int64_t largest(const TensorView& column) { return std::ranges::max(numbers(column)); }

// Columns of numbers with as many kinds on a path, in forms in which all could be mistaken for each other.
TensorMap pathOf(std::int64_t nodes, std::int64_t graphs, std::int64_t types)
{
    std::vector<std::int64_t> batch, type;
    for (std::int64_t i = 0; i < nodes; ++i) batch.push_back(i * graphs / nodes);
    for (std::int64_t i = 0; i + 1 < nodes; ++i) type.push_back(i * types / nodes);
    return {{"x", inputs::floats({nodes, 3})},
            {"edge_index", inputs::path(nodes)},
            {"batch", inputs::column(batch)},
            {"edge_type", inputs::column(type)},
            {"u", inputs::floats({graphs, 2})}};
}

}  // namespace

TEST_CASE("the samples for a trace differ in their sizes, and one of them in the largest numbers")
{
    for (const std::int64_t nodes : {20, 100, 127, 128, 1000, 5000}) {
        CAPTURE(nodes);
        const TensorMap data = pathOf(nodes, 9, 5);
        const auto samples = analysis::tracingSamples(data, schemaOf(data));
        REQUIRE(samples.size() == 4);
        CHECK(samples[0].whole == (nodes <= 127));
        for (std::size_t i = 0; i < 4; ++i) {
            CAPTURE(i);
            const TensorMap& sample = samples[i].tensors;
            CHECK(sample.at("x").shape[0] == samples[i].sizes.at("node"));
            CHECK(sample.at("edge_index").shape[1] == samples[i].sizes.at("edge_index"));
            CHECK(sample.at("u").shape[0] == samples[i].sizes.at("graph"));
            CHECK((largest(sample.at("batch")) == 8) == (i < 3));
            CHECK((largest(sample.at("edge_type")) == 4) == (i < 3));
            CHECK(sample.at("u").shape[0] == largest(sample.at("batch")) + 1);
            for (std::size_t other = 0; other < i && i < 3; ++other)
                CHECK(samples[i].sizes.at("node") != samples[other].sizes.at("node"));
        }
    }
}

TEST_CASE("tiny data are repeated as disjoint copies")
{
    const TensorMap data = pathOf(3, 2, 2);
    const auto samples = analysis::tracingSamples(data, schemaOf(data));
    CHECK(samples[0].whole);
    CHECK(samples[1].sizes.at("node") == 6);
    CHECK(samples[2].sizes.at("node") == 9);
    CHECK(numbers(samples[1].tensors.at("batch")) == std::vector<std::int64_t>{0, 0, 1, 2, 2, 3});
    const TensorMap none{{"x", inputs::floats({1, 3})}, {"edge_index", inputs::path(1)}};
    CHECK(analysis::tracingSamples(none, schemaOf(none))[1].sizes.at("node") == 2);
}

TEST_CASE("copies stay apart in every form of edges")
{
    const std::vector<std::pair<std::int64_t, std::int64_t>> edges{{0, 1}, {2, 1}, {1, 2}};
    const TensorView x = inputs::floats({4, 4});
    const std::vector<std::int64_t> sources{0, 2, 1, 4, 6, 5}, targets{1, 1, 2, 5, 5, 6};
    const auto copied = [&](const TensorMap& data) {
        return analysis::disjointCopies(data, schemaOf(data), 2).tensors;
    };

    const TensorMap rows = copied({{"x", x}, {"edge_index", inputs::index(edges)}});
    for (const int end : {0, 1}) {
        const IntColumn ids(rows.at("edge_index"), end, 0);
        for (std::int64_t i = 0; i < 6; ++i)
            CHECK(ids[i] == (end == 0 ? sources : targets)[static_cast<std::size_t>(i)]);
    }
    const TensorMap pairs = copied({{"x", x}, {"edges", inputs::pairsOf(edges)}});
    for (const int end : {0, 1}) {
        const IntColumn ids(pairs.at("edges"), end, 1);
        for (std::int64_t i = 0; i < 6; ++i)
            CHECK(ids[i] == (end == 0 ? sources : targets)[static_cast<std::size_t>(i)]);
    }
    const TensorMap ends = copied({{"x", x}, {"src", inputs::endOf(edges, 0)}, {"dst", inputs::endOf(edges, 1)}});
    CHECK(numbers(ends.at("src")) == sources);
    CHECK(numbers(ends.at("dst")) == targets);
    const TensorMap offsets =
        copied({{"x", x}, {"rowptr", inputs::column({0, 0, 2, 3, 3})}, {"col", inputs::endOf(edges, 0)}});
    CHECK(numbers(offsets.at("rowptr")) == std::vector<std::int64_t>{0, 0, 2, 3, 3, 3, 5, 6, 6});
    CHECK(numbers(offsets.at("col")) == sources);
}

TEST_CASE("padding of neighbours stays padding in copies, and one row for all stays one")
{
    const TensorMap data{{"x", inputs::floats({3, 4})},
                         {"nbr", inputs::integers({3, 2}, {1, 3, 2, -1, 0, 1})},
                         {"bias", inputs::floats({4})}};
    const TensorMap copies = analysis::disjointCopies(data, schemaOf(data), 3).tensors;
    CHECK(copies.at("nbr").shape == std::vector<std::int64_t>{9, 2});
    const IntColumn first(copies.at("nbr"), 0, 1), second(copies.at("nbr"), 1, 1);
    CHECK(first[3] == 4);
    CHECK(second[3] == 9);
    CHECK(second[4] == -1);
    CHECK(copies.at("bias").shape == std::vector<std::int64_t>{4});
}
