#include <cstdlib>

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "analysis/roles/roles.h"
#include "analysis/roles/sample.h"
#include "executor/memory.h"
#include "loader/torch_model.h"
#include "model_runs.h"

namespace hopscope::tests {

base::Result<Prepared> prepare(const std::string& folder, const std::string& name, base::Strategy strategy)
{
    Prepared p;
    auto data = graph::readData({folder + "/" + name + ".safetensors"});
    if (!data) return base::forward(data);
    p.data = std::move(*data);
    auto schema = analysis::inferSchema(p.data, {});
    if (!schema) return base::forward(schema);
    auto sample = analysis::cutSample(p.data, *schema, 20);
    if (!sample) return base::forward(sample);
    auto model = loader::load(folder + "/" + name + ".pt");
    if (!model) return base::forward(model);
    p.model = std::make_shared<loader::Model>(*model);
    auto walk = loader::walk(*p.model, *sample);
    if (!walk) return base::forward(walk);
    p.walk = std::move(*walk);
    p.analysis = analysis::analyse(p.walk.program, *schema);
    if (p.analysis.refusal) return tl::unexpected(*p.analysis.refusal);
    auto plan = placement::makePlan(p.analysis, strategy);
    if (!plan) return base::forward(plan);
    p.plan = std::move(*plan);
    return p;
}

std::map<std::string, at::Tensor> forward(const Prepared& prepared)
{
    auto inputs = loader::assembleInputs(*prepared.model, prepared.data);
    REQUIRE(inputs.has_value());
    torch::jit::Module module = prepared.model->impl().module;
    const auto outputs = loader::flattenOutputs(module.forward(std::move(*inputs)));
    REQUIRE(outputs.has_value());
    return {outputs->begin(), outputs->end()};
}

base::Result<Outcome> runStaged(const Prepared& p, executor::Options options, std::stop_token stop)
{
    const TemporaryFolder folder;
    options.folder = folder.path;
    executor::Observer silent;
    auto report = executor::run(p.walk, p.analysis, p.plan, p.data, options, silent, std::move(stop));
    if (!report) return base::forward(report);
    Outcome outcome;
    for (const executor::StoredTensor& o : report->outputs) {
        CHECK((o.file.empty() || std::filesystem::exists(o.file)));
        outcome.outputs[o.name] = loader::toTensor(o.tensor).clone();
    }
    outcome.report = std::move(*report);
    return outcome;
}

const std::string& models()
{
    static const TemporaryFolder folder;
    static const int status =
        std::system((std::string(TEST_PYTHON) + " " + TEST_MODELS_SCRIPT + " " + folder.path + " 2>&1").c_str());
    REQUIRE(status == 0);
    return folder.path;
}

namespace {

void checkEqual(const std::map<std::string, at::Tensor>& staged, const std::map<std::string, at::Tensor>& whole)
{
    REQUIRE(staged.size() == whole.size());
    for (const auto& [name, reference] : whole) {
        CAPTURE(name);
        REQUIRE(staged.contains(name));
        const at::Tensor& t = staged.at(name);
        REQUIRE((t.sizes() == reference.sizes()));
        REQUIRE((t.scalar_type() == reference.scalar_type()));
        CHECK(at::allclose(t, reference, 1e-4, 1e-5, true));
    }
}

executor::Options batches(std::int64_t batch, std::uint64_t shuffle)
{
    executor::Options options;
    if (batch > 0) options.batch = batch;
    if (shuffle) options.shuffleSeed = shuffle;
    return options;
}

template <class T>
std::string reason(const base::Result<T>& result)
{
    return result ? std::string() : base::describe(result.error());
}

void checkModel(const std::string& name, base::Strategy strategy)
{
    CAPTURE(name);
    CAPTURE(std::string(base::nameOf(strategy)));
    const auto prepared = prepare(models(), name, strategy);
    REQUIRE_MESSAGE(prepared.has_value(), reason(prepared));
    const auto whole = forward(*prepared);
    for (const auto& [batch, shuffle] : {std::pair{1, 0}, {7, 0}, {7, 5}, {1000, 9}, {0, 0}}) {
        CAPTURE(batch);
        CAPTURE(shuffle);
        const auto staged = runStaged(*prepared, batches(batch, static_cast<std::uint64_t>(shuffle)));
        REQUIRE_MESSAGE(staged.has_value(), reason(staged));
        checkEqual(staged->outputs, whole);
    }
}

}  // namespace

TEST_CASE("a staged run equals the model's own forward for every batch size and order")
{
    for (const char* name : {"sage", "sage_scripted", "gcn", "gat", "reduced", "normed", "readout", "edges", "sparse",
                             "wide", "hetero", "overwritten"})
        for (const auto strategy : base::rules) checkModel(name, strategy);
}

TEST_CASE("a graph without edges runs") { checkModel("sage_no_edges", base::Strategy::Depth); }

TEST_CASE("the same run gives the same bits twice")
{
    const auto prepared = prepare(models(), "gat", base::Strategy::Depth);
    REQUIRE(prepared.has_value());
    const auto once = runStaged(*prepared, batches(7, 3)), again = runStaged(*prepared, batches(7, 3));
    REQUIRE((once.has_value() && again.has_value()));
    CHECK(at::equal(once->outputs.at("out"), again->outputs.at("out")));
}

TEST_CASE("a cancelled run says so and leaves nothing behind")
{
    const auto prepared = prepare(models(), "gcn", base::Strategy::Depth);
    REQUIRE(prepared.has_value());
    std::stop_source source;
    source.request_stop();
    const TemporaryFolder folder;
    executor::Options options = batches(7, 0);
    options.folder = folder.path;
    executor::Observer silent;
    const auto report = executor::run(prepared->walk, prepared->analysis, prepared->plan, prepared->data, options,
                                      silent, source.get_token());
    REQUIRE(!report.has_value());
    CHECK(report.error().code == base::ErrorCode::Cancelled);
    CHECK(std::filesystem::is_empty(folder.path));
}

TEST_CASE("faults of a plan are told with the names that people know")
{
    const auto prepared = prepare(models(), "sage", placement::Strategy::Depth);
    REQUIRE(prepared.has_value());
    const auto messageWith = [&](const auto& damage) {
        Prepared damaged = *prepared;
        damage(damaged.plan.stages.front().loops.front().steps);
        const auto staged = runStaged(damaged, batches(7, 0));
        REQUIRE(!staged.has_value());
        CHECK(staged.error().code == base::ErrorCode::Internal);
        CHECK(staged.error().where.starts_with("aten::"));
        return staged.error().message;
    };
    CHECK(messageWith([](auto& steps) { std::ranges::reverse(steps); }) ==
          "the plan uses sum on rows of node in the batch before it computes this value");
    CHECK(messageWith([](auto& steps) { steps.erase(steps.begin()); }) ==
          "the plan needs a value that is neither stored nor computed in its stage: layers.0 gather source on rows of "
          "edge_index into the batch");
}

TEST_CASE("inputs that disagree with each other are refused")
{
    auto prepared = prepare(models(), "reduced", base::Strategy::Depth);
    REQUIRE(prepared.has_value());
    prepared->data["edge_attr"] = base::allocate(base::DType::Float32, {5, 3}).view;
    const auto staged = runStaged(*prepared, batches(7, 0));
    REQUIRE(!staged.has_value());
    CHECK(staged.error().code == base::ErrorCode::Input);
}

TEST_CASE("a memory limit makes batches smaller and the result stays the same")
{
    const auto prepared = prepare(models(), "gat", base::Strategy::Depth);
    REQUIRE(prepared.has_value());
    executor::Options options;
    options.memory = std::int64_t{1} << 30;
    const auto staged = runStaged(*prepared, options);
    REQUIRE(staged.has_value());
    checkEqual(staged->outputs, forward(*prepared));
    CHECK(staged->report.peakMemory > 0);
}

TEST_CASE("every batch reports its rows and every stage its phases")
{
    struct Counter : executor::Observer {
        void batchFinished(const executor::BatchEvent& e) override
        {
            ++batches;
            destinations += e.destinations;
        }
        void stageStarted(const executor::StageEvent&) override { ++started; }
        void stageFinished(plan::StageId, double) override { ++finished; }
        int batches = 0, started = 0, finished = 0;
        std::int64_t destinations = 0;
    } counter;
    const auto prepared = prepare(models(), "sage", base::Strategy::Depth);
    REQUIRE(prepared.has_value());
    const TemporaryFolder folder;
    executor::Options options = batches(10, 0);
    options.folder = folder.path;
    const auto report =
        executor::run(prepared->walk, prepared->analysis, prepared->plan, prepared->data, options, counter, {});
    REQUIRE(report.has_value());
    const int stages = static_cast<int>(prepared->plan.stages.size());
    CHECK(counter.started == stages);
    CHECK(counter.finished == stages);
    CHECK(counter.batches == 5 * stages);  // 41 nodes in tens
    CHECK(counter.destinations == 41 * stages);
    for (const executor::StageReport& s : report->stages) CHECK(s.bytes.d2h > 0);
}

}  // namespace hopscope::tests
