#include "server/exports.h"

#include <algorithm>

#include "pipeline/execute.h"
#include "pipeline/export_folder.h"
#include "pipeline/text_file.h"
#include "protocol/settings.h"
#include "schema/documents.h"
#include "version.h"

namespace hopscope::engine {

namespace {

const std::string tool = std::string("hopscope ") + versionText;

pipeline::ModelOptions modelOf(const json::Reader& params)
{
    pipeline::ModelOptions options = modelOptionsOf(params);
    options.reassociate = false;  // exported code computes as the model does
    return options;
}

RequestReporter reporterOf(const Call& call, std::vector<std::string>& notes)
{
    return RequestReporter(call.progress, [&notes](const std::string& note) { notes.push_back(note); });
}

json::Value fileValue(const std::string& name, const std::string& text)
{
    json::Value item;
    item["name"] = name;
    item["text"] = text;
    return item;
}

// Describes a split to a human reader.
json::Value recordOf(const std::string& folder, const schema::Split& split)
{
    json::Value record;
    record["folder"] = folder;
    record["tool"] = split.tool;
    record["strategy"] = base::nameOf(split.strategy);
    record["stages"] = static_cast<std::int64_t>(split.stages.size());
    record["hashes"] = json::Value::object();
    for (const auto& [what, hash] : split.hashes) record["hashes"][what] = hash;
    record["inputs"] = json::Value::array();
    for (const schema::TensorSpec& spec : split.tensors)
        if (std::ranges::find(split.inputs, spec.value) != split.inputs.end()) record["inputs"].push(spec.name);
    record["verification"] = split.verification ? schema::verificationValue(*split.verification) : json::Value();
    return record;
}

}  // namespace

Outcome previewExport(const Document& document, const json::Reader& params)
{
    const pipeline::Prepared& prepared = document.prepared;
    if (prepared.analysis.refusal) return failed(*prepared.analysis.refusal);
    const base::Result<plan::Plan> plan =
        schema::planFrom(params.child("plan").value(), prepared.analysis, "plan", prepared.hashes);
    if (!plan) return failed(plan.error());
    const auto files = pipeline::previewExport(prepared, *plan, tool);
    if (!files) return failed(files.error());
    json::Value result;
    result["files"] = json::Value::array();
    for (const auto& [name, text] : *files) result["files"].push(fileValue(name, text));
    return result;
}

Outcome writeExport(const json::Reader& params, base::Result<pipeline::PartialFolder>& made, const std::string& folder,
                    const Call& call)
{
    pipeline::ExportRequest request{.model = modelOf(params),
                                    .plan = {},
                                    .settings = protocol::readSettings(params, base::Task::Export),
                                    .folder = {}};
    request.folder = params.get<std::string>("folder");
    request.tool = tool;
    request.plan.file = folder + "/exported-plan.json";
    if (!params.child("plan").value().isObject()) params.child("plan").refuse("must be a plan");
    if (!params.ok()) return invalid(params);
    const base::Status kept =
        pipeline::writeTextFile(json::write(params.child("plan").value(), true), request.plan.file);
    if (!kept) return failed(kept.error());
    std::vector<std::string> notes;
    RequestReporter reporter = reporterOf(call, notes);
    executor::Observer silent;
    if (!made) return failed(made.error());
    const base::Result<schema::Split> split = pipeline::exportFolder(request, *made, silent, reporter, call.stop);
    if (!split) return failed(split.error());
    json::Value record = recordOf(request.folder, *split);
    record["notes"] = json::Value(notes);
    return record;
}

Outcome readExport(const json::Reader& params)
{
    const auto folder = params.get<std::string>("folder");
    if (!params.ok()) return invalid(params);
    const base::Result<schema::Split> split = pipeline::readExported(folder);
    if (!split) return failed(split.error());
    return recordOf(folder, *split);
}

Outcome checkExport(const json::Reader& params, const std::string& folder, const Call& call)
{
    const pipeline::ModelOptions model = modelOf(params);
    const auto exported = params.get<std::string>("folder");
    if (!params.ok()) return invalid(params);
    std::vector<std::string> notes;
    RequestReporter reporter = reporterOf(call, notes);
    base::Result<pipeline::Prepared> prepared = pipeline::prepare(model, false, reporter);
    if (!prepared) return failed(prepared.error());
    pipeline::hashInputs(*prepared, reporter);
    if (const base::Status holds = pipeline::checkExported(*prepared, exported, folder, reporter, call.stop); !holds)
        return failed(holds.error());
    executor::Observer silent;
    const pipeline::ExecutionRequest request{.plan = {.file = exported + "/plan.json"},
                                             .settings = protocol::readSettings(params, base::Task::Export),
                                             .folder = folder};
    const auto execution = pipeline::execute(*prepared, request, silent, reporter, call.stop);
    if (!execution) return failed(execution.error());
    json::Value result;
    result["verification"] = execution->verdict ? schema::verificationValue(*execution->verdict) : json::Value();
    result["notes"] = json::Value(notes);
    return result;
}

}  // namespace hopscope::engine
