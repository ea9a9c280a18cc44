#include <doctest/doctest.h>

#include "bench/sage.h"
#include "graph/npy.h"
#include "graph/safetensors.h"
#include "verify/compare.h"
#include "verify/models.h"

using namespace hopscope;
using testing::Folder;

TEST_CASE("the float64 reference agrees with the TorchScript file it judges, for odd widths too")
{
    for (const int layers : {1, 2, 3}) {
        const Folder folder;
        REQUIRE(
            bench::writeSageModel({7, 19, 5, layers, 3}, folder.file("sage.pt"), folder.file("weights.safetensors")));
        const auto graph = testing::makeGraph(777, 7, testing::randomEdges(777, 3000, 8), 9);
        REQUIRE(graph::writeSafetensors(folder.file("data.safetensors"), graph));
        const testing::Case c(folder.file("sage.pt"), graph);
        const auto done = bench::evaluateSage64({folder.file("data.safetensors")}, folder.file("weights.safetensors"),
                                                folder.file("out.npy"), folder.path, 2);
        if (!done) FAIL(base::describe(done.error()));
        const auto reference = graph::mapNpy(folder.file("out.npy"));
        REQUIRE(reference);
        REQUIRE(reference->shape == std::vector<std::int64_t>{777, 5});
        verify::TensorError error{"out"};
        verify::compareAll(c.outputs.at("out"), *reference, {}, error);
        CAPTURE(layers);
        CHECK(error.different == 0);
        CHECK(error.maxAbsolute < 1e-5);
        CHECK(error.maxAbsolute > 0);
    }
}

TEST_CASE("the same seed writes the same weights, another one others")
{
    const Folder folder;
    const auto weights = [&](std::uint64_t seed) {
        REQUIRE(bench::writeSageModel({4, 4, 4, 1, seed}, folder.file("m.pt"), folder.file("w.safetensors")));
        const auto map = graph::mapSafetensors(folder.file("w.safetensors"));
        REQUIRE(map);
        const auto* numbers = reinterpret_cast<const float*>(map->at("conv1.lin_l.weight").data);
        return std::vector<float>(numbers, numbers + 16);
    };
    const auto first = weights(1);
    CHECK(first == weights(1));
    CHECK(first != weights(2));
    for (const float number : first) CHECK(std::abs(number) <= 0.5F);
}
