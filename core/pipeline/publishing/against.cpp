#include "pipeline/publishing/against.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/units.h"
#include "graph/dataset.h"
#include "graph/formats.h"
#include "pipeline/debugging/debugging.h"
#include "pipeline/running/execute.h"
#include "verify/against.h"

namespace hopscope::pipeline {

namespace {

namespace fs = std::filesystem;
using schema::Comparison;

// A model with its side of the comparison.
struct Party {
    std::optional<Prepared> prepared;  // none: a file of outputs
    verify::Request request;
    verify::Side side;
};

base::Status runStaged(Party& party, const AgainstRequest& request, const std::string& folder,
                       executor::Observer& observer, Reporter& reporter, const std::stop_token& stop)
{
    std::error_code problem;
    fs::create_directories(folder, problem);
    ExecutionRequest wanted{.plan = {}, .settings = request.settings, .folder = folder};
    wanted.settings.verify = base::VerifyMode::None;
    hashInputs(*party.prepared, reporter);
    base::Result<Execution> run = planAndRun(*party.prepared, wanted, observer, reporter, stop);
    if (!run) return base::forward(run);
    for (const executor::StoredTensor& output : run->run.outputs) party.side.outputs[output.name] = output.tensor;
    party.side.by = schema::OutputsBy::Staged;
    return {};
}

tl::unexpected<base::Error> tooLarge(const Party& party, const verify::ForwardNeed& need)
{
    const auto bytes = [](std::int64_t count) { return base::formatBytes(static_cast<double>(count)); };
    return base::fail(base::ErrorCode::Resources,
                      party.side.name + ": the unsplit model needs about " + bytes(std::max(need.needed, need.memory)) +
                          " of memory, where " + bytes(need.memory) +
                          " may be used, and it cannot be split: " + party.prepared->analysis.refusal->message,
                      "compare on a smaller graph");
}

base::Status compute(Party& party, const AgainstRequest& request, const std::string& folder,
                     executor::Observer& observer, Reporter& reporter, const std::stop_token& stop)
{
    if (!party.prepared) return {};
    const verify::ForwardNeed need = verify::forwardNeed(party.request);
    if (need.fits()) {
        reporter.progress({"computing " + party.side.name});
        base::Result<std::optional<base::TensorMap>> outputs = verify::forwardOutputs(party.request, stop);
        reporter.progressEnded();
        if (!outputs) return base::forward(outputs);
        if (*outputs) {
            party.side.outputs = std::move(**outputs);
            return {};
        }
    }
    if (party.prepared->analysis.refusal) return tooLarge(party, need);
    return runStaged(party, request, folder, observer, reporter, stop);
}

base::Status openModel(Party& party, const ModelOptions& options, const AgainstRequest& request, Reporter& reporter,
                       const std::stop_token& stop)
{
    base::Result<Prepared> prepared = prepare(options, false, reporter);
    if (!prepared) return base::forward(prepared);
    party.prepared.emplace(std::move(*prepared));
    if (const base::Status settled = settleBranches(*party.prepared, request.folder, reporter, stop); !settled)
        return settled;
    party.request = verifyRequest(*party.prepared, request.folder);
    party.request.memoryLimit = request.memory;
    party.side.request = &party.request;
    tellNotes(*party.prepared, reporter);
    return {};
}

// As --data takes the outputs of a model that are in a file; nullopt: it is no such file.
base::Result<std::optional<std::string>> outputsIn(const std::string& path)
{
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return path;
    const base::Result<graph::MappedFile> file = graph::mapFile(path);
    if (!file) return base::forward(file);
    const graph::Format* const format = graph::formatOf(*file);
    if (!format) return std::nullopt;
    return format->holds == graph::Holds::Array ? "out=" + path : path;
}

base::Status openOther(Party& party, const AgainstRequest& request, Reporter& reporter, const std::stop_token& stop)
{
    const base::Result<std::optional<std::string>> file = outputsIn(request.against);
    if (!file) return base::forward(file);
    if (!*file) {
        ModelOptions options = request.model;
        options.model = request.against;
        return openModel(party, options, request, reporter, stop);
    }
    base::Result<base::TensorMap> outputs = graph::readData({**file});
    if (!outputs) return base::forward(outputs);
    party.side.outputs = std::move(*outputs);
    party.side.by = schema::OutputsBy::File;
    return {};
}

// Also the stage of a plan of the first model that computes it.
void addStage(schema::DifferenceRecord& record, const plan::Plan& plan)
{
    for (const plan::Stage& stage : plan.stages)
        for (const plan::Loop& loop : stage.loops)
            for (const auto* const steps : {&loop.steps, &loop.reductions})
                if (!record.stage && std::ranges::find(*steps, record.place.op, &plan::Step::op) != steps->end())
                    record.stage = stage.index;
}

base::Status addStages(schema::DivergenceRecord& found, Prepared& prepared, const DebugOptions& options,
                       const std::string& folder, Reporter& reporter, const std::stop_token& stop)
{
    if (prepared.analysis.refusal) return {};
    const base::Result<plan::Plan> plan = debugPlan(prepared, options, folder, reporter, stop);
    if (!plan) return base::forward(plan);
    for (auto* const record : {&found.divergence, &found.nodes})
        if (*record) addStage(**record, *plan);
    return {};
}

// "aten::linear in convs.1.lin_l (linear.py:127)".
std::string placeOf(const schema::OperatorRecord& place)
{
    std::string text = place.kind;
    if (!place.module.empty()) text += " in " + place.module;
    if (!place.source.empty()) text += " (" + place.source + ")";
    return text;
}

// The first operator that one file alone has, before the operators at which numbers differ, if there are any.
std::string onlyBefore(const schema::DivergenceRecord& found)
{
    const auto first = [](const std::vector<schema::OperatorRecord>& only, const std::string& file, ir::OpId end) {
        const bool before = !only.empty() && (!end.valid() || only.front().op < end);
        return before ? placeOf(only.front()) + ", which only " + file + " has" : std::string();
    };
    const ir::OpId end = found.divergence ? found.divergence->place.op : schema::OpOrNone();
    const ir::OpId otherEnd = found.divergence ? found.divergence->other : schema::OpOrNone();
    const std::string own = first(found.onlyFirst, found.first, end);
    return own.empty() ? first(found.onlySecond, found.second, otherEnd) : own;
}

// The reason ends with the place; without one, that is a reason of its own.
void addPlace(Comparison& comparison)
{
    const schema::DivergenceRecord& found = *comparison.operators;
    const std::string only = onlyBefore(found);
    if (!found.divergence && only.empty()) {
        comparison.notLocated = "all operators that occur in both files agree";
        return;
    }
    comparison.reason += "; the files diverge at " + (only.empty() ? placeOf(found.divergence->place) : only);
    if (!found.divergence) return;
    if (!only.empty()) comparison.reason += ", and numbers differ first at " + placeOf(found.divergence->place);
    if (found.divergence->stage) comparison.reason += ", in stage " + std::to_string(found.divergence->stage->number);
}

// Both models, with all their values, in this process.
base::Status locate(Party& first, const Party& second, const AgainstRequest& request, Reporter& reporter,
                    const std::stop_token& stop, Comparison& comparison)
{
    if (!second.prepared) {
        comparison.notLocated = second.side.name + " contains outputs alone";
        return {};
    }
    const verify::ForwardNeed need = verify::forwardNeed(first.request), other = verify::forwardNeed(second.request);
    if (need.needed + other.needed > need.memory) {
        comparison.notLocated = "the two unsplit models do not fit into memory together";
        return {};
    }
    const DebugOptions options{.plan = {}, .against = request.against, .batch = {}, .tolerance = comparison.tolerance};
    auto found = compareModels(*first.prepared, *second.prepared, options, request.folder, reporter, stop);
    if (!found) return base::forward(found);
    comparison.operators = std::move(*found);
    const base::Status staged =
        addStages(*comparison.operators, *first.prepared, options, request.folder, reporter, stop);
    if (staged) addPlace(comparison);
    return staged;
}

base::Status unchanged(const Party& first, const Party& second)
{
    for (const Party* const party : {&first, &second})
        if (party->prepared)
            if (const base::Status same = party->prepared->files.unchanged(); !same) return same;
    return {};
}

base::Result<Comparison> compareParties(Party& first, Party& second, const AgainstRequest& request,
                                        executor::Observer& observer, Reporter& reporter, const std::stop_token& stop)
{
    for (Party* const party : {&first, &second}) {
        const std::string folder = request.folder + (party == &first ? "/first" : "/second");
        if (const base::Status done = compute(*party, request, folder, observer, reporter, stop); !done)
            return base::forward(done);
    }
    base::Result<Comparison> comparison = verify::compareSides(first.side, second.side, stop);
    if (!comparison || comparison->verdict != schema::Verdict::Different) return comparison;
    if (const base::Status located = locate(first, second, request, reporter, stop, *comparison); !located)
        return base::forward(located);
    return comparison;
}

}  // namespace

base::Result<Comparison> compareAgainst(const AgainstRequest& request, executor::Observer& observer, Reporter& reporter,
                                        const std::stop_token& stop)
{
    Party first, second;
    first.side.name = request.model.model;
    second.side.name = request.against;
    if (const base::Status opened = openModel(first, request.model, request, reporter, stop); !opened)
        return base::forward(opened);
    if (const base::Status opened = openOther(second, request, reporter, stop); !opened) return base::forward(opened);
    const auto start = std::chrono::steady_clock::now();
    base::Result<Comparison> comparison = compareParties(first, second, request, observer, reporter, stop);
    if (const base::Status same = unchanged(first, second); !same) return base::forward(same);
    if (comparison)
        comparison->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return comparison;
}

int exitCodeOf(const Comparison& comparison)
{
    return comparison.verdict == schema::Verdict::Different ? static_cast<int>(base::ErrorCode::Different) : 0;
}

}  // namespace hopscope::pipeline
