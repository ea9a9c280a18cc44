#include "analysis/roles/tracing.h"

#include <algorithm>

#include "analysis/roles/row_copies.h"

namespace hopscope::analysis {

namespace {

constexpr std::int64_t mostNodes = 127, mostEdges = 8'000, fewNodes = 8;
// Shares of the rows of the first sample.
constexpr double secondShare = 0.4, otherShare = 0.7, smallerShare = 0.85;
constexpr std::int64_t secondCopies = 2, otherCopies = 3;

// The largest number of rows of a node type.
std::int64_t mostRows(const InputSchema& schema)
{
    std::int64_t most = 0;
    for (const auto& [table, size] : schema.sizes)
        if (isNodeTable(schema, table)) most = std::max(most, size);
    return most;
}

TracingSample first(const base::TensorMap& inputs, const InputSchema& schema)
{
    const bool few = mostRows(schema) <= mostNodes &&
                     std::ranges::all_of(schema.sizes, [](const auto& table) { return table.second <= mostEdges; });
    if (few) return {.tensors = inputs, .sizes = schema.sizes, .whole = true};
    Sample cut = cutTables(inputs, schema, {.nodes = mostNodes, .numbers = Numbers::Largest});
    return {.tensors = std::move(cut.tensors), .sizes = std::move(cut.sizes)};
}

TracingSample taken(Sample sample) { return {.tensors = std::move(sample.tensors), .sizes = std::move(sample.sizes)}; }

}  // namespace

std::vector<TracingSample> tracingSamples(const base::TensorMap& inputs, const InputSchema& schema)
{
    std::vector<TracingSample> samples{first(inputs, schema)};
    InputSchema cut = schema;
    cut.sizes = samples.front().sizes;
    const base::TensorMap& from = samples.front().tensors;
    const bool few = mostRows(cut) < fewNodes;
    const auto made = [&](double share, std::int64_t copies) {
        return few ? disjointCopies(from, cut, copies)
                   : cutTables(from, cut, {.nodes = mostNodes, .share = share, .numbers = Numbers::Largest});
    };
    Sample second = made(secondShare, secondCopies), other = made(otherShare, otherCopies);
    Sample smaller = cutTables(from, cut, {.nodes = mostNodes, .share = smallerShare, .numbers = Numbers::Smaller});
    for (Sample* const sample : {&second, &other, &smaller}) samples.push_back(taken(std::move(*sample)));
    return samples;
}

}  // namespace hopscope::analysis
