#include "pipeline/opening/prepare.h"

#include <algorithm>
#include <optional>

#include "analysis/analyse.h"
#include "base/units.h"
#include "executor/forecast/predict.h"
#include "executor/memory.h"
#include "executor/unsplit.h"
#include "graph/dataset.h"
#include "loader/methods.h"
#include "pipeline/files/home.h"
#include "pipeline/opening/model_roles.h"
#include "pipeline/opening/trust.h"
#include "pipeline/opening/walk_sample.h"
#include "schema/documents.h"
#include "schema/inspect.h"

namespace hopscope::pipeline {

namespace {

using analysis::InputSchema;

// The tensors that forward takes; the rest is ignored with a note.
base::Result<base::TensorMap> bindInputs(Prepared& prepared, const base::TensorMap& data)
{
    const base::Result<loader::Binding> binding = loader::bind(prepared.model, data);
    if (!binding) return base::forward(binding);
    base::TensorMap used;
    for (const std::string& key : binding->used)
        if (const auto it = data.find(key); it != data.end()) used.insert(*it);
    prepared.notes.insert(prepared.notes.end(), binding->ignored.begin(), binding->ignored.end());
    prepared.minorNotes.insert(binding->ignored.begin(), binding->ignored.end());
    return used;
}

analysis::Lint modelLint(std::string code, std::string message, std::string hint = {})
{
    return {
        .code = std::move(code), .message = std::move(message), .op = {}, .blocking = false, .hint = std::move(hint)};
}

// "the file names cuda:0 in 3 places: ..."
std::string devicesText(const loader::ModelInfo& info)
{
    std::string text;
    int places = 0;
    for (const auto& [name, count] : info.devices) {
        text += (text.empty() ? "" : ", ") + name;
        places += count;
    }
    return "the file names " + text + " in " + std::to_string(places) + (places == 1 ? " place" : " places") +
           ", as models exported on a GPU do; the executing device is used instead; the file is "
           "unchanged";
}

// "x.size(0) == 20": the numbers of rows that were fixed when the program was exported.
std::vector<std::string> fixedRows(const loader::ModelInfo& info, const analysis::Analysis& analysis)
{
    std::vector<std::string> fixed;
    for (const ir::NamedValue& input : analysis.program.inputs)
        for (const loader::SizeLimit& limit : info.limits.sizes)
            if (limit.place.argument == input.name && limit.least == limit.most && analysis.hasRows(input.value) &&
                limit.place.dim == analysis.rowDim(input.value))
                fixed.push_back(describe(limit.place) + " == " + std::to_string(limit.least));
    return fixed;
}

// "x.size(0) % 2 == 0", without tables of the same rows.
std::vector<std::string> guardsOf(const loader::ModelInfo& info)
{
    std::vector<std::string> guards;
    for (const loader::SizeGuard& guard : info.limits.guards)
        if (!guard.condition || !loader::isEqualityOfSizes(*guard.condition)) guards.push_back(guard.text);
    return guards;
}

// Adds a lint about graphs that the program does not take.
void addSizeLint(const loader::ModelInfo& info, analysis::Analysis& analysis)
{
    constexpr std::size_t most = 4;
    const std::vector<std::string> fixed = fixedRows(info, analysis), guards = guardsOf(info);
    std::vector<std::string> all = fixed;
    all.insert(all.end(), guards.begin(), guards.end());
    std::string text;
    for (std::size_t i = 0; i < std::min(most, all.size()); ++i) text += (i == 0 ? "" : ", ") + all[i];
    if (all.size() > most) text += ", and " + std::to_string(all.size() - most) + " more";
    if (!all.empty())
        analysis.lints.push_back(modelLint("size-guard",
                                           "the program was exported for graphs with " + text + "; others are refused",
                                           fixed.empty() ? "" : loader::dynamicSizesHint));
}

// Adds the lints that follow from the file itself rather than from its operators.
void addModelLints(const loader::ModelInfo& info, analysis::Analysis& analysis)
{
    if (!info.repairs.empty()) {
        const loader::Repair& first = info.repairs.front();
        const std::string place = first.record.substr(first.record.rfind('/') + 1) + ":" + std::to_string(first.line);
        const std::string lines =
            info.repairs.size() == 1 ? "a declaration" : std::to_string(info.repairs.size()) + " declarations";
        analysis.lints.push_back(modelLint("repaired", "torch.jit.load refuses this file; it was loaded with " + lines +
                                                           " added in memory (" + place + "); the file is unchanged"));
    }
    if (!info.devices.empty()) analysis.lints.push_back(modelLint("baked-device", devicesText(info)));
    addSizeLint(info, analysis);
    for (const std::string& stub : info.stubs)
        analysis.lints.push_back(
            modelLint("custom-op", stub + " is known by name only; calls to it cannot be executed"));
    for (const loader::Parameter& parameter : info.parameters)
        if (parameter.notFinite > 0)
            analysis.lints.push_back(modelLint("nan-weights",
                                               parameter.name + " holds NaN or infinite numbers (" +
                                                   base::formatCount(static_cast<double>(parameter.notFinite)) +
                                                   "), which spread to all values computed from them",
                                               "check the training, and use weights from before they appeared"));
}

// The rows that masks select among those of the data. Without them some sizes stay unknown, and nothing else is lost.
std::map<ir::SpaceId, std::int64_t> selectedRows(const Prepared& prepared)
{
    const auto& spaces = prepared.analysis.tables.spaces;
    const bool any = std::ranges::any_of(spaces, [](const auto& s) { return s.kind == analysis::SpaceKind::Filter; });
    if (!any || prepared.analysis.refusal) return {};
    const base::Result<EngineHome> home = EngineHome::make();
    if (!home) return {};
    auto counted = executor::countSelected(prepared.walk, prepared.analysis, prepared.inputs, home->path(), {});
    return counted ? std::move(*counted) : std::map<ir::SpaceId, std::int64_t>{};
}

void take(Prepared& prepared, analysis::Analysis analysis)
{
    prepared.analysis = std::move(analysis);
    addModelLints(prepared.model.info(), prepared.analysis);
    if (prepared.hasData())
        prepared.sizes = schema::tableSizes(prepared.analysis, prepared.schema.sizes, selectedRows(prepared));
}

// Finds a sample that forward accepts, and its roles, where there is no data.
base::Status sampleWithoutData(Prepared& prepared, const Overrides& roles, Reporter& reporter)
{
    base::Result<base::TensorMap> sample = loader::proposeSample(prepared.model, slownessTo(reporter));
    if (!sample) return base::forward(sample);
    base::Result<InputSchema> schema = inferRoles(*sample, roles, prepared.model.info());
    if (!schema) return base::forward(schema);
    prepared.sample = std::move(*sample);
    prepared.schema = std::move(*schema);
    return {};
}

base::Status sampleFromData(Prepared& prepared, const std::vector<std::string>& arguments, const Overrides& roles)
{
    const base::Result<base::TensorMap> data = graph::readData(arguments);
    if (!data) return base::forward(data);
    for (const auto& [name, view] : *data) prepared.files.addMapped(view.data);
    base::Result<base::TensorMap> inputs = bindInputs(prepared, *data);
    if (!inputs) return base::forward(inputs);
    if (const base::Status cut = cutByRoles(prepared, *inputs, roles); !cut) return cut;
    prepared.inputs = std::move(*inputs);
    return {};
}

Prepared preparedFor(loader::Model model, const ModelOptions& options)
{
    Prepared prepared{.model = std::move(model),
                      .inputs = {},
                      .schema = {},
                      .sample = {},
                      .walk = {},
                      .analysis = {},
                      .sizes = {},
                      .hashes = {},
                      .dataArguments = options.data,
                      .files = {},
                      .notes = {},
                      .minorNotes = {},
                      .reassociate = options.reassociate};
    prepared.hashes["model"] = prepared.model.info().hash;
    return prepared;
}

base::Result<Prepared> loadModel(const ModelOptions& options, Reporter& reporter)
{
    executor::installCpuAllocator();  // before the first weight, so that all of them count
    reporter.progress({"loading the model", 0, 0});
    graph::GivenFiles files;
    files.add(options.model);
    const bool trusted = options.trusted || trustedByPlace(options.model);
    base::Result<loader::Model> model = loader::load(options.model, trusted ? loader::Sha256::No : loader::Sha256::Yes);
    if (!model) return base::forward(model);
    Prepared prepared = preparedFor(std::move(*model), options);
    prepared.files = std::move(files);
    return prepared;
}

// Untrusted: the code of the file must not be run. An exported program holds none.
base::Status runnable(const loader::ModelInfo& info)
{
    return info.exported || info.sha256.empty() ? base::Status() : trustedByContent(info.path, info.sha256);
}

base::Status sampleModel(Prepared& prepared, const ModelOptions& options, Reporter& reporter)
{
    const base::Result<Overrides> roles = analysis::parseRoles(options.roles);
    if (!roles) return base::forward(roles);
    reporter.progress({"reading the data", 0, 0});
    base::Status sampled = options.data.empty() ? sampleWithoutData(prepared, *roles, reporter)
                                                : sampleFromData(prepared, options.data, *roles);
    if (!sampled) return sampled;
    noteRoles(prepared);
    return {};
}

// Describes the model by its code, with the reason why it could not be analysed further.
void takeCode(Prepared& prepared, const base::Error& why)
{
    const ir::Program code = loader::readCode(prepared.model, prepared.sample, why.where);
    prepared.fromCode = true;
    take(prepared, analysis::unanalysed(code, prepared.schema, why));
}

// Describes a model without a forward, or with an unsupported one, by its methods, with the reason. A model that cannot
// be loaded at all remains refused.
base::Result<Prepared> byItsMethods(const ModelOptions& options, const base::Error& why, Reporter& reporter)
{
    base::Result<loader::Model> model = loader::loadMethods(options.model);
    if (!model) return tl::unexpected(why);
    Prepared prepared = preparedFor(std::move(*model), options);
    takeCode(prepared, why);
    reporter.progressEnded();
    return prepared;
}

}  // namespace

base::Result<Prepared> openModel(const ModelOptions& options, Reporter& reporter)
{
    base::Result<Prepared> prepared = loadModel(options, reporter);
    if (!prepared) return prepared;
    if (const base::Status may = runnable(prepared->model.info()); !may) return base::forward(may);
    if (const base::Status sampled = sampleModel(*prepared, options, reporter); !sampled) return base::forward(sampled);
    return prepared;
}

base::Status walkModel(Prepared& prepared, Reporter& reporter)
{
    reporter.progress({"analysing", 0, 0});
    base::Status walked = walkSample(prepared, reporter);
    executor::dropCpuCache();  // a run has other uses for it
    return walked;
}

void analyseModel(Prepared& prepared, Reporter& reporter)
{
    analyseSample(prepared);
    if (prepared.analysis.refusal && prepared.hasData()) readRolesOfModel(prepared, reporter);
    take(prepared, std::move(prepared.analysis));
    reporter.progressEnded();
}

base::Result<Prepared> prepare(const ModelOptions& options, bool tolerant, Reporter& reporter)
{
    base::Result<Prepared> prepared = loadModel(options, reporter);
    if (!prepared && tolerant && prepared.error().code == base::ErrorCode::Unsupported)
        return byItsMethods(options, prepared.error(), reporter);
    if (!prepared) return prepared;
    const base::Status may = runnable(prepared->model.info());
    const bool guessed = options.data.empty();  // the sample, by running forward on guesses
    base::Status ready = may || !guessed ? sampleModel(*prepared, options, reporter) : may;
    const bool sampled = ready.has_value();
    if (ready) ready = may;
    if (ready) ready = walkModel(*prepared, reporter);
    if (ready) {
        analyseModel(*prepared, reporter);
        return prepared;
    }
    // A forward that fails on the sample is described like one that cannot be recorded or must not be run.
    const base::ErrorCode code = ready.error().code;
    const bool shown = code == base::ErrorCode::Unsupported || code == base::ErrorCode::Untrusted ||
                       (sampled && code == base::ErrorCode::Input);
    if (!tolerant || !shown) return base::forward(ready);
    takeCode(*prepared, ready.error());
    reporter.progressEnded();
    return prepared;
}

base::Result<bool> rewalk(Prepared& prepared, Reporter& reporter)
{
    if (!smallEnoughToWalk(prepared.schema)) return false;
    reporter.progress({"analysing the whole graph", 0, 0});
    prepared.sample = prepared.inputs;
    if (const base::Status walked = walkSample(prepared, reporter); !walked) return base::forward(walked);
    analyseModel(prepared, reporter);
    return true;
}

base::Status settleBranches(Prepared& prepared, const std::string& scratchFolder, Reporter& reporter,
                            std::stop_token stop)
{
    const bool guarded = !prepared.analysis.program.guards.empty() || !prepared.analysis.maxIndexGuards.empty();
    if (!prepared.hasData() || prepared.analysis.refusal || !guarded) return {};
    forecast::Predictor predictor(prepared.walk, prepared.analysis, prepared.inputs, scratchFolder);
    const base::Status checked = predictor.checkGuards(std::move(stop));
    if (checked || checked.error().code != base::ErrorCode::Input) return checked;
    const base::Result<bool> walked = rewalk(prepared, reporter);
    if (!walked) return base::forward(walked);
    if (*walked) prepared.notes.emplace_back(rewalkNote);
    return {};
}

void hashInputs(Prepared& prepared, Reporter& reporter)
{
    reporter.progress({"hashing the data", 0, 0});
    prepared.hashes["data"] = graph::hashData(prepared.inputs);
    reporter.progressEnded();
}

base::Result<std::vector<std::string>>
finiteNotes(const Prepared& prepared, const std::map<std::string, std::int64_t>& notFinite, base::NanPolicy policy)
{
    std::vector<std::string> notes;
    for (const auto& [name, count] : notFinite) {
        const std::string sentence = name + " holds " + base::formatCount(static_cast<double>(count)) +
                                     " NaN or infinite number" + (count == 1 ? "" : "s");
        if (policy == base::NanPolicy::Refuse)
            return base::fail(base::ErrorCode::Input, sentence, "clean the data, or run with --nan propagate",
                              prepared.inputs.at(name).origin);
        notes.push_back(sentence);
    }
    return notes;
}

base::Status examineInputs(Prepared& prepared, base::NanPolicy policy, Reporter& reporter)
{
    reporter.progress({"hashing the data", 0, 0});
    const graph::DataFacts facts = graph::examine(prepared.inputs);
    reporter.progressEnded();
    prepared.hashes["data"] = facts.hash;
    const base::Result<std::vector<std::string>> notes = finiteNotes(prepared, facts.notFinite, policy);
    if (!notes) return base::forward(notes);
    prepared.notes.insert(prepared.notes.end(), notes->begin(), notes->end());
    return {};
}

void noteReassociations(Prepared& prepared)
{
    for (const analysis::Lint& lint : prepared.analysis.lints)
        if (lint.code == "reassociated") prepared.notes.push_back(lint.message);
}

void tellNotes(const Prepared& prepared, Reporter& reporter)
{
    for (const std::string& note : prepared.notes)
        if (prepared.minorNotes.contains(note)) reporter.minorNote(note);
        else reporter.note(note);
}

}  // namespace hopscope::pipeline
