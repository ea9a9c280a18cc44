#include <doctest/doctest.h>

#include <filesystem>

#include "bench/sage.h"
#include "graph/generate.h"
#include "pipeline/publishing/against.h"
#include "support/temporary_folder.h"
#include "verify/models.h"

using namespace hopscope;

namespace {

constexpr int features = 8;

struct Files {
    Files()
    {
        graph::GenerateOptions options;
        options.nodes = 60;
        options.edges = 300;
        options.features = features;
        REQUIRE(graph::generate(options, path("graph.safetensors"), {}, {}));
    }
    [[nodiscard]] std::string path(const std::string& name) const { return temporary.path + "/" + name; }
    std::string sage(const std::string& name, std::uint64_t seed) const
    {
        REQUIRE(bench::writeSageModel({features, 4, 3, 2, seed}, path(name), path("weights.safetensors")));
        return path(name);
    }
    // No forward fits.
    base::Result<schema::Comparison> compare(const std::string& first, const std::string& second) const
    {
        pipeline::AgainstRequest request{.model = {first, {path("graph.safetensors")}, {}},
                                         .against = second,
                                         .settings = {},
                                         .folder = path("scratch")};
        request.settings.device = "cpu";
        request.memory = 1;
        std::filesystem::create_directories(request.folder);
        executor::Observer silent;
        pipeline::Reporter quiet;
        return pipeline::compareAgainst(request, silent, quiet, {});
    }

    test::TemporaryFolder temporary;
};

}  // namespace

TEST_CASE("models that do not fit into memory are compared by their staged runs")
{
    const Files files;
    const std::string first = files.sage("first.pt", 1);
    const auto same = files.compare(first, files.sage("same.pt", 1));
    REQUIRE_MESSAGE(same, base::describe(same.error()));
    CHECK(same->verdict == schema::Verdict::Equal);
    CHECK(same->firstBy == schema::OutputsBy::Staged);
    CHECK(same->secondBy == schema::OutputsBy::Staged);
    CHECK(same->outputs.at(0).errors.rows == 60);
    CHECK(pipeline::exitCodeOf(*same) == 0);
    const auto other = files.compare(first, files.sage("other.pt", 2));
    REQUIRE_MESSAGE(other, base::describe(other.error()));
    CHECK(other->verdict == schema::Verdict::Different);
    CHECK(other->outputs.at(0).at.has_value());
    CHECK_FALSE(other->operators);
    CHECK(other->notLocated == "the two unsplit models do not fit into memory together");
    CHECK(pipeline::exitCodeOf(*other) == 5);
}

TEST_CASE("a model that neither fits into memory nor can be split is not compared")
{
    const Files files;
    const std::string whole = files.path("whole.pt");
    testing::writeModel(whole, R"(
def forward(self, x, edge_index):
    h = torch.matmul(x, self.w)
    h = torch.index_add(h, 0, edge_index[1], h.index_select(0, edge_index[0]))
    return torch.matmul(torch.softmax(torch.matmul(h, h.t()), -1), h)
)",
                        features, 3);
    const auto refused = files.compare(whole, files.sage("sage.pt", 1));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::ErrorCode::Resources);
    INFO(refused.error().message);
    CHECK(refused.error().message.find("and it cannot be split: ") != std::string::npos);
}
