#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "bench/sage.h"
#include "graph/generate.h"
#include "graph/npy.h"
#include "pipeline/publishing/evaluate.h"
#include "support/temporary_folder.h"

using namespace hopscope;
namespace fs = std::filesystem;

namespace {

// A model of some layers and a graph of 60 nodes.
struct Files {
    explicit Files(int layers = 2)
    {
        graph::GenerateOptions options;
        options.nodes = 60;
        options.edges = 300;
        options.features = 8;
        REQUIRE(graph::generate(options, data(), {}, {}));
        REQUIRE(bench::writeSageModel({8, 4, 3, layers, 1}, model(), (folder / "weights.safetensors").string()));
    }
    [[nodiscard]] std::string model() const { return (folder / "model.pt").string(); }
    [[nodiscard]] std::string data() const { return (folder / "graph.safetensors").string(); }
    [[nodiscard]] std::string results() const { return (folder / "results").string(); }

    test::TemporaryFolder temporary;
    fs::path folder = temporary.path;
};

struct Heard final : pipeline::Reporter {
    void progress(const base::Progress& step) override
    {
        if (steps.empty() || steps.back() != step.what) steps.push_back(step.what);
        underWay = true;
    }
    void progressEnded() override { underWay = false; }
    void note(const std::string& sentence) override { notes.push_back(sentence); }

    std::vector<std::string> steps, notes;
    bool underWay = false;
};

pipeline::EvaluationRequest requestFor(const Files& files)
{
    pipeline::EvaluationRequest request;
    request.model = {files.model(), {files.data()}, {}};
    request.settings.strategy = base::Strategy::Depth;
    request.settings.device = "cpu";
    request.settings.verify = verify::Mode::None;
    return request;
}

base::Result<pipeline::Evaluation> evaluate(const Files& files, const pipeline::EvaluationRequest& request,
                                            pipeline::Reporter& reporter, const std::stop_token& stop = {})
{
    base::Result<pipeline::OutputFolder> folder = pipeline::OutputFolder::open(files.results());
    REQUIRE(folder);
    executor::Observer silent;
    return pipeline::evaluate(request, *folder, silent, reporter, stop);
}

// How many stores there are when each stage ends.
struct StoreCounter final : executor::Observer {
    explicit StoreCounter(std::string where) : folder(std::move(where)) {}
    void stageFinished(plan::StageId, double) override
    {
        counts.push_back(std::ranges::count_if(fs::directory_iterator(folder), [](const fs::directory_entry& entry) {
            return entry.path().filename().string().find(".npy") != std::string::npos;
        }));
    }
    [[nodiscard]] std::string text() const
    {
        std::string all;
        for (const std::int64_t count : counts) all += std::to_string(count) + " ";
        return all;
    }

    std::string folder;
    std::vector<std::int64_t> counts;
};

}  // namespace

TEST_CASE("an evaluation publishes its results and reports its steps in order")
{
    const Files files;
    Heard heard;
    const auto done = evaluate(files, requestFor(files), heard);
    REQUIRE_MESSAGE(done, base::describe(done.error()));
    const auto rows = graph::mapNpy(files.results() + "/out.npy");
    REQUIRE(rows);
    CHECK(rows->shape == std::vector<std::int64_t>{60, 3});
    CHECK(done->report.stages.size() == 2);
    CHECK(done->report.hashes.size() == 3);
    CHECK_FALSE(done->verdict);
    std::ifstream report(files.results() + "/report.json");
    const std::string text((std::istreambuf_iterator<char>(report)), std::istreambuf_iterator<char>());
    CHECK(text == schema::writeReport(done->report));
    CHECK(heard.steps == std::vector<std::string>{"loading the model", "reading the data", "analysing",
                                                  "hashing the data", "optimising the plan"});
    CHECK_FALSE(heard.underWay);
}

TEST_CASE("stores of a run that nobody verifies are written again once no stage reads them")
{
    const Files files(4);
    Heard heard;
    base::Result<pipeline::OutputFolder> folder = pipeline::OutputFolder::open(files.results());
    REQUIRE(folder);
    StoreCounter stores(folder->journal());
    REQUIRE(pipeline::evaluate(requestFor(files), *folder, stores, heard, {}));
    CAPTURE(stores.text());
    CHECK(stores.counts == std::vector<std::int64_t>{2, 4, 4, 3});
}

TEST_CASE("a run keeps its stores for those who ask for them afterwards")
{
    const Files files(4);
    Heard heard;
    const pipeline::EvaluationRequest wanted = requestFor(files);
    base::Result<pipeline::Prepared> prepared = pipeline::prepare(wanted.model, false, heard);
    REQUIRE(prepared);
    const test::TemporaryFolder folder;
    StoreCounter stores(folder.path);
    const pipeline::ExecutionRequest request{wanted.plan, wanted.settings, folder.path};
    const auto done = pipeline::planAndRun(*prepared, request, stores, heard, {});
    REQUIRE(done);
    CAPTURE(stores.text());
    CHECK(stores.counts == std::vector<std::int64_t>{2, 4, 6, 7});
    CHECK(done->run.checkpoints.size() == 6);
}

TEST_CASE("a stopped evaluation fails as cancelled and leaves no folder")
{
    const Files files;
    Heard heard;
    std::stop_source stop;
    stop.request_stop();
    const auto done = evaluate(files, requestFor(files), heard, stop.get_token());
    REQUIRE_FALSE(done);
    CHECK(done.error().code == base::ErrorCode::Cancelled);
    CHECK_FALSE(fs::exists(files.results()));
}

TEST_CASE("NaN in the data is noted once, or refused")
{
    const Files files;
    std::fstream data(files.data(), std::ios::in | std::ios::out | std::ios::binary);
    const std::uint32_t nan = 0x7FC00000;
    std::uint64_t header = 0;
    data.read(reinterpret_cast<char*>(&header), sizeof(header));
    std::string text(header, ' ');
    data.read(text.data(), static_cast<std::streamsize>(header));
    const std::size_t at = text.find("\"x\"");
    const std::size_t offset = std::stoull(text.substr(text.find('[', text.find("data_offsets", at)) + 1));
    data.seekp(static_cast<std::streamoff>(sizeof(header) + header + offset));
    data.write(reinterpret_cast<const char*>(&nan), sizeof(nan));
    data.close();

    Heard heard;
    pipeline::EvaluationRequest request = requestFor(files);
    REQUIRE(evaluate(files, request, heard));
    CHECK(std::count(heard.notes.begin(), heard.notes.end(), "x holds 1 NaN or infinite number") == 1);
    request.settings.nan = base::NanPolicy::Refuse;
    const auto refused = evaluate(files, request, heard);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::ErrorCode::Input);
    CHECK(fs::exists(files.results() + "/out.npy"));  // of the run before
}
