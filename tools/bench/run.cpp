#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/proc.h"
#include "bench/bench.h"
#include "bench/stores.h"
#include "graph/generate.h"
#include "graph/npy.h"
#include "pipeline/files/home.h"
#include "pipeline/planning/choice.h"
#include "pipeline/running/records.h"
#include "verify/compare.h"
#include "verify/verify.h"
#include "json/described.h"
#include "json/optional.h"

namespace hopscope::bench {

namespace {

using Clock = std::chrono::steady_clock;
using json::Value;
using pipeline::Prepared;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// All rows against float64.
struct Reference {
    schema::TensorRecord error;
    double seconds = 0;
};

// One size.
struct Case {
    std::int64_t nodes = 0, edges = 0;
    schema::Report run{};
    double prepareSeconds = 0;                            // load, read, infer roles, walk, analyse, plan
    std::int64_t anonymousBefore = 0, anonymousPeak = 0;  // resident memory of this process while the plan ran
    std::optional<Reference> reference{};
};

// Watches this process's anonymous resident memory while it lives.
class AnonymousWatch {
public:
    explicit AnonymousWatch(Case& result) : m_result(result)
    {
        result.anonymousBefore = result.anonymousPeak = base::anonymousMemory("self");
        m_thread = std::jthread([this](const std::stop_token& stop) { watch(stop); });
    }

private:
    void watch(const std::stop_token& stop)
    {
        while (!stop.stop_requested()) {
            m_result.anonymousPeak = std::max(m_result.anonymousPeak, base::anonymousMemory("self"));
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }
    Case& m_result;
    std::jthread m_thread;
};

struct Files {
    std::string graph, model, weights;
};

// A graph that is there already is taken.
base::Result<Files> filesFor(const RunOptions& options, const Case& size, const std::string& folder)
{
    const SageShape& shape = options.shape;
    const auto dashed = [](auto... numbers) { return (("-" + std::to_string(numbers)) + ...); };
    const std::string graph = "/rmat" + dashed(size.nodes, size.edges, shape.features, shape.seed);
    const std::string sage = "/sage" + dashed(shape.features, shape.hidden, shape.outputs, shape.layers, shape.seed);
    Files files{.graph = folder + graph + ".safetensors",
                .model = folder + sage + ".pt",
                .weights = folder + sage + ".safetensors"};
    graph::GenerateOptions wanted;
    wanted.nodes = size.nodes;
    wanted.edges = size.edges;
    wanted.features = shape.features;
    wanted.seed = shape.seed;
    base::Status made;
    if (!std::filesystem::exists(files.graph)) made = graph::generate(wanted, files.graph, {}, {});
    if (made) made = writeSageModel(shape, files.model, files.weights);
    if (!made) return base::forward(made);
    return files;
}

// As `run` does: with the structure of the graph that the choice of the plan has made.
base::Result<executor::RunReport> runPlan(const Prepared& prepared, pipeline::ChosenPlan& chosen,
                                          const base::Settings& settings, const Stores& stores, Case& result)
{
    executor::Observer silent;
    const AnonymousWatch watch(result);
    return executor::run(prepared.walk, prepared.analysis, chosen.plan, prepared.inputs,
                         runOptions(chosen.plan, settings, stores), silent, {}, std::move(chosen.structure));
}

base::Result<schema::Verification> sampled(const RunOptions& options, const Prepared& prepared, const plan::Plan& plan,
                                           const executor::RunReport& run, const Stores& stores)
{
    verify::Request request;
    request.modelPath = prepared.model.info().path;
    request.model = &prepared.model;
    request.walk = &prepared.walk;
    request.analysis = &prepared.analysis;
    request.plan = &plan;
    request.schema = &prepared.schema;
    request.inputs = &prepared.inputs;
    for (const executor::StoredTensor& output : run.outputs) request.outputs[output.name] = output.tensor;
    request.scratchFolder = stores.path;
    request.seed = options.shape.seed;
    request.targets = options.targets;
    request.sampledOnly = true;
    return verify::verify(request, {}, {});
}

base::Result<Reference> referenceOf(const base::TensorView& output, const Files& files, const Stores& stores)
{
    const Clock::time_point start = Clock::now();
    const std::string path = stores.path + "/reference.npy";
    if (const base::Status done = evaluateSage64({files.graph}, files.weights, path, stores.path, 0); !done)
        return base::forward(done);
    const base::Result<base::TensorView> expected = graph::mapNpy(path);
    if (!expected) return base::forward(expected);
    Reference reference{.error = {.name = "out"}, .seconds = since(start)};
    if (expected->shape != output.shape) verify::addDifference(reference.error);
    else verify::compareAll(output, *expected, verify::Tolerance{}, reference.error);
    return reference;
}

base::Status check(const RunOptions& options, const Prepared& prepared, const plan::Plan& plan,
                   const executor::RunReport& run, const Files& files, const Stores& stores, Case& result)
{
    if (options.targets > 0) {
        const base::Result<schema::Verification> verdict = sampled(options, prepared, plan, run, stores);
        if (!verdict) return base::forward(verdict);
        result.run.verify = *verdict;
    }
    if (options.noReference) return {};
    const base::Result<Reference> judged = referenceOf(run.outputs.at(0).tensor, files, stores);
    if (!judged) return base::forward(judged);
    result.reference = *judged;
    return {};
}

base::Status measure(const RunOptions& options, const std::string& folder, Case& result)
{
    const base::Result<Files> files = filesFor(options, result, folder);
    if (!files) return base::forward(files);
    const Stores stores(folder + "/stores");
    pipeline::Reporter silent;
    const Clock::time_point start = Clock::now();
    const pipeline::ModelOptions model{.model = files->model,
                                       .data = {files->graph},
                                       .roles = {},
                                       .reassociate = options.settings.reassociate,
                                       .trusted = true};
    const base::Result<Prepared> prepared = pipeline::prepare(model, false, silent);
    if (!prepared) return base::forward(prepared);
    base::Result<pipeline::ChosenPlan> chosen =
        pipeline::choosePlan(*prepared, stores.path, {}, options.settings, silent, {});
    if (!chosen) return base::forward(chosen);
    result.prepareSeconds = since(start);
    const base::Result<executor::RunReport> run = runPlan(*prepared, *chosen, options.settings, stores, result);
    if (!run) return base::forward(run);
    result.run = pipeline::toReport(*prepared, chosen->plan, *run, options.settings, chosen->forecast);
    return check(options, *prepared, chosen->plan, *run, *files, stores, result);
}

// ---- the document

double perSecond(double count, double seconds) { return seconds > 0 ? count / seconds : 0; }

// Of the time that the phases of all stages account for.
Value shares(const std::vector<schema::StageRecord>& stages)
{
    plan::PhaseSeconds sum;
    for (const schema::StageRecord& stage : stages) sum += stage.phases;
    const double whole = sum.sum();
    for (const plan::NamedPhase& phase : plan::namedPhases) sum.*phase.seconds /= whole > 0 ? whole : 1;
    return schema::phasesValue(sum);
}

bool isEqual(const Reference& reference) { return reference.error.different == 0; }

Value referenceValue(const Reference& reference)
{
    Value value = json::written(reference.error);
    value["verdict"] = base::nameOf(isEqual(reference) ? schema::Verdict::Equal : schema::Verdict::Different);
    value["seconds"] = reference.seconds;
    return value;
}

Value caseValue(const RunOptions& options, const Case& item)
{
    Value value = schema::reportValue(item.run);
    value["nodes"] = item.nodes;
    value["edges"] = item.edges;
    value["prepare_seconds"] = item.prepareSeconds;
    value["nodes_per_second"] = perSecond(static_cast<double>(item.nodes), item.run.seconds);
    value["edges_per_second"] = perSecond(static_cast<double>(item.edges) * options.shape.layers, item.run.seconds);
    value["anonymous_before"] = item.anonymousBefore;
    value["anonymous_peak"] = item.anonymousPeak;
    value["shares"] = shares(item.run.stages);
    value["reference"] = item.reference ? referenceValue(*item.reference) : Value();
    return value;
}

// Nothing where a stage has none.
std::optional<double> boundOf(const Case& item)
{
    double sum = 0;
    for (const schema::StageRecord& stage : item.run.stages) {
        if (!stage.boundSeconds) return std::nullopt;
        sum += *stage.boundSeconds;
    }
    return sum > 0 ? std::optional(sum) : std::nullopt;
}

Value scalingValue(const Case& first, const Case& item)
{
    const double time = perSecond(item.run.seconds, first.run.seconds);
    const std::optional<double> least = boundOf(first), most = boundOf(item);
    const std::optional<double> bound = least && most ? std::optional(*most / *least) : std::nullopt;
    Value value;
    value["nodes"] = static_cast<double>(item.nodes) / static_cast<double>(first.nodes);
    value["time"] = time;
    value["bound"] = json::orNull(bound);
    value["over_bound"] = bound ? Value(time / *bound) : Value();
    return value;
}

Value optionsValue(const RunOptions& options)
{
    Value value;
    value["features"] = options.shape.features;
    value["hidden"] = options.shape.hidden;
    value["outputs"] = options.shape.outputs;
    value["layers"] = options.shape.layers;
    value["seed"] = options.shape.seed;
    value["device"] = options.settings.device;
    value["memory"] = json::orNull(options.settings.memory);
    value["batch"] = json::orNull(options.settings.batch);
    return value;
}

bool isDifferent(const Case& item)
{
    return (item.run.verify && item.run.verify->verdict == schema::Verdict::Different) ||
           (item.reference && !isEqual(*item.reference));
}

}  // namespace

base::Result<Outcome> run(const RunOptions& options)
{
    const executor::Cores cores(options.settings.threads.value_or(0));
    const base::Result<pipeline::EngineHome> home = pipeline::EngineHome::make();
    if (!home) return base::forward(home);
    const std::string folder = options.folder.empty() ? home->path() : options.folder;
    std::error_code problem;
    if (std::filesystem::create_directories(folder, problem); problem)
        return base::fail(base::ErrorCode::Input, folder + ": " + problem.message(),
                          "choose another one with --folder");
    Outcome outcome;
    outcome.document["options"] = optionsValue(options);
    Value cases = Value::array(), scaling = Value::array();
    std::optional<Case> first;
    std::vector<double> factors = options.scale;
    factors.insert(factors.begin(), 1);
    for (const double factor : factors) {
        const auto times = [&](std::int64_t n) { return std::llround(static_cast<double>(n) * factor); };
        Case item{.nodes = times(options.nodes), .edges = times(options.edges)};
        if (const base::Status done = measure(options, folder, item); !done) return base::forward(done);
        cases.push(caseValue(options, item));
        if (first) scaling.push(scalingValue(*first, item));
        else first = item;
        if (isDifferent(item)) outcome.code = static_cast<int>(base::ErrorCode::Different);
    }
    outcome.document["cases"] = std::move(cases);
    outcome.document["scaling"] = std::move(scaling);
    return outcome;
}

}  // namespace hopscope::bench
