#include "models/run_case.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "graph/safetensors.h"
#include "graph/strided.h"
#include "models/in_shards.h"
#include "models/pipeline.h"
#include "placement/pins.h"
#include "schema/documents.h"

namespace hopscope::models {

namespace {

// Everything about one graph: its tensors, and what they are of.
struct Setting {
    const Case& c;
    const loader::Model& model;
    base::TensorMap data, expected;
    std::string name;
};

constexpr std::int64_t scratchBytes = 1 << 28;  // for stores in memory: of runs in tiles, and on the second GPU

executor::Options optionsOf(const Configuration& job)
{
    executor::Options options;
    options.device = job.device;
    if (job.batch >= 0) options.batch = job.batch == 0 ? std::int64_t{1} << 40 : job.batch;
    if (job.shuffled) options.shuffleSeed = static_cast<std::uint64_t>(17 + job.batch);
    if (job.tile > 0) options.tile = job.tile;
    options.threads = job.tile > 0 ? 2 : 1;
    options.dropStores = !job.shuffled;  // their files are written again
    return options;
}

struct Tally {
    double absolute = 0, relative = 0;
    int runs = 0;
    std::vector<double> memory;  // by batch: how far its predicted peak is off, as a fraction; 0: by a few tensors
    double worst = 0;            // of them
    std::string worstBatch;      // "stage 2, batch 3: 4,096 bytes held, 5,120 predicted"
    std::string stages;
    std::string notes;
    bool optimumAsked = false;
};

double percentile(std::vector<double> numbers, double part)
{
    if (numbers.empty()) return 0;
    std::ranges::sort(numbers);
    return numbers[static_cast<std::size_t>(part * static_cast<double>(numbers.size() - 1))];
}

std::optional<std::string> compareOutputs(const executor::RunReport& report, const base::TensorMap& expected,
                                          const Tolerance& tolerance, Tally& tally)
{
    if (report.outputs.size() != expected.size())
        return std::to_string(report.outputs.size()) + " outputs, not " + std::to_string(expected.size());
    for (const executor::StoredTensor& out : report.outputs) {
        const auto wanted = expected.find(out.name);
        if (wanted == expected.end()) return "unexpected output '" + out.name + "'";
        const Difference difference = compare(out.tensor, wanted->second, tolerance);
        if (difference.complaint) return out.name + " " + *difference.complaint;
        tally.absolute = std::max(tally.absolute, difference.absolute);
        tally.relative = std::max(tally.relative, difference.relative);
    }
    return std::nullopt;
}

std::int64_t bestClass(const base::TensorView& scores, std::int64_t row)
{
    const std::int64_t classes = scores.shape[1];
    std::int64_t best = 0;
    for (std::int64_t c = 1; c < classes; ++c)
        if (element(scores, row * classes + c) > element(scores, row * classes + best)) best = c;
    return best;
}

double accuracyOf(const base::TensorView& scores, const base::TensorMap& data)
{
    const base::TensorView &labels = data.at("y"), &mask = data.at("test_mask");
    double right = 0, all = 0;
    for (std::int64_t row = 0; row < scores.shape[0]; ++row) {
        if (element(mask, row) == 0) continue;
        all += 1;
        right += bestClass(scores, row) == static_cast<std::int64_t>(element(labels, row)) ? 1 : 0;
    }
    return right / all;
}

std::optional<std::string> checkAccuracy(const Case& c, const executor::RunReport& report, const base::TensorMap& data)
{
    if (!c.accuracy) return std::nullopt;
    const double accuracy = accuracyOf(report.outputs.at(0).tensor, data);
    if (std::abs(accuracy - *c.accuracy) < 5e-4) return std::nullopt;
    return "test accuracy " + std::to_string(accuracy) + ", not " + std::to_string(*c.accuracy);
}

// A failure: the engine's error, or a sentence about wrong numbers.
struct Failure {
    std::optional<base::Error> error;
    std::string text;
    std::string configuration = {};  // as nameOf() gives it; empty: it is not about one
};

std::string figures(std::int64_t written, std::int64_t read, std::int64_t structure, std::int64_t frontier,
                    std::int64_t batches)
{
    return std::to_string(written) + " written, " + std::to_string(read) + " read, " + std::to_string(structure) +
           " structure, " + std::to_string(frontier) + " frontier rows, " + std::to_string(batches) + " batches";
}

std::string figures(const executor::StageReport& s)
{
    return figures(s.bytes.d2h, s.bytes.h2d, s.bytes.structure, s.frontierRows, s.batches);
}

std::string figures(const forecast::PredictedStage& s)
{
    return figures(s.bytes.d2h, s.bytes.h2d, s.bytes.structure, s.frontierRows, s.batches);
}

// Predictions are to the byte for most models; what is made once and kept (a number, a sum so far) may be counted a batch
// too early or too late. On graphs of ten nodes that is a share of everything.
constexpr double fewTensors = 1024;
constexpr double fewTensorsOnGpu = 2048;  // whose allocator counts 512 bytes at least
constexpr double memoryTolerance = 0.05;  // of the peak, for 95 of 100 batches
constexpr std::size_t fewBatches = 20;    // of which one may be off

void comparePeaks(const forecast::PredictedStage& stage, const BatchPeaks& peaks, double few, Tally& tally)
{
    if (stage.estimated && few == fewTensorsOnGpu) return;
    const auto measured = peaks.find(stage.index);
    for (std::size_t i = 0; measured != peaks.end() && i < measured->second.size(); ++i) {
        const auto held = static_cast<double>(measured->second[i]);
        const double off = std::abs(static_cast<double>(stage.batchPeaks.at(i)) - held);
        tally.memory.push_back(off <= few ? 0 : off / held);
        if (tally.memory.back() <= tally.worst) continue;
        tally.worst = tally.memory.back();
        tally.worstBatch = "stage " + std::to_string(stage.index.number) + ", batch " + std::to_string(i) + ": " +
                           std::to_string(measured->second[i]) + " bytes held, " +
                           std::to_string(stage.batchPeaks.at(i)) + " predicted";
    }
}

// Ascending batches of a fixed size move what was predicted, to the byte.
std::optional<Failure> checkPrediction(const Setting& s, const Prepared& prepared, plan::Plan plan,
                                       const Configuration& job, const executor::RunReport& report,
                                       const BatchPeaks& peaks, Tally& tally)
{
    if (job.shuffled || job.batch < 0) return std::nullopt;
    plan.device = job.device;
    const executor::Options options = optionsOf(job);
    const executor::Cores cores(options.threads.value_or(0));  // memory depends on them
    const auto prediction = predictPlan(prepared, plan, s.data, options.batch.value());
    if (!prediction) return Failure{prediction.error(), "predicted"};
    for (std::size_t i = 0; i < report.stages.size(); ++i)
        if (figures(prediction->stages.at(i)) != figures(report.stages[i]))
            return Failure{std::nullopt, "stage " + std::to_string(i + 1) + " moved " + figures(report.stages[i]) +
                                             ", not " + figures(prediction->stages[i])};
    const double few = plan.device == "cpu" ? fewTensors : fewTensorsOnGpu;
    for (const forecast::PredictedStage& stage : prediction->stages) comparePeaks(stage, peaks, few, tally);
    return std::nullopt;
}

std::vector<std::byte> bytesOf(const base::TensorView& tensor)
{
    std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.elements()) * base::itemSize(tensor.dtype));
    graph::copyElements(tensor, 0, tensor.elements(), bytes.data());
    return bytes;
}

