#include "pipeline/running/execute.h"

#include <algorithm>
#include <filesystem>

#include "pipeline/running/not_finite.h"
#include "pipeline/running/run_journal.h"
#include "schema/documents.h"
#include "verify/overflow.h"

namespace hopscope::pipeline {

namespace {

constexpr std::string_view overflowHint =
    "where sums overflow, their order decides which results are infinite, in the model as in the split: scale weights "
    "or inputs, or export the model in float64; ";

const char* afterwards(SampleCheck check)
{
    return check == SampleCheck::Required ? "only verified splits are exported" : "--verify none skips this check";
}

// The first operator that overflows on the sample, if the difference is one of infinities; else empty.
std::string overflowOf(const Prepared& prepared, const schema::Verification& verdict, const std::string& folder,
                       const std::stop_token& stop)
{
    if (!verify::overflows(verdict)) return {};
    return verify::firstOverflow(prepared.walk, prepared.analysis, prepared.sample, folder, stop);
}

base::Result<schema::Verification> checkSample(const Prepared& prepared, const plan::Plan& plan,
                                               const std::string& folder, SampleCheck check, Reporter& reporter,
                                               const std::stop_token& stop)
{
    reporter.progress({"checking the plan on a sample", 0, 0});
    const std::string scratch = folder + "/check";
    std::error_code problem;
    std::filesystem::create_directories(scratch, problem);
    base::Result<schema::Verification> verdict =
        verify::verifySample(prepared.model, prepared.walk, prepared.analysis, plan, prepared.sample, scratch, stop);
    const std::string overflow =
        verdict && verdict->verdict == schema::Verdict::Different ? overflowOf(prepared, *verdict, scratch, stop) : "";
    std::filesystem::remove_all(scratch, problem);
    reporter.progressEnded();
    if (!overflow.empty())
        return base::fail(base::ErrorCode::Different, "the numbers of a sample overflow: " + overflow,
                          std::string(overflowHint) + afterwards(check));
    if (verdict && verdict->verdict == schema::Verdict::Different)
        return base::fail(base::ErrorCode::Different,
                          "the split model does not match the model on a sample: " + verdict->reason,
                          std::string("Hopscope has a bug or the model is not deterministic; ") + afterwards(check));
    return verdict;
}

// The folder for files that no other process reads.
const std::string& scratchOf(const ExecutionRequest& request)
{
    return request.ownFolder.empty() ? request.folder : request.ownFolder;
}

// An order that is found for one machine may not pay off on another one.
base::Reorder orderOf(const ExecutionRequest& request)
{
    const base::Reorder wanted = request.settings.reorder;
    return request.journal && wanted == base::Reorder::Auto ? base::Reorder::None : wanted;
}

// By input, the file that holds this input and no other.
std::map<std::string, std::string> holdersOf(const base::TensorMap& inputs, const std::vector<std::string>& files)
{
    std::map<std::string, std::vector<std::string>> held;
    for (const auto& [name, view] : inputs)
        for (const std::string& file : files)
            if (view.origin == file || view.origin == file + ":" + name) held[file].push_back(name);
    std::map<std::string, std::string> holders;
    for (const auto& [file, names] : held)
        if (names.size() == 1) holders[names.front()] = file;
    return holders;
}

executor::Options runOptions(const ExecutionRequest& request, const Prepared& prepared, const Execution& execution)
{
    const plan::Plan& plan = execution.plan;
    executor::Options options(request.settings);
    options.device = plan.device;
    options.batch = plan.batch;
    options.reorder = orderOf(request);
    if (execution.forecast) options.sizes = execution.forecast->prediction.sizes();
    options.dropStores = request.settings.hostMemory.has_value() || !request.keepStores;
    options.folder = request.folder;
    options.journal = request.journal;
    options.transientInputs = holdersOf(prepared.inputs, request.transientFiles);
    options.probe = request.probe;
    return options;
}

// A resumed run keeps the plan that it was started with: another search might find another plan.
base::Result<ChosenPlan> choose(const Prepared& prepared, const ExecutionRequest& request, Reporter& reporter,
                                const std::stop_token& stop)
{
    if (request.given != nullptr) {
        ChosenPlan chosen = *request.given;
        request.given->structure.reset();
        return chosen;
    }
    PlanSource source = request.plan;
    if (request.journal && request.journal->goesOn()) source = {.file = request.journal->planFile()};
    base::Settings settings = request.settings;
    settings.resume = request.journal != nullptr;  // shards have one as well
    return choosePlan(prepared, scratchOf(request), source, settings, reporter, stop);
}

bool walkedWhole(const Prepared& prepared)
{
    return std::ranges::find(prepared.notes, rewalkNote) != prepared.notes.end();
}

base::Status keepPlan(const ExecutionRequest& request, const Prepared& prepared, const plan::Plan& plan)
{
    if (!request.journal || request.journal->goesOn()) return {};
    return request.journal->savePlan(schema::writePlan(plan, prepared.analysis), walkedWhole(prepared));
}

base::Status runOnce(Execution& execution, const Prepared& prepared, const ExecutionRequest& request,
                     executor::Observer& observer, Reporter& reporter, const std::stop_token& stop)
{
    base::Result<ChosenPlan> chosen = choose(prepared, request, reporter, stop);
    if (!chosen) return base::forward(chosen);
    for (const std::string& note : chosen->notes) reporter.note(note);
    execution.plan = std::move(chosen->plan);
    if (const base::Status kept = keepPlan(request, prepared, execution.plan); !kept) return kept;
    execution.forecast = std::move(chosen->forecast);
    if (request.settings.verify != verify::Mode::None) {
        base::Result<schema::Verification> check =
            checkSample(prepared, execution.plan, scratchOf(request), request.check, reporter, stop);
        if (!check) return base::forward(check);
        execution.check = std::move(*check);
    }
    base::Result<executor::RunReport> run =
        executor::run(prepared.walk, prepared.analysis, execution.plan, prepared.inputs,
                      runOptions(request, prepared, execution), observer, stop, std::move(chosen->structure));
    reporter.progressEnded();
    if (!run) return base::forward(run);
    const bool complete = !run->shard || run->shard->complete;
    if (complete && request.settings.store != base::StoreType::Exact && run->narrowed.empty())
        run->notes.push_back(std::string("no value stored between stages is wider than ") +
                             base::nameOf(request.settings.store) + ": --store changes nothing");
    const bool looked = request.probe != nullptr;
    // With a journal, a GPU writes values to files that the costs take to stay there; rates are those of one device.
    const bool writesMore = request.journal != nullptr && execution.plan.device != "cpu";
    const bool several = executor::devicesOf(execution.plan.device).size() > 1;
    if (chosen->expected && !run->shard && !looked && !writesMore && !several)
        learnFrom(execution.plan.device, *chosen->expected, *run);
    execution.run = std::move(*run);
    return {};
}

// A branch that came out differently is an Input failure of a program with guards; a plan from a file fits one walk
// only.
bool mayRewalk(const base::Status& failed, const Prepared& prepared, const ExecutionRequest& request)
{
    return !failed && failed.error().code == base::ErrorCode::Input && request.plan.file.empty() &&
           request.given == nullptr && !(request.journal && request.journal->goesOn()) &&
           !(prepared.analysis.program.guards.empty() && prepared.analysis.maxIndexGuards.empty());
}

base::Status runWithGuards(Execution& execution, Prepared& prepared, const ExecutionRequest& request,
                           executor::Observer& observer, Reporter& reporter, const std::stop_token& stop)
{
    if (request.given == nullptr && request.journal && request.journal->walkedWhole()) {
        if (const base::Result<bool> walked = rewalk(prepared, reporter); !walked) return base::forward(walked);
        prepared.notes.emplace_back(rewalkNote);
    }
    base::Status done = runOnce(execution, prepared, request, observer, reporter, stop);
    if (!mayRewalk(done, prepared, request)) return done;
    const base::Result<bool> walked = rewalk(prepared, reporter);
    if (!walked) return base::forward(walked);
    if (!*walked) return done;
    prepared.notes.emplace_back(rewalkNote);
    reporter.note(prepared.notes.back());
    execution = {};
    return runOnce(execution, prepared, request, observer, reporter, stop);
}

verify::Request requestOf(const Execution& execution, const Prepared& prepared, const ExecutionRequest& wanted)
{
    verify::Request request = verifyRequest(prepared, scratchOf(wanted));
    request.plan = &execution.plan;
    for (const executor::StoredTensor& output : execution.run.outputs) request.outputs[output.name] = output.tensor;
    for (const executor::StoredTensor& stored : execution.run.checkpoints)
        request.checkpoints[stored.value] = stored.tensor;
    request.mode = wanted.settings.verify;
    request.store = execution.run.narrowed.empty() ? base::StoreType::Exact : wanted.settings.store;
    if (execution.notFinite) request.notFiniteOrigin = execution.notFinite->origin;
    return request;
}

// If inputs have changed, that is the error to report, whatever else failed.
base::Status orChanged(base::Status done, const Prepared& prepared, const ExecutionRequest& request)
{
    if (const base::Status same = prepared.files.unchanged(request.transientFiles); !same) return same;
    return done;
}

base::Status compareWithModel(Execution& execution, const Prepared& prepared, const ExecutionRequest& request,
                              Reporter& reporter, const std::stop_token& stop)
{
    base::Result<schema::Verification> verdict =
        verify::verify(requestOf(execution, prepared, request), progressOf(reporter), stop);
    reporter.progressEnded();
    if (!verdict) return base::forward(verdict);
    execution.verdict = std::move(*verdict);
    if (execution.verdict->verdict != schema::Verdict::Different) return {};
    const std::string overflow = overflowOf(prepared, *execution.verdict, scratchOf(request), stop);
    if (!overflow.empty()) execution.verdict->reason += "; on a sample, " + overflow;
    return {};
}

}  // namespace

verify::Request verifyRequest(const Prepared& prepared, const std::string& scratchFolder)
{
    verify::Request request;
    request.modelPath = prepared.model.info().path;
    request.model = &prepared.model;
    request.walk = &prepared.walk;
    request.analysis = &prepared.analysis;
    request.schema = &prepared.schema;
    request.inputs = &prepared.inputs;
    request.dataArguments = prepared.dataArguments;
    request.scratchFolder = scratchFolder;
    return request;
}

base::Status makeCacheFolder(const std::string& folder)
{
    std::error_code problem;
    if (!folder.empty()) std::filesystem::create_directories(folder, problem);
    if (!problem) return {};
    return base::fail(base::ErrorCode::Resources, "cannot create the folder " + folder + ": " + problem.message(),
                      "choose another folder for the cache, or leave it out");
}

base::Result<Execution> planAndRun(Prepared& prepared, const ExecutionRequest& request, executor::Observer& observer,
                                   Reporter& reporter, const std::stop_token& stop)
{
    if (const base::Status made = makeCacheFolder(request.settings.cache); !made) return base::forward(made);
    const executor::Cores cores(request.settings.threads.value_or(0));
    Execution execution;
    if (request.journal != nullptr) request.journal->expectSame(prepared.files);
    base::Status done = runWithGuards(execution, prepared, request, observer, reporter, stop);
    if (const base::Status same = orChanged(std::move(done), prepared, request); !same) return base::forward(same);
    return execution;
}

base::Status verifyRun(Execution& execution, const Prepared& prepared, const ExecutionRequest& request,
                       Reporter& reporter, const std::stop_token& stop)
{
    base::Result<std::optional<schema::NotFiniteRecord>> lost =
        examineOutputs(execution, prepared, request, reporter, stop);
    if (!lost) return base::forward(lost);
    execution.notFinite = std::move(*lost);
    base::Status compared;
    if (request.settings.verify != verify::Mode::None)
        compared = compareWithModel(execution, prepared, request, reporter, stop);
    return orChanged(std::move(compared), prepared, request);
}

base::Result<Execution> execute(Prepared& prepared, const ExecutionRequest& request, executor::Observer& observer,
                                Reporter& reporter, const std::stop_token& stop)
{
    base::Result<Execution> execution = planAndRun(prepared, request, observer, reporter, stop);
    if (!execution) return execution;
    if (const base::Status verified = verifyRun(*execution, prepared, request, reporter, stop); !verified)
        return base::forward(verified);
    return execution;
}

int exitCodeOf(const std::optional<schema::Verification>& verdict)
{
    const bool different = verdict && verdict->verdict == schema::Verdict::Different;
    return different ? static_cast<int>(base::ErrorCode::Different) : 0;
}

}  // namespace hopscope::pipeline
