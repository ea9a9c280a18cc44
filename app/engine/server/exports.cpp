#include "server/exports.h"

#include <algorithm>

#include "pipeline/files/text_file.h"
#include "pipeline/publishing/export_folder.h"
#include "pipeline/running/execute.h"
#include "version.h"

namespace hopscope::engine {

namespace {

const std::string tool = std::string("hopscope ") + versionText;

RequestReporter reporterOf(const Call& call, std::vector<std::string>& notes)
{
    return RequestReporter(call.progress, [&notes](const std::string& note) { notes.push_back(note); });
}

// Describes a split to a human reader.
protocol::ExportRecord recordOf(const std::string& folder, const schema::Split& split)
{
    protocol::ExportRecord record{.folder = folder, .tool = split.tool, .strategy = split.strategy};
    record.stages = std::ssize(split.stages);
    record.hashes = {split.hashes.begin(), split.hashes.end()};
    for (const schema::TensorSpec& spec : split.tensors)
        if (std::ranges::find(split.inputs, spec.value) != split.inputs.end()) record.inputs.push_back(spec.name);
    record.verification = split.verification;
    return record;
}

}  // namespace

Outcome answer(const protocol::PreviewExport& query, const Work& work)
{
    const base::Result<plan::Plan> plan = planOf(work.document, query.plan);
    if (!plan) return failed(plan.error());
    const auto files = pipeline::previewExport(work.document.prepared, *plan, tool);
    if (!files) return failed(files.error());
    protocol::ExportPreview preview;
    for (const auto& [name, text] : *files) preview.files.push_back({name, text});
    return protocol::answerValue(std::move(preview));
}

// Exported code computes as the model does: without `reassociate`.
Outcome writeExport(const protocol::WriteExport& query, base::Result<pipeline::PartialFolder>& made,
                    const std::string& folder, const Call& call)
{
    pipeline::ExportRequest request{.model = modelOptionsOf(query.files),
                                    .plan = {.file = folder + "/exported-plan.json"},
                                    .settings = base::forTask(query.settings, base::Task::Export),
                                    .folder = query.folder};
    request.tool = tool;
    const base::Status kept = pipeline::writeTextFile(json::write(query.plan.value, true), request.plan.file);
    if (!kept) return failed(kept.error());
    std::vector<std::string> notes;
    RequestReporter reporter = reporterOf(call, notes);
    executor::Observer silent;
    if (!made) return failed(made.error());
    const base::Result<schema::Split> split = pipeline::exportFolder(request, *made, silent, reporter, call.stop);
    if (!split) return failed(split.error());
    protocol::ExportRecord record = recordOf(request.folder, *split);
    record.notes = notes;
    return protocol::answerValue(std::move(record));
}

Outcome readExport(const protocol::ReadExport& query)
{
    const base::Result<schema::Split> split = pipeline::readExported(query.folder);
    if (!split) return failed(split.error());
    return protocol::answerValue(recordOf(query.folder, *split));
}

Outcome checkExport(const protocol::CheckExport& query, const std::string& folder, const Call& call)
{
    std::vector<std::string> notes;
    RequestReporter reporter = reporterOf(call, notes);
    base::Result<pipeline::Prepared> prepared = pipeline::prepare(modelOptionsOf(query.files), false, reporter);
    if (!prepared) return failed(prepared.error());
    pipeline::hashInputs(*prepared, reporter);
    const base::Status holds = pipeline::checkExported(*prepared, query.folder, folder, reporter, call.stop);
    if (!holds) return failed(holds.error());
    executor::Observer silent;
    const pipeline::ExecutionRequest request{.plan = {.file = query.folder + "/plan.json"},
                                             .settings = base::forTask(query.settings, base::Task::Export),
                                             .folder = folder};
    const auto execution = pipeline::execute(*prepared, request, silent, reporter, call.stop);
    if (!execution) return failed(execution.error());
    return protocol::answerValue(protocol::ExportVerdict{.verification = execution->verdict, .notes = notes});
}

}  // namespace hopscope::engine