// Whoever computes what, the bits are those of one process.
std::optional<Failure> checkTogether(const Setting& s, const Prepared& prepared, const plan::Plan& plan,
                                     const Configuration& job, const executor::RunReport& alone)
{
    if (job.processes == Processes::One) return std::nullopt;
    const bool dealt = job.processes == Processes::Dealt;
    const auto together = runInShards(prepared, plan, s.data, optionsOf(job), 2, dealt);
    if (!together) return Failure{together.error(), "together"};
    for (std::size_t i = 0; i < alone.outputs.size(); ++i)
        if (bytesOf(alone.outputs[i].tensor) != bytesOf(together->outputs.at(i).tensor))
            return Failure{std::nullopt, alone.outputs[i].name + " has other bits"};
    return std::nullopt;
}

// As a file it is the same, and nothing is missing in it.
std::optional<Failure> checkFile(const Prepared& prepared, const plan::Plan& plan)
{
    const auto read = schema::readPlan(schema::writePlan(plan, prepared.analysis), prepared.analysis, "plan.json", {});
    if (!read) return Failure{std::nullopt, base::describe(read.error())};
    if (read->stages != plan.stages) return Failure{std::nullopt, "the stages of the plan's file are others"};
    return std::nullopt;
}

std::optional<Failure> runJob(const Setting& s, const Prepared& prepared, const plan::Plan& plan,
                              const Configuration& job, Tally& tally)
{
    if (auto failure = checkFile(prepared, plan)) return failure;
    BatchPeaks peaks;
    graph::allowAnonymousScratch(job.tile > 0 || job.device == "cuda:1" ? scratchBytes : 0);
    const auto report = runPlan(prepared, plan, s.data, optionsOf(job), &peaks);
    if (!report) return Failure{report.error(), "run"};
    ++tally.runs;
    auto complaint = compareOutputs(*report, s.expected, s.c.tolerance, tally);
    if (!complaint) complaint = checkAccuracy(s.c, *report, s.data);
    if (complaint) return Failure{std::nullopt, *complaint};
    if (auto failure = checkTogether(s, prepared, plan, job, *report)) return failure;
    return checkPrediction(s, prepared, plan, job, *report, peaks, tally);
}

