#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "graph/safetensors.h"
#include "model_runs.h"

namespace hopscope::tests {

namespace {

using FileNames = std::set<std::string>;

// The model's inputs, each in a file of its own.
struct Copies {
    TemporaryFolder folder;
    base::TensorMap data;
    std::map<std::string, std::string> files;

    explicit Copies(const base::TensorMap& inputs)
    {
        for (const auto& [name, view] : inputs) {
            const std::string file = files[name] = folder.path + "/" + name + ".safetensors";
            REQUIRE(graph::writeSafetensors(file, {{name, view}}));
            data.merge(*graph::mapSafetensors(file));
        }
    }

    [[nodiscard]] FileNames full() const
    {
        FileNames names;
        for (const auto& [name, file] : files)
            if (std::filesystem::file_size(file) > 0) names.insert(name);
        return names;
    }
};

// Which files are not empty when a stage begins, by stage. Files are emptied beside the run, so that what is `expected`
// gets its time.
class Watch final : public executor::Observer {
public:
    Watch(const Copies& copies, std::vector<FileNames> expected) : m_copies(copies), m_expected(std::move(expected)) {}

    void stageStarted(const executor::StageEvent&) override
    {
        const std::size_t stage = seen.size();
        if (stage < m_expected.size()) waitFor(m_expected[stage]);
        seen.push_back(m_copies.full());
    }

    std::vector<FileNames> seen;

private:
    void waitFor(const FileNames& names) const
    {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (m_copies.full() != names && std::chrono::steady_clock::now() < end)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }

    const Copies& m_copies;
    const std::vector<FileNames> m_expected;
};

struct Spent {
    std::map<std::string, at::Tensor> outputs;
    std::vector<FileNames> stages;
    FileNames left;
};

// `given`: whether the run may empty the files. Products round by where their operands lie, so that both ways read copies.
Spent runOnCopies(const Prepared& prepared, executor::Options options, bool given = true,
                  std::vector<FileNames> expected = {})
{
    const Copies copies(prepared.data);
    const TemporaryFolder folder;
    options.folder = folder.path;
    options.dropStores = true;
    if (given) options.transientInputs = copies.files;
    Watch watch(copies, std::move(expected));
    const auto report = executor::run(prepared.walk, prepared.analysis, prepared.plan, copies.data, options, watch, {});
    REQUIRE_MESSAGE(report.has_value(), (report ? std::string() : base::describe(report.error())));
    Spent spent{{}, std::move(watch.seen), copies.full()};
    for (const executor::StoredTensor& o : report->outputs) spent.outputs[o.name] = loader::toTensor(o.tensor).clone();
    return spent;
}

executor::Options options(std::optional<std::int64_t> batch)
{
    executor::Options made;
    made.batch = batch;
    if (!batch) made.tile = 5;
    made.threads = 2;
    return made;
}

}  // namespace

TEST_CASE("inputs that are emptied during a run change no bit of its results")
{
    for (const char* name : {"sage", "gcn", "gat", "gated", "several", "reduced", "normed", "readout", "edges",
                             "sparse", "wide", "hetero", "overwritten", "softmaxed_weights"})
        for (const auto strategy : base::rules)
            for (const std::optional<std::int64_t> batch : {std::optional<std::int64_t>(), {7}, {1000}}) {
                CAPTURE(std::string(name));
                CAPTURE(batch.value_or(0));
                const auto prepared = prepare(models(), name, strategy);
                REQUIRE(prepared.has_value());
                const Spent usual = runOnCopies(*prepared, options(batch), false),
                            spent = runOnCopies(*prepared, options(batch));
                CHECK(usual.left.size() == prepared->data.size());
                for (const auto& [output, tensor] : usual.outputs)
                    CHECK(at::allclose(spent.outputs.at(output), tensor, 0, 0, true));
            }
}

TEST_CASE("an input's file is emptied before the first stage that does not need it")
{
    const auto prepared = prepare(models(), "sage", base::Strategy::Depth);
    REQUIRE(prepared.has_value());
    REQUIRE(prepared->plan.stages.size() == 2);
    const std::vector<FileNames> expected{{"x"}, {}};
    CHECK(runOnCopies(*prepared, options(std::nullopt), true, expected).stages == expected);
}

TEST_CASE("an input that is a result keeps its file, and so does one that was not given away")
{
    const auto wide = prepare(models(), "wide", base::Strategy::Depth);
    REQUIRE(wide.has_value());
    CHECK(runOnCopies(*wide, options(std::nullopt)).left.contains("x"));

    const auto sage = prepare(models(), "sage", base::Strategy::Depth);
    REQUIRE(sage.has_value());
    Copies copies(sage->data);
    const TemporaryFolder folder;
    executor::Options one = options(std::nullopt);
    one.folder = folder.path;
    one.transientInputs = {{"x", copies.files.at("x")}};
    executor::Observer silent;
    REQUIRE(executor::run(sage->walk, sage->analysis, sage->plan, copies.data, one, silent, {}).has_value());
    CHECK(copies.full() == FileNames{"edge_index"});
}

}  // namespace hopscope::tests
