#include "pipeline.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "analysis/analyse.h"
#include "analysis/sample.h"
#include "base/units.h"
#include "executor/executor.h"
#include "graph/dataset.h"
#include "schema/documents.h"
#include "schema/inspect.h"

namespace hopscope::engine {

namespace {

using analysis::InputRole;
using analysis::InputSchema;
using Overrides = std::map<std::string, InputRole>;

constexpr std::int64_t wholeWalkRows = 50'000;
constexpr std::int64_t largestText = std::int64_t{64} << 20;

base::Result<Overrides> parseRoles(const std::vector<std::string>& texts)
{
    Overrides roles;
    for (const std::string& text : texts) {
        base::Result<std::pair<std::string, InputRole>> role = analysis::parseRole(text);
        if (!role) return base::forward(role);
        roles.insert_or_assign(role->first, role->second);
    }
    return roles;
}

base::Result<InputSchema> inferRoles(const base::TensorMap& inputs, const Overrides& roles,
                                     const loader::ModelInfo& info)
{
    std::set<std::string> parameters;
    for (const loader::Parameter& parameter : info.parameters) parameters.insert(parameter.name);
    return analysis::inferSchema(inputs, roles, parameters);
}

// The tensors that forward takes; the rest is ignored with a note.
base::Result<base::TensorMap> bindInputs(const loader::Model& model, const base::TensorMap& data,
                                         std::vector<std::string>& notes)
{
    const base::Result<loader::Binding> binding = loader::bind(model, data);
    if (!binding) return base::forward(binding);
    base::TensorMap used;
    for (const std::string& key : binding->used)
        if (const auto it = data.find(key); it != data.end()) used.insert(*it);
    notes.insert(notes.end(), binding->notes.begin(), binding->notes.end());
    return used;
}

analysis::Lint modelLint(std::string code, std::string message)
{
    return {std::move(code), std::move(message), {}, false};
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
    return "the file names the device " + text + " in " + std::to_string(places) +
           (places == 1 ? " place" : " places") +
           ", as models do that were exported on a GPU: whichever device computes takes its place; the file is "
           "unchanged";
}

// What the file itself gives away, beside what the operators do.
void addModelLints(const loader::ModelInfo& info, analysis::Analysis& analysis)
{
    if (!info.repairs.empty()) {
        const loader::Repair& first = info.repairs.front();
        const std::string place = first.record.substr(first.record.rfind('/') + 1) + ":" + std::to_string(first.line);
        const std::string lines =
            info.repairs.size() == 1 ? "a declaration" : std::to_string(info.repairs.size()) + " declarations";
        analysis.lints.push_back(modelLint("repaired", "torch.jit.load refuses this file; loaded with " + lines +
                                                           " added in memory (" + place + "); the file is unchanged"));
    }
    if (!info.devices.empty()) analysis.lints.push_back(modelLint("baked-device", devicesText(info)));
    for (const std::string& stub : info.stubs)
        analysis.lints.push_back(modelLint("custom-op", stub + " is known by name only; a call of it cannot be run"));
    for (const loader::Parameter& parameter : info.parameters)
        if (parameter.notFinite > 0)
            analysis.lints.push_back(
                modelLint("nan-weights", parameter.name + " holds " +
                                             base::formatCount(static_cast<double>(parameter.notFinite)) +
                                             " NaN or infinite numbers"));
}

analysis::Analysis refusedAnalysis(const base::Error& error)
{
    analysis::Analysis refused;
    refused.refusal = error;
    refused.lints.push_back({"no-split", base::describe(error), {}, true});
    return refused;
}

std::string rolesText(const InputSchema& schema)
{
    std::string text;
    for (const auto& [name, role] : schema.roles)
        text += (text.empty() ? "" : " ") + name + "=" + schema::roleText(role);
    return text;
}

bool smallEnoughToWalk(const InputSchema& schema)
{
    return std::ranges::all_of(schema.sizes, [](const auto& size) { return size.second <= wholeWalkRows; });
}

base::Status walkAndAnalyse(Prepared& prepared, bool tolerant)
{
    const bool whole = prepared.hasData() && smallEnoughToWalk(prepared.schema);
    base::Result<loader::Walk> walk = loader::walk(prepared.model, prepared.sample, whole ? &prepared.inputs : nullptr);
    if (!walk && !(tolerant && walk.error().code == base::ErrorCode::Unsupported)) return base::forward(walk);
    if (walk) prepared.walk = std::move(*walk);
    prepared.analysis =
        walk ? analysis::analyse(prepared.walk.program, prepared.schema) : refusedAnalysis(walk.error());
    addModelLints(prepared.model.info(), prepared.analysis);
    if (prepared.hasData()) prepared.sizes = schema::tableSizes(prepared.analysis, prepared.schema.sizes);
    return {};
}

// Without data: a sample that forward accepts, and its roles.
base::Status sampleWithoutData(Prepared& prepared, const Overrides& roles)
{
    base::Result<base::TensorMap> sample = loader::proposeSample(prepared.model);
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
    base::Result<base::TensorMap> inputs = bindInputs(prepared.model, *data, prepared.notes);
    if (!inputs) return base::forward(inputs);
    base::Result<InputSchema> schema = inferRoles(*inputs, roles, prepared.model.info());
    if (!schema) return base::forward(schema);
    base::Result<base::TensorMap> sample = analysis::cutSample(*inputs, *schema);
    if (!sample) return base::forward(sample);
    prepared.inputs = std::move(*inputs);
    prepared.schema = std::move(*schema);
    prepared.sample = std::move(*sample);
    return {};
}

}  // namespace

base::Result<Prepared> prepare(const ModelOptions& options, bool tolerant, Session& session)
{
    base::Result<Overrides> roles = parseRoles(options.roles);
    if (!roles) return base::forward(roles);
    session.console.progress({"loading the model", 0, 0});
    base::Result<loader::Model> model = loader::load(options.model);
    if (!model) return base::forward(model);
    Prepared prepared{std::move(*model), {}, {}, {}, {}, {}, {}, {}, options.data, {}};
    session.console.progress({"reading the data", 0, 0});
    const base::Status sampled =
        options.data.empty() ? sampleWithoutData(prepared, *roles) : sampleFromData(prepared, options.data, *roles);
    if (!sampled) return base::forward(sampled);
    session.console.progress({"analysing", 0, 0});
    if (const base::Status done = walkAndAnalyse(prepared, tolerant); !done) return base::forward(done);
    prepared.hashes["model"] = prepared.model.info().hash;
    prepared.hashes["roles"] = rolesText(prepared.schema);
    prepared.notes.insert(prepared.notes.end(), prepared.schema.notes.begin(), prepared.schema.notes.end());
    session.console.clearProgress();
    return prepared;
}

base::Result<bool> rewalk(Prepared& prepared, Session& session)
{
    if (!smallEnoughToWalk(prepared.schema)) return false;
    session.console.progress({"analysing the whole graph", 0, 0});
    prepared.sample = prepared.inputs;
    if (const base::Status done = walkAndAnalyse(prepared, false); !done) return base::forward(done);
    session.console.clearProgress();
    return true;
}

void hashInputs(Prepared& prepared, Session& session)
{
    session.console.progress({"hashing the data", 0, 0});
    prepared.hashes["data"] = graph::hashData(prepared.inputs);
    session.console.clearProgress();
}

base::Result<std::vector<std::string>> finiteNotes(const Prepared& prepared, executor::NanPolicy policy)
{
    std::vector<std::string> notes;
    for (const auto& [name, count] : graph::countNotFinite(prepared.inputs)) {
        const std::string sentence = name + " holds " + base::formatCount(static_cast<double>(count)) +
                                     " NaN or infinite number" + (count == 1 ? "" : "s");
        if (policy == executor::NanPolicy::Refuse)
            return base::fail(base::ErrorCode::Input, sentence, "clean the data, or run with --nan propagate",
                              prepared.inputs.at(name).origin);
        notes.push_back(sentence);
    }
    return notes;
}

base::Status checkFinite(Prepared& prepared, executor::NanPolicy policy)
{
    const base::Result<std::vector<std::string>> notes = finiteNotes(prepared, policy);
    if (!notes) return base::forward(notes);
    prepared.notes.insert(prepared.notes.end(), notes->begin(), notes->end());
    return {};
}

base::Result<std::string> readText(const std::string& path)
{
    std::error_code problem;
    const bool regular = std::filesystem::is_regular_file(path, problem);
    if (!regular) return base::fail(base::ErrorCode::Input, path + ": no such file");
    if (static_cast<std::int64_t>(std::filesystem::file_size(path, problem)) > largestText)
        return base::fail(base::ErrorCode::Input, path + ": too large for a document", "the limit is 64 MiB");
    std::ifstream file(path, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (!file.good() && !file.eof()) return base::fail(base::ErrorCode::Input, path + ": cannot be read");
    return text;
}

}  // namespace hopscope::engine