std::optional<Failure> checkPlan(const Case& c, const plan::Plan& plan, base::Strategy strategy)
{
    if (strategy != base::Strategy::Depth) return std::nullopt;
    const auto stages = static_cast<int>(plan.stages.size());
    if (c.stages != 0 && stages != c.stages)
        return Failure{std::nullopt, std::to_string(stages) + " stages, not " + std::to_string(c.stages)};
    if (c.prologue && plan.prologue.empty()) return Failure{std::nullopt, "nothing is in the prologue"};
    return std::nullopt;
}

// The plans of the rules, which every model has, whatever is run of them.
std::optional<Failure> checkRules(const Setting& s, const Prepared& prepared, Tally& tally)
{
    for (const auto strategy : base::rules) {
        const auto plan = placement::makePlan(prepared.analysis, strategy);
        if (!plan) return Failure{plan.error(), base::nameOf(strategy)};
        if (auto failure = checkPlan(s.c, *plan, strategy)) return failure;
        if (s.name == s.c.graphs.front().data)
            tally.stages += (tally.stages.empty() ? "" : "/") + std::to_string(plan->stages.size());
    }
    return std::nullopt;
}

// The values that may be stored and that somebody reads.
std::vector<ir::ValueId> storable(const analysis::Analysis& analysis)
{
    std::set<ir::ValueId> read;
    for (const ir::Op& op : analysis.program.ops)
        ir::forEachOperand(op, [&](ir::Slot, ir::ValueId v) { read.insert(v); });
    std::vector<ir::ValueId> all(read.begin(), read.end());
    std::erase_if(all, [&](ir::ValueId v) { return !placement::whyNotStorable(analysis, v).empty(); });
    return all;
}

// A plan to run; neither plan nor failure: the model has none of this kind, and that is as it should be.
struct Planned {
    std::optional<plan::Plan> plan;
    std::optional<Failure> failure = {};
};

Planned rulePlan(const Prepared& prepared, base::Strategy strategy)
{
    auto plan = placement::makePlan(prepared.analysis, strategy);
    if (!plan) return {std::nullopt, Failure{plan.error(), base::nameOf(strategy)}};
    return {std::move(*plan)};
}

