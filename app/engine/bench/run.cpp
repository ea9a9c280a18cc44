#include "bench/run.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/proc.h"
#include "graph/generate.h"
#include "graph/npy.h"
#include "pipeline/choice.h"
#include "pipeline/records.h"
#include "verify/compare.h"
#include "verify/oracle_process.h"
#include "verify/reference_sage.h"
#include "verify/verify.h"
#include "json/json.h"

namespace hopscope::engine {

namespace {

using Clock = std::chrono::steady_clock;
using base::ErrorCode;
using pipeline::Prepared;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The folder for graph, model and stores. What was made here is removed unless it is to be kept.
class BenchFolder {
public:
    static base::Result<std::unique_ptr<BenchFolder>> create(const std::string& wanted, bool keep)
    {
        std::error_code problem;
        std::string path = wanted;
        if (path.empty()) path = (std::filesystem::temp_directory_path(problem) / "hopscope-bench-XXXXXX").string();
        const bool made =
            wanted.empty() ? mkdtemp(path.data()) != nullptr : std::filesystem::create_directories(path, problem);
        if (!std::filesystem::is_directory(path, problem))
            return base::fail(ErrorCode::Input, path + ": cannot create the folder",
                              "choose another one with --folder");
        return std::unique_ptr<BenchFolder>(new BenchFolder(path, made && !keep, keep));
    }
    ~BenchFolder()
    {
        std::error_code problem;
        if (m_removeAll) std::filesystem::remove_all(m_path, problem);
        for (const std::string& file : m_made)
            if (!m_keep) std::filesystem::remove(file, problem);
        std::filesystem::remove_all(stores(), problem);
    }
    BenchFolder(const BenchFolder&) = delete;
    BenchFolder& operator=(const BenchFolder&) = delete;

    // The path of a file; `make` says that it was made here.
    std::string file(const std::string& name) { return m_path + "/" + name; }
    void made(const std::string& path) { m_made.push_back(path); }
    [[nodiscard]] std::string stores() const { return m_path + "/bench-stores"; }

private:
    BenchFolder(std::string path, bool removeAll, bool keep)
        : m_path(std::move(path)),
          m_removeAll(removeAll),
          m_keep(keep)
    {}
    std::string m_path;
    std::vector<std::string> m_made;
    bool m_removeAll, m_keep;
};

// Watches this process's anonymous resident memory while it lives.
class AnonymousWatch {
public:
    AnonymousWatch()
        : m_before(base::anonymousMemory("self")),
          m_thread([this](const std::stop_token& stop) { watch(stop); })
    {}
    std::int64_t finish()
    {
        m_thread.request_stop();
        if (m_thread.joinable()) m_thread.join();
        return std::max(m_peak.load(), m_before);
    }
    [[nodiscard]] std::int64_t before() const { return m_before; }

private:
    void watch(const std::stop_token& stop)
    {
        while (!stop.stop_requested()) {
            m_peak = std::max(m_peak.load(), base::anonymousMemory("self"));
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }
    std::int64_t m_before;
    std::atomic<std::int64_t> m_peak{0};
    std::jthread m_thread;
};

// Batches as they pass, for the progress line.
class BenchProgress final : public executor::Observer {
public:
    explicit BenchProgress(const base::ProgressFn& progress) : m_progress(progress) {}
    void prologueStarted() override { tell("prologue", 0, 0); }
    void stageStarted(const executor::StageEvent& event) override
    {
        m_stage = "stage " + std::to_string(event.index.number) + " of " + std::to_string(event.count);
    }
    void batchFinished(const executor::BatchEvent& event) override { tell(m_stage, event.done, event.total); }

private:
    void tell(const std::string& what, std::int64_t done, std::int64_t total) const
    {
        if (m_progress) m_progress({what, done, total});
    }
    const base::ProgressFn& m_progress;
    std::string m_stage;
};

struct Files {
    std::string graph, model, weights;
};

class Bench {
public:
    Bench(const BenchRunOptions& options, const base::ProgressFn& progress, std::stop_token stop, BenchFolder& folder)
        : m_options(options),
          m_progress(progress),
          m_stop(std::move(stop)),
          m_folder(folder)
    {}
    base::Result<BenchCase> measure(std::int64_t nodes, std::int64_t edges);

private:
    base::Result<Files> files(std::int64_t nodes, std::int64_t edges);
    base::Status generate(std::int64_t nodes, std::int64_t edges, const std::string& path);
    base::Result<executor::RunReport> run(const Prepared& prepared, pipeline::ChosenPlan& chosen, BenchCase& result);
    base::Status check(const Prepared& prepared, const plan::Plan& plan, const executor::RunReport& run,
                       const Files& files, BenchCase& result);
    base::Result<schema::Verification> sampled(const Prepared& prepared, const plan::Plan& plan,
                                               const executor::RunReport& run, const Files& files);
    base::Result<BenchReference> reference(const base::TensorView& output, const Files& files);

