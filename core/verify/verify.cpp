#include "verify/verify.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <set>

#include "analysis/stored.h"
#include "base/proc.h"
#include "base/temporary_file.h"
#include "base/units.h"
#include "executor/executor.h"
#include "graph/safetensors.h"
#include "verify/checkpoints.h"
#include "verify/compare.h"
#include "verify/passive_waiting.h"
#include "verify/rounding.h"
#include "verify/sampled.h"
#include "verify/soundness.h"

namespace hopscope::verify {

namespace {

using base::ErrorCode;
using Clock = std::chrono::steady_clock;

// Whether the model writes into its inputs, which are mapped read-only: then the child works on copies.
bool mutatesInputs(const ir::Program& raw)
{
    std::set<ir::ValueId> aliases;
    for (const ir::NamedValue& input : raw.inputs) aliases.insert(input.value);
    for (const ir::Op& op : raw.ops) {
        bool touches = false;
        ir::forEachOperand(op, [&](ir::Slot slot, ir::ValueId value) {
            const bool aliased = aliases.contains(value);
            touches |= aliased && slot.arg == 0;
            if (aliased && slot.arg == op.mutatedArg) touches = true;
        });
        if (!touches) continue;
        if (op.mutatedArg >= 0) return true;
        // Any operator on an input may hand on a view of it.
        for (ir::ValueId output : op.outputs) aliases.insert(output);
    }
    return false;
}

std::int64_t outputRows(const Request& request, const ir::NamedValue& output)
{
    const int dim = request.analysis->rowDim(output.value);
    const auto& shape = request.outputs.at(output.name).shape;
    return dim < 0 || static_cast<std::size_t>(dim) >= shape.size() ? 1 : shape[static_cast<std::size_t>(dim)];
}

void compareOutputs(const std::map<std::string, base::TensorView>& staged, const base::TensorMap& reference,
                    Verification& verdict)
{
    for (const auto& [name, tensor] : staged) {
        TensorError error{name};
        const auto found = reference.find(name);
        std::optional<std::string> difference = "the model has no such output";
        if (found != reference.end()) difference = mismatch(tensor, found->second);
        if (difference) addDifference(error);
        else compareAll(tensor, found->second, verdict.tolerance, error);
        if (difference && verdict.reason.empty()) verdict.reason = name + ": " + *difference;
        verdict.outputs.push_back(error);
    }
}

// Explains the outputs of `staged` that `errors` count differences of.
base::Status explainDifferences(const std::map<std::string, base::TensorView>& staged,
                                const std::vector<TensorError>& errors, Rounding& rounding, const std::stop_token& stop,
                                Explanation& explanation)
{
    std::vector<Differing> differing;
    for (const TensorError& error : errors)
        if (error.different > 0) differing.push_back({error.name, staged.at(error.name), {}});
    return explainAll(differing, rounding, stop, explanation);
}

base::Status countCovered(const Request& request, const Structure& structure, Coverage& coverage)
{
    std::set<ir::SpaceId> tables;
    for (const ir::NamedValue& output : request.analysis->program.outputs) {
        const ir::SpaceId table = request.analysis->rowSpace(output.value);
        if (!table.valid()) coverage.rows += 1;
        else if (!tables.insert(table).second) continue;
        else if (!structure.sizes.contains(table)) coverage.rows += outputRows(request, output);
    }
    for (const ir::SpaceId table : tables) {
        const auto rows = structure.sizes.find(table);
        if (rows == structure.sizes.end()) continue;
        const auto degrees = inDegrees(structure, table, request.scratchFolder);
        if (!degrees) return base::forward(degrees);
        coverage.rows += rows->second;
        coverage.withInEdges += rows->second - std::count(asNumbers(*degrees), asNumbers(*degrees) + rows->second, 0);
    }
    coverage.chosen = coverage.rows;
    return {};
}

// The real inputs as data arguments: those of the command line, or a copy.
base::Result<std::vector<std::string>> wholeData(const Request& request, const std::string& copy)
{
    if (!request.dataArguments.empty()) return request.dataArguments;
    const base::Result<loader::Binding> binding = loader::bind(*request.model, *request.inputs);
    if (!binding) return base::forward(binding);
    base::TensorMap used;
    for (const std::string& name : binding->used) used[name] = request.inputs->at(name);
    if (base::Status written = graph::writeSafetensors(copy, used); !written) return base::forward(written);
    return std::vector<std::string>{copy};
}

// True if the comparison took place or failed for a reason that smaller pieces share; false if memory ran out.
base::Result<bool> verifyFull(const Request& request, const Structure& structure, std::int64_t memory,
                              std::stop_token stop, Verification& verdict)
{
    const base::TemporaryFile inputs(request.scratchFolder, "-inputs.safetensors");
    const base::TemporaryFile output(request.scratchFolder, "-outputs.safetensors");
    const base::Result<std::vector<std::string>> data = wholeData(request, inputs.path());
    if (!data) return base::forward(data);
    const base::Result<OracleOutcome> outcome =
        runOracle(oracleChild(request, memory), forwardRequest(request, *data, output.path()), stop);
    if (!outcome) return base::forward(outcome);
    if (outcome->end == OracleEnd::OutOfMemory) return false;
    verdict.coverage = {.method = CoverageMethod::Full};
    verdict.coverage.hops = request.analysis->depthOp;
    if (outcome->end != OracleEnd::Done) {
        verdict.reason = outcome->message;
        return true;
    }
    const base::Result<base::TensorMap> reference = graph::mapSafetensors(output.path());
    if (!reference) return base::forward(reference);
    compareOutputs(request.outputs, *reference, verdict);
    if (base::Status counted = countCovered(request, structure, verdict.coverage); !counted)
        return base::forward(counted);
    Rounding rounding(request, *data, memory, *reference);
    Explanation explanation;
    if (const base::Status explained =
            explainDifferences(request.outputs, verdict.outputs, rounding, stop, explanation);
        !explained)
        return base::forward(explained);
    conclude(verdict, "all rows", explanation.whole());
    return true;
}

tl::unexpected<base::Error> doesNotFit(std::int64_t needed, std::int64_t memory)
{
    return base::fail(ErrorCode::Resources,
                      "the unsplit model needs about " + base::formatBytes(static_cast<double>(needed)) +
                          ", but the oracle is limited to " + base::formatBytes(static_cast<double>(memory)),
                      "verify on samples (--verify sample)");
}

base::Status decide(const Request& request, const base::ProgressFn& progress, std::stop_token stop,
                    Verification& verdict)
{
    const std::int64_t memory = childMemory(request);
    Structure structure = makeStructure(*request.analysis, *request.schema, *request.inputs);
    const std::int64_t needed = ForwardMemory(*request.analysis).peak(structure.sizes);
    const bool full = request.mode == Mode::Full;
    if (full && needed > memory) return doesNotFit(needed, memory);
    if (!request.sampledOnly && needed <= memory) {
        if (progress) progress({"verifying against the unsplit model"});
        const base::Result<bool> done = verifyFull(request, structure, memory, stop, verdict);
        if (!done) return base::forward(done);
        if (*done) return compareCheckpoints(request, needed, progress, std::move(stop), verdict);
        if (full) return doesNotFit(std::max(needed, memory), memory);
    }
    if (const std::optional<std::string> obstacle = sampledObstacle(*request.analysis, structure)) {
        verdict.coverage = {.method = CoverageMethod::Sampled};
        verdict.reason = "the whole graph does not fit into memory and sampling is not possible: " + *obstacle;
        return {};
    }
    return verifySampled(request, structure, memory, progress, stop, verdict);
}

executor::Options sampleOptions(const std::string& folder, const std::string& device, std::optional<std::int64_t> batch,
                                std::uint64_t seed)
{
    executor::Options options;
    options.folder = folder;
    options.device = device;
    options.batch = batch;
    options.shuffleSeed = seed;
    return options;
}

// A GPU computes with kernels of its own: both devices are checked.
std::vector<std::string> devicesOf(const plan::Plan& plan)
{
    if (plan.device.empty() || plan.device == "cpu") return {"cpu"};
    return {"cpu", plan.device};
}

// The reference for staged runs of the sample, and the results of the comparison.
struct SampleCheck {
    const base::TensorMap& reference;
    Rounding rounding;
    Explanation explanation;
};

// One staged run of the sample; its outputs compared with the model's.
base::Status compareRun(const Request& request, const executor::Options& options, const std::stop_token& stop,
                        SampleCheck& check, Verification& verdict)
{
    executor::Observer silent;
    const base::Result<executor::RunReport> run =
        executor::run(*request.walk, *request.analysis, *request.plan, *request.inputs, options, silent, stop);
    if (!run) return base::forward(run);
    std::map<std::string, base::TensorView> staged;
    for (const executor::StoredTensor& output : run->outputs) staged[output.name] = output.tensor;
    Verification one;
    one.tolerance = verdict.tolerance;
    compareOutputs(staged, check.reference, one);
    if (base::Status explained = explainDifferences(staged, one.outputs, check.rounding, stop, check.explanation);
        !explained)
        return explained;
    verdict.outputs.insert(verdict.outputs.end(), one.outputs.begin(), one.outputs.end());
    if (verdict.reason.empty()) verdict.reason = one.reason;
    std::error_code ignored;
    for (const auto* stored : {&run->outputs, &run->checkpoints})
        for (const executor::StoredTensor& tensor : *stored)
            if (!tensor.file.empty()) std::filesystem::remove(tensor.file, ignored);
    return {};
}

std::int64_t largestTable(const analysis::Analysis& analysis)
{
    std::int64_t rows = 1;
    for (const auto& [table, size] : analysis.sampleSizes) rows = std::max(rows, size);
    return rows;
}

// Three runs give three errors per output: the worst of each counts.
void mergeByName(std::vector<TensorError>& errors)
{
    std::map<std::string, TensorError> merged;
    for (const TensorError& error : errors) {
        TensorError& m = merged.try_emplace(error.name, TensorError{error.name}).first->second;
        m.maxAbsolute = std::max(m.maxAbsolute, error.maxAbsolute);
        m.maxRelative = std::max(m.maxRelative, error.maxRelative);
        m.rows = std::max(m.rows, error.rows);
        m.different += error.different;
        m.notFinite = std::max(m.notFinite, error.notFinite);
    }
    errors.clear();
    for (const auto& [name, error] : merged) errors.push_back(error);
}

// The outputs of the untouched model on the sample, which is written to `inputs`, mapped from `output`; nothing if it
// refused (the verdict says why).
base::Result<std::optional<base::TensorMap>> sampleReference(const Request& request, const std::string& inputs,
                                                             const std::string& output, std::stop_token stop,
                                                             Verification& verdict)
{
    if (base::Status written = graph::writeSafetensors(inputs, *request.inputs); !written)
        return base::forward(written);
    const base::Result<OracleOutcome> outcome =
        runOracle(oracleChild(request, childMemory(request)), forwardRequest(request, {inputs}, output), stop);
    if (!outcome) return base::forward(outcome);
    if (outcome->end != OracleEnd::Done) {
        verdict.reason = outcome->message;
        return std::nullopt;
    }
    base::Result<base::TensorMap> reference = graph::mapSafetensors(output);
    if (!reference) return base::forward(reference);
    return std::move(*reference);
}

}  // namespace

std::int64_t childMemory(const Request& request)
{
    if (request.memoryLimit) return *request.memoryLimit;
    const std::int64_t free = base::availableMemory();
    return free > 0 ? free / 10 * 6 : std::int64_t(4) << 30;
}

json::Value forwardRequest(const Request& request, const std::vector<std::string>& data, const std::string& output)
{
    json::Value value = json::Value::object();
    value["model"] = request.modelPath;
    value["data"] = json::Value(data);
    value["output"] = output;
    value["copyInputs"] = mutatesInputs(request.walk->program);
    return value;
}

OracleChild oracleChild(const Request& request, std::int64_t memory)
{
    return {.program = request.oracleProgram,
            .folder = request.scratchFolder,
            .memory = memory,
            .seconds = request.childSeconds};
}

void conclude(Verification& verdict, const std::string& covered, const std::string& rounding)
{
    std::int64_t different = 0;
    for (const TensorError& error : verdict.outputs) {
        different += error.different;
        if (error.different == 0) continue;
        const std::string count = base::counted(error.different, "element");
        if (verdict.reason.empty()) verdict.reason = error.name + ": " + count + " outside the tolerance";
    }
    if (different > 0) {
        verdict.verdict = rounding.empty() ? Verdict::Different : Verdict::Unverifiable;
        if (!rounding.empty()) verdict.reason = rounding;
        return;
    }
    if (!verdict.reason.empty()) return;
    const Coverage& coverage = verdict.coverage;
    const bool compared = coverage.skipped == 0 || coverage.skipped < coverage.chosen;
    verdict.verdict = compared ? Verdict::Equal : Verdict::Unverifiable;
    verdict.reason = compared
                         ? "equal within the tolerance on " + covered
                         : "no sampled neighbourhood could be compared: all are too large or unusable, or time ran out";
}

namespace {

// The last thing to be put before the reason.
void beginWithNotFinite(Verification& verdict, const std::string& origin)
{
    const std::int64_t lost = verdict.notFinite();
    if (verdict.verdict != Verdict::Equal || lost == 0) return;
    verdict.reason = base::formatCount(static_cast<double>(lost)) + (lost == 1 ? " element is" : " elements are") +
                     " NaN or infinite, in the model's own results as well (" + origin + "); " + verdict.reason;
}

// The most by which a store rounds, relative to the value.
double unitOf(base::StoreType store)
{
    switch (store) {
    case base::StoreType::BFloat16: return std::ldexp(1.0, -8);
    case base::StoreType::Float16: return std::ldexp(1.0, -11);
    case base::StoreType::Float32: return std::ldexp(1.0, -24);
    case base::StoreType::Exact: break;
    }
    return 0;
}

// The effect of the stores' rounding on later layers depends on their weights. Errors of the inputs of a sum average
// out rather than add up, and activations damp them: four units of the largest value for each store.
void allowFor(const Request& request, Tolerance& tolerance)
{
    int stores = 0;
    for (const plan::Checkpoint& c : request.plan->checkpoints)
        if (analysis::isNarrowed(*request.analysis, c.value, request.store)) ++stores;
    tolerance.scale = std::max(tolerance.scale, std::min(4 * stores * unitOf(request.store), 0.05));
}

}  // namespace

base::Result<Verification> verify(const Request& request, const base::ProgressFn& progress, std::stop_token stop)
{
    Verification verdict;
    if (request.analysis) verdict.tolerance = toleranceOf(*request.analysis);
    const bool narrow = request.store != base::StoreType::Exact && request.plan && request.analysis;
    if (narrow) allowFor(request, verdict.tolerance);
    verdict.reason = request.mode == Mode::None ? "verification was not requested" : "";
    const Clock::time_point start = Clock::now();
    if (request.mode != Mode::None) {
        const PassiveWaiting passively;
        if (base::Status decided = decide(request, progress, stop, verdict); !decided) return base::forward(decided);
    }
    if (narrow && verdict.verdict == Verdict::Equal)
        verdict.reason = std::string("not exact, but within the stated error of ") + base::nameOf(request.store) +
                         " stores: " + verdict.reason;
    const bool moved = request.analysis && !request.analysis->reassociations.empty();
    if (moved && verdict.verdict == Verdict::Equal)
        verdict.reason = "sums in a different order from the model's (--reassociate), and " + verdict.reason;
    beginWithNotFinite(verdict, request.notFiniteOrigin);
    verdict.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return verdict;
}

base::Result<Verification> verifySample(const loader::Model& model, const loader::Walk& walk,
                                        const analysis::Analysis& analysis, const plan::Plan& plan,
                                        const base::TensorMap& sample, const std::string& scratchFolder,
                                        std::stop_token stop, const std::vector<std::string>& oracleProgram)
{
    Verification verdict;
    verdict.tolerance = toleranceOf(analysis);
    const Clock::time_point start = Clock::now();
    const PassiveWaiting passively;
    verdict.coverage = {.method = CoverageMethod::Sample};
    Request request;
    request.modelPath = model.info().path;
    request.walk = &walk;
    request.analysis = &analysis;
    request.plan = &plan;
    request.inputs = &sample;
    request.scratchFolder = scratchFolder;
    request.oracleProgram = oracleProgram;
    const base::TemporaryFile inputs(scratchFolder, "-sample.safetensors"),
        output(scratchFolder, "-outputs.safetensors");
    const auto reference = sampleReference(request, inputs.path(), output.path(), stop, verdict);
    if (!reference) return base::forward(reference);
    if (!*reference) return verdict;
    SampleCheck check{**reference, Rounding(request, {inputs.path()}, childMemory(request), **reference), {}};
    std::uint64_t seed = 1;
    for (const std::string& device : devicesOf(plan)) {
        for (const std::int64_t batch : {std::int64_t(1), std::int64_t(7), largestTable(analysis)}) {
            const executor::Options options = sampleOptions(scratchFolder, device, batch, seed++);
            if (base::Status compared = compareRun(request, options, stop, check, verdict); !compared)
                return base::forward(compared);
        }
    }
    mergeByName(verdict.outputs);
    for (const TensorError& error : verdict.outputs)
        verdict.coverage.rows = std::max(verdict.coverage.rows, error.rows);
    verdict.coverage.chosen = verdict.coverage.rows;
    conclude(verdict, "the sample, in batches of 1, 7 and all destinations", check.explanation.whole());
    beginWithNotFinite(verdict, request.notFiniteOrigin);
    verdict.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return verdict;
}

}  // namespace hopscope::verify