// Storing any one value more gives a plan that stores it and computes the same. Which value: by the configuration.
Planned pinnedPlan(const Prepared& prepared, const Configuration& job)
{
    const std::vector<ir::ValueId> all = storable(prepared.analysis);
    if (all.empty()) return {};
    const ir::ValueId v = all[hashOf(nameOf(job)) % all.size()];
    auto plan = placement::makePlan(prepared.analysis, base::Strategy::Depth, {{plan::PinKind::Checkpoint, v}});
    const std::string what = "with " + ir::valueName(v) + " pinned";
    if (!plan && plan.error().message.ends_with("no output of the model depends on its rows")) return {};
    if (!plan) return {std::nullopt, Failure{std::nullopt, what + ": " + base::describe(plan.error())}};
    if (std::ranges::none_of(plan->checkpoints, [&](const plan::Checkpoint& c) { return c.value == v; }))
        return {std::nullopt, Failure{std::nullopt, what + " it is not stored"}};
    return {std::move(*plan)};
}

// The optimum of either objective computes the same, and moves what is predicted. What has none has a reason.
Planned bestPlan(const Setting& s, const Prepared& prepared, placement::Objective objective, Tally& tally)
{
    constexpr std::int64_t batch = 7;
    tally.optimumAsked = true;
    auto optimum = optimalPlan(prepared, s.data, objective, batch);
    if (optimum) return {std::move(*optimum)};
    const std::string what = std::string("optimal in ") + base::nameOf(objective);
    if (optimum.error().code != base::ErrorCode::Unsupported) return {std::nullopt, Failure{optimum.error(), what}};
    if (tally.notes.find("not optimal") == std::string::npos)
        tally.notes += ", not " + what + ": " + optimum.error().message;
    return {};
}

// On a GPU, with all that can stay there.
Planned residentPlan(const Setting& s, const Prepared& prepared, const Configuration& job)
{
    Planned bare = rulePlan(prepared, base::Strategy::Depth);
    if (!bare.plan) return bare;
    bare.plan->device = job.device;
    auto kept = withResidents(prepared, *bare.plan, s.data, 3);
    if (kept) return {std::move(*kept)};
    if (kept.error().code == base::ErrorCode::Internal) return {};  // it is run bare
    return {std::nullopt, Failure{kept.error(), "choosing what stays on the GPU"}};
}

Planned planOf(const Setting& s, const Prepared& prepared, const Configuration& job, Tally& tally)
{
    if (const auto rule = static_cast<std::size_t>(job.cuts); rule < base::rules.size())
        return rulePlan(prepared, base::rules.at(rule));
    switch (job.cuts) {
    case Cuts::Time: return bestPlan(s, prepared, placement::Objective::Time, tally);
    case Cuts::Bytes: return bestPlan(s, prepared, placement::Objective::Bytes, tally);
    case Cuts::Pinned: return pinnedPlan(prepared, job);
    case Cuts::Resident: return residentPlan(s, prepared, job);
    }
    return {};
}

std::optional<Failure> runConfiguration(const Setting& s, const Prepared& prepared, const Configuration& job,
                                        Tally& tally)
{
    Planned planned = planOf(s, prepared, job, tally);
    if (planned.plan) planned.failure = runJob(s, prepared, *planned.plan, job, tally);
    if (planned.failure) planned.failure->configuration = nameOf(job);
    return planned.failure;
}

std::optional<Failure> runGraph(const Setting& s, const Prepared& prepared, const std::vector<Configuration>& jobs,
                                Tally& tally)
{
    if (auto failure = checkRules(s, prepared, tally)) return failure;
    for (const Configuration& job : jobs)
        if (s.c.graphs[job.graph].data == s.name)
            if (auto failure = runConfiguration(s, prepared, job, tally)) return failure;
    return std::nullopt;
}

base::Result<Setting> openGraph(const Case& c, const loader::Model& model, const Graph& graph)
{
    auto data = graph::mapSafetensors(graph.data);
    if (!data) return base::forward(data);
    auto expected = graph::mapSafetensors(graph.expected);
    if (!expected) return base::forward(expected);
    return Setting{c, model, std::move(*data), std::move(*expected), graph.data};
}

using Jobs = std::vector<Configuration>;

std::optional<Failure> prepareAndRun(const Setting& s, std::optional<Prepared>& prepared, const Jobs& jobs,
                                     Tally& tally)
{
    auto fresh = prepare(s.model, s.data, s.c.roles);
    if (!fresh) return Failure{fresh.error(), "analysis on " + s.name.substr(s.name.rfind('/') + 1)};
    prepared.emplace(std::move(*fresh));
    return runGraph(s, *prepared, jobs, tally);
}