    const BenchRunOptions& m_options;
    const base::ProgressFn& m_progress;
    std::stop_token m_stop;
    BenchFolder& m_folder;
    pipeline::Reporter m_silent;
};

base::Status Bench::generate(std::int64_t nodes, std::int64_t edges, const std::string& path)
{
    if (std::filesystem::exists(path)) return {};
    graph::GenerateOptions wanted;
    wanted.nodes = nodes;
    wanted.edges = edges;
    wanted.features = m_options.features;
    wanted.seed = m_options.seed;
    m_folder.made(path);
    return graph::generate(wanted, path, m_progress, m_stop);
}

base::Result<Files> Bench::files(std::int64_t nodes, std::int64_t edges)
{
    const std::string suffix = "-" + std::to_string(m_options.features) + "-" + std::to_string(m_options.seed);
    const std::string widths = "-" + std::to_string(m_options.hidden) + "-" + std::to_string(m_options.outputs) + "-" +
                               std::to_string(m_options.layers) + suffix;
    Files files{
        .graph = m_folder.file("rmat-" + std::to_string(nodes) + "-" + std::to_string(edges) + suffix + ".safetensors"),
        .model = m_folder.file("sage" + widths + ".pt"),
        .weights = m_folder.file("sage" + widths + ".safetensors")};
    if (base::Status made = generate(nodes, edges, files.graph); !made) return base::forward(made);
    const verify::SageShape shape{.features = m_options.features,
                                  .hidden = m_options.hidden,
                                  .outputs = m_options.outputs,
                                  .layers = m_options.layers,
                                  .seed = m_options.seed};
    if (base::Status made = verify::writeSageModel(shape, files.model, files.weights); !made)
        return base::forward(made);
    m_folder.made(files.model);
    m_folder.made(files.weights);
    return files;
}

// As `run` does: with what the choice of the plan has found out about the graph.
base::Result<executor::RunReport> Bench::run(const Prepared& prepared, pipeline::ChosenPlan& chosen, BenchCase& result)
{
    const plan::Plan& plan = chosen.plan;
    std::error_code problem;
    std::filesystem::remove_all(m_folder.stores(), problem);
    std::filesystem::create_directories(m_folder.stores(), problem);
    executor::Options options;
    options.device = plan.device;
    options.batch = plan.batch;
    options.memoryLimit = m_options.memory;
    options.folder = m_folder.stores();
    BenchProgress observer(m_progress);
    AnonymousWatch watch;
    base::Result<executor::RunReport> report = executor::run(prepared.walk, prepared.analysis, plan, prepared.inputs,
                                                             options, observer, m_stop, std::move(chosen.structure));
    result.anonymousPeak = watch.finish();
    result.anonymousBefore = watch.before();
    return report;
}

base::Result<schema::Verification> Bench::sampled(const Prepared& prepared, const plan::Plan& plan,
                                                  const executor::RunReport& run, const Files& files)
{
    verify::Request request;
    request.modelPath = files.model;
    request.model = &prepared.model;
    request.walk = &prepared.walk;
    request.analysis = &prepared.analysis;
    request.plan = &plan;
    request.schema = &prepared.schema;
    request.inputs = &prepared.inputs;
    for (const executor::StoredTensor& output : run.outputs) request.outputs[output.name] = output.tensor;
    request.scratchFolder = m_folder.stores();
    request.seed = m_options.seed;
    request.targets = m_options.targets;
    request.sampledOnly = true;
    return verify::verify(request, m_progress, m_stop);
}

base::Result<BenchReference> Bench::reference(const base::TensorView& output, const Files& files)
{
    if (m_progress) m_progress({"evaluating all rows in float64"});
    const std::string path = m_folder.stores() + "/reference.npy";
    json::Value request = json::Value::object();
    request["kind"] = "sage64";
    request["data"] = json::Value(std::vector<std::string>{files.graph});
    request["weights"] = files.weights;
    request["output"] = path;
    request["folder"] = m_folder.stores();
    const verify::OracleChild child{
        .program = {}, .folder = m_folder.stores(), .memory = std::int64_t(4) << 30, .seconds = std::nullopt};
    const base::Result<verify::OracleOutcome> outcome = verify::runOracle(child, request, m_stop);
    if (!outcome) return base::forward(outcome);
    if (outcome->end != verify::OracleEnd::Done)
        return base::fail(ErrorCode::Internal, "the float64 reference failed: " + outcome->message);
    const base::Result<base::TensorView> expected = graph::mapNpy(path);
    if (!expected) return base::forward(expected);
    verify::TensorError error{.name = "out"};
    if (expected->shape != output.shape) verify::addDifference(error);
    else verify::compareAll(output, *expected, verify::Tolerance{}, error);
    return BenchReference{
        .equal = error.different == 0, .error = error, .seconds = outcome->seconds, .peakMemory = outcome->peakMemory};
}

base::Status Bench::check(const Prepared& prepared, const plan::Plan& plan, const executor::RunReport& run,
                          const Files& files, BenchCase& result)
{
    if (m_options.targets > 0) {
        const base::Result<schema::Verification> verdict = sampled(prepared, plan, run, files);
        if (!verdict) return base::forward(verdict);
        result.sampled = *verdict;
    }
    if (!m_options.reference) return {};
    const base::Result<BenchReference> judged = reference(run.outputs.at(0).tensor, files);
    if (!judged) return base::forward(judged);
    result.reference = *judged;
    return {};
}

base::Result<BenchCase> Bench::measure(std::int64_t nodes, std::int64_t edges)
{
    const base::Result<Files> made = files(nodes, edges);
    if (!made) return base::forward(made);
    BenchCase result{.nodes = nodes,
                     .edges = edges,
                     .run = {},
                     .prepareSeconds = 0,
                     .anonymousPeak = 0,
                     .anonymousBefore = 0,
                     .sampled = {},
                     .reference = {}};
    const Clock::time_point start = Clock::now();
    const base::Result<Prepared> prepared =
        pipeline::prepare({.model = made->model, .data = {made->graph}, .roles = {}, .trusted = true}, false, m_silent);
    if (!prepared) return base::forward(prepared);
    std::error_code problem;
    std::filesystem::create_directories(m_folder.stores(), problem);
    const base::Settings settings{.device = m_options.device,
                                  .memory = m_options.memory,
                                  .batch = m_options.batch,
                                  .reorder = base::Reorder::None};
    base::Result<pipeline::ChosenPlan> chosen =
        pipeline::choosePlan(*prepared, m_folder.stores(), {}, settings, m_silent, m_stop);
    if (!chosen) return base::forward(chosen);
    const plan::Plan& plan = chosen->plan;
    result.prepareSeconds = since(start);
    const base::Result<executor::RunReport> report = run(*prepared, *chosen, result);
    if (!report) return base::forward(report);
    result.run = pipeline::toReport(*prepared, plan, *report, settings, chosen->forecast);
    if (base::Status checked = check(*prepared, plan, *report, *made, result); !checked) return base::forward(checked);
    return result;
}

}  // namespace

base::Result<std::vector<BenchCase>> benchRun(const BenchRunOptions& options, const base::ProgressFn& progress,
                                              std::stop_token stop)
{
    const base::Result<std::unique_ptr<BenchFolder>> folder = BenchFolder::create(options.folder, options.keep);
    if (!folder) return base::forward(folder);
    Bench bench(options, progress, stop, **folder);
    std::vector<BenchCase> cases;
    std::vector<double> factors = options.scale;
    factors.insert(factors.begin(), 1);
    for (const double factor : factors) {
        const auto times = [&](std::int64_t n) { return std::llround(static_cast<double>(n) * factor); };
        base::Result<BenchCase> measured = bench.measure(times(options.nodes), times(options.edges));
        if (!measured) return base::forward(measured);
        cases.push_back(std::move(*measured));
    }
    return cases;
}

}  // namespace hopscope::engine
