// What workers that share no folder get of each other, counted edge by edge.

#include <set>

#include <doctest/doctest.h>

#include "executor/owners.h"
#include "executor/structure.h"
#include "model_runs.h"

namespace hopscope::tests {

namespace {

// The nodes of a range and those that send messages to them.
std::set<std::int64_t> readBy(const executor::OwnedRange& range, const base::TensorMap& data)
{
    const at::Tensor edges = loader::toTensor(data.at("edge_index")).contiguous();
    const auto* const source = edges.const_data_ptr<std::int64_t>();
    const std::int64_t* const destination = source + edges.size(1);
    std::set<std::int64_t> nodes;
    for (std::int64_t v = range.first; v < range.first + range.count; ++v) nodes.insert(v);
    for (std::int64_t e = 0; e < edges.size(1); ++e)
        if (destination[e] >= range.first && destination[e] < range.first + range.count) nodes.insert(source[e]);
    return nodes;
}

}  // namespace

TEST_CASE("a worker gets the rows of others that its nodes and their messages need, and none of its own")
{
    const auto p = prepare(models(), "sage", base::Strategy::Depth);
    REQUIRE(p.has_value());
    REQUIRE(p->plan.stages.size() == 2);
    const TemporaryFolder folder;
    executor::Options options;
    options.folder = folder.path;
    options.tile = 5;
    for (const int workers : {1, 2, 3}) {
        const auto structure =
            std::make_shared<executor::Structure>(p->walk, p->analysis, p->data, folder.path, 1, std::stop_token());
        const auto all = executor::shareOut(structure, p->analysis, p->plan, options, workers, {});
        REQUIRE(all.has_value());
        std::int64_t computed = 0;
        for (const std::vector<executor::OwnedStage>& stages : *all) {
            const executor::OwnedRange& own = stages[0].ranges.at(0);
            std::set<std::int64_t> needed = readBy(stages[1].ranges.at(0), p->data);
            std::erase_if(needed, [&](std::int64_t v) { return v >= own.first && v < own.first + own.count; });
            CHECK(stages[0].haloRows == std::ssize(needed));
            CHECK((workers == 1) == needed.empty());
            CHECK(stages[1].haloRows == 0);
            computed += own.count;
        }
        CHECK(computed == 41);
    }
}

}  // namespace hopscope::tests