std::optional<Failure> runNextGraph(const Setting& s, std::optional<Prepared>& prepared, const Jobs& jobs, Tally& tally)
{
    if (!prepared) return prepareAndRun(s, prepared, jobs, tally);
    auto failure = runGraph(s, *prepared, jobs, tally);
    if (!failure || !failure->error || failure->error->code != base::ErrorCode::Input) return failure;
    tally.notes = ", walked again: " + base::describe(*failure->error);
    return prepareAndRun(s, prepared, jobs, tally);
}

std::optional<Failure> runGraphs(const Case& c, const Jobs& jobs, Tally& tally)
{
    const auto model = loader::load(c.model);
    if (!model) return Failure{model.error(), "load"};
    std::optional<Prepared> prepared;
    for (const Graph& graph : c.graphs) {
        const auto setting = openGraph(c, *model, graph);
        if (!setting) return Failure{setting.error(), "test data"};
        if (auto failure = runNextGraph(*setting, prepared, jobs, tally)) return failure;
    }
    return std::nullopt;
}

std::string statistics(const Tally& tally)
{
    char text[200];
    std::snprintf(text, sizeof text, "stages %s, %d runs, error %.1e abs %.1e rel, memory off by %.1f %% (p95)",
                  tally.stages.c_str(), tally.runs, tally.absolute, tally.relative,
                  100 * percentile(tally.memory, 0.95));
    return text + tally.notes;
}

bool named(const std::string& text, const std::vector<std::string>& reasons)
{
    return reasons.empty() || std::any_of(reasons.begin(), reasons.end(),
                                          [&](const auto& r) { return text.find(r) != std::string::npos; });
}

// A refusal is a sentence that names an operator, its module path or the top level, and its source line.
std::string complaintAbout(const Case& c, const base::Error& error)
{
    const std::string text = base::describe(error);
    const bool ofInputs = error.code == base::ErrorCode::Input && error.hint.find("--role") != std::string::npos;
    if (c.expectation == Expectation::Either && ofInputs) return "";
    if (error.code != base::ErrorCode::Unsupported) return "exit code is not 4";
    if (text.find('\n') != std::string::npos) return "the message has several lines";
    if (text.find(".py:") == std::string::npos) return "the message names no source line";
    if (error.hint.find(c.hint) == std::string::npos) return "the hint is another one";
    return named(text, c.reasons) ? "" : "the message does not name the reason";
}

Outcome judgeRefusal(const Case& c, const Failure& failure)
{
    const std::string text = base::describe(*failure.error) + " [" + failure.text + "]";
    if (c.expectation == Expectation::Equal) return {false, "REFUSED", text};
    const std::string complaint = complaintAbout(c, *failure.error);
    if (!complaint.empty()) return {false, "REFUSED BADLY", complaint + ": " + text};
    return {true, "refused", text};
}

Outcome judge(const Case& c, const std::optional<Failure>& failure, const Tally& tally)
{
    if (!failure && c.peaks && tally.memory.size() >= fewBatches && percentile(tally.memory, 0.95) > memoryTolerance)
        return {false, "WRONG", "predicted memory is off: " + tally.worstBatch + "; " + statistics(tally)};
    if (failure) return failure->error ? judgeRefusal(c, *failure) : Outcome{false, "WRONG", failure->text};
    if (c.expectation == Expectation::Refused) return {false, "ACCEPTED", statistics(tally)};
    return {true, "equal", statistics(tally)};
}

}  // namespace

Outcome runCase(const Case& c, const std::vector<Configuration>& jobs)
{
    if (jobs.empty()) return {true, "left out", "what the simulated GPU does not have"};
    Tally tally;
    const auto failure = runGraphs(c, jobs, tally);
    Outcome outcome = judge(c, failure, tally);
    outcome.optimumAsked = tally.optimumAsked;
    if (failure) outcome.configuration = failure->configuration;
    return outcome;
}

}  // namespace hopscope::models
