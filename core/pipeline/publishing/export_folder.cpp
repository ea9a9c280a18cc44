#include "pipeline/publishing/export_folder.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/ending.h"
#include "executor/unsplit.h"
#include "export/export.h"
#include "export/rerun.h"
#include "graph/dataset.h"
#include "pipeline/files/home.h"
#include "pipeline/files/text_file.h"
#include "pipeline/running/execute.h"
#include "schema/documents.h"
#include "verify/compare.h"

namespace hopscope::pipeline {

namespace fs = std::filesystem;

namespace {

tl::unexpected<base::Error> refused(const std::string& path, const std::string& what, const std::string& hint)
{
    return base::fail(base::ErrorCode::Input, path + ": " + what, hint, path);
}

// Whether numbers differ, but by no more than rounding changes the results of the model itself.
bool amplifiesRounding(const std::optional<schema::Verification>& verdict)
{
    return verdict && verdict->verdict == schema::Verdict::Unverifiable &&
           std::ranges::any_of(verdict->outputs, [](const auto& output) { return output.different > 0; });
}

const char* hintFor(const std::optional<schema::Verification>& verdict)
{
    if (verdict && verdict->verdict == schema::Verdict::Different) return "see hopscope-engine verify";
    if (amplifiesRounding(verdict)) return "trace model.double() in Python, and give its data in float64";
    const bool sampled = verdict && verdict->coverage.method == schema::CoverageMethod::Sampled;
    return sampled ? "export with a graph on which the whole model fits into memory" : "";
}

base::Status checkVerdict(const std::optional<schema::Verification>& verdict)
{
    if (verdict && verdict->verdict == schema::Verdict::Equal) return {};
    const bool different = verdict && verdict->verdict == schema::Verdict::Different;
    return base::fail(base::ErrorCode::Different,
                      std::string(different
                                      ? "the split and the model's own forward differ"
                                      : "the split could not be verified, and only verified splits are exported") +
                          (verdict && !verdict->reason.empty() ? ": " + verdict->reason : std::string()),
                      hintFor(verdict));
}

std::string hashOf(const std::string& text)
{
    base::TensorView view;
    view.dtype = base::DType::UInt8;
    view.shape = {static_cast<std::int64_t>(text.size())};
    view.strides = {1};
    view.data = reinterpret_cast<const std::byte*>(text.data());
    return graph::hashData({{"plan", view}});
}

exporter::Request exportOf(const Prepared& prepared, const Execution& execution, const std::string& tool)
{
    exporter::Request request;
    request.model = &prepared.model;
    request.walk = &prepared.walk;
    request.analysis = &prepared.analysis;
    request.plan = &execution.plan;
    request.verification = *execution.verdict;
    request.verification.seconds = 0;  // the same inputs make the same bytes
    request.hashes = prepared.hashes;
    plan::Plan plan = execution.plan;
    plan.hashes.clear();  // the other hashes; a model that is saved again has another one, but the same plan
    request.hashes["plan"] = hashOf(schema::writePlan(plan, prepared.analysis));
    request.tool = tool;
    return request;
}

base::Status differs(const std::string& output, const std::string& how)
{
    return base::fail(base::ErrorCode::Internal,
                      "the exported code computes a different " + output + " on a sample: " + how,
                      "this is a bug in Hopscope; hopscope-engine run needs no export");
}

base::Status compare(const std::string& output, const base::TensorView& found, const base::TensorView& wanted)
{
    if (const auto reason = verify::mismatch(found, wanted)) return differs(output, *reason);
    verify::TensorError error;
    verify::compareAll(found, wanted, verify::toleranceFor({}, wanted.dtype), error);
    if (error.different == 0) return {};
    return differs(output, "the largest difference is " + std::to_string(error.maxAbsolute) +
                               " (numbers that differ: " + std::to_string(error.different) + ")");
}

// The written module on the sample, by its schema, against the model's operators on whole tensors.
base::Status checkCode(const Prepared& prepared, const schema::Split& split, const std::string& module,
                       const std::string& scratch, const std::stop_token& stop)
{
    const base::Result<base::TensorMap> found = exporter::rerun(module, split, prepared.sample, loader::Extent::Part);
    if (!found) return base::forward(found);
    std::vector<ir::ValueId> values;
    const ir::Program& program = prepared.analysis.program;
    for (const ir::NamedValue& o : program.outputs)
        if (program.value(o.value).kind == ir::ValueKind::Tensor) values.push_back(o.value);
    const auto wanted =
        executor::evaluateUnsplit(prepared.walk, prepared.analysis, prepared.sample, values, scratch, stop);
    if (!wanted) return base::forward(wanted);
    for (const ir::NamedValue& o : program.outputs) {
        const auto reference = wanted->find(o.value);
        if (reference == wanted->end()) continue;
        const auto made = found->find(o.name);
        if (made == found->end()) return differs(o.name, "this output is missing");
        if (const base::Status same = compare(o.name, made->second, reference->second); !same) return same;
    }
    return {};
}

}  // namespace

base::Result<schema::Split> exportFolder(const ExportRequest& request, PartialFolder& folder,
                                         executor::Observer& observer, Reporter& reporter, const std::stop_token& stop)
{
    const base::BeforeEnding abandon([&] { folder.abandon(); });
    base::Result<Prepared> prepared = prepare(request.model, false, reporter);
    if (!prepared) return base::forward(prepared);
    hashInputs(*prepared, reporter);
    tellNotes(*prepared, reporter);
    const base::Result<EngineHome> scratch = EngineHome::make();
    if (!scratch) return base::forward(scratch);
    base::Settings settings = request.settings;
    settings.verify = base::VerifyMode::Sample;
    const base::Result<Execution> execution =
        execute(*prepared,
                {.plan = request.plan, .settings = settings, .folder = scratch->path(), .check = SampleCheck::Required},
                observer, reporter, stop);
    if (!execution) return base::forward(execution);
    // The written code is checked on the sample as well.
    const auto& decisive = amplifiesRounding(execution->check) ? execution->check : execution->verdict;
    if (const base::Status verified = checkVerdict(decisive); !verified) return base::forward(verified);

    const exporter::Request wanted = exportOf(*prepared, *execution, request.tool);
    base::Result<exporter::Bundle> bundle = exporter::write(wanted);
    if (!bundle) return base::forward(bundle);
    if (const base::Status saved = exporter::save(wanted, *bundle, folder.partial()); !saved)
        return base::forward(saved);
    const base::Status checked =
        checkCode(*prepared, bundle->split, folder.partial() + "/stages.pt", scratch->path(), stop);
    if (!checked) return base::forward(checked);
    if (const base::Status published = folder.publish(); !published) return base::forward(published);
    return std::move(bundle->split);
}

base::Result<std::map<std::string, std::string>> previewExport(const Prepared& prepared, const plan::Plan& plan,
                                                               const std::string& tool)
{
    exporter::Request request;
    request.model = &prepared.model;
    request.walk = &prepared.walk;
    request.analysis = &prepared.analysis;
    request.plan = &plan;
    request.tool = tool;
    base::Result<exporter::Bundle> bundle = exporter::write(request);
    if (!bundle) return base::forward(bundle);
    std::map<std::string, std::string> files = std::move(bundle->python);
    files["plan.json"] = schema::writePlan(plan, prepared.analysis);
    for (const char* const later : {"README.md", "run.py", "schema.json", "stages.pt", "weights.safetensors"})
        files[later];
    return files;
}

base::Result<schema::Split> readExported(const std::string& path)
{
    constexpr const char* hint = "hopscope-engine export MODEL --data D... -o DIR makes such a folder";
    std::error_code problem;
    if (!fs::exists(path, problem)) return refused(path, "no such folder, and no such file", hint);
    const bool folder = fs::is_directory(path, problem);
    const std::string file = folder ? (fs::path(path) / "schema.json").string() : path;
    if (folder && !fs::exists(file, problem))
        return refused(path, "is not an exported folder: it has no schema.json", hint);
    const base::Result<std::string> text = readText(file);
    if (!text) return base::forward(text);
    base::Result<schema::Split> split = schema::readSplit(*text, file);
    if (!split && split.error().hint.empty()) split.error().hint = hint;
    return split;
}

base::Status checkExported(Prepared& prepared, const std::string& folder, const std::string& scratch,
                           Reporter& reporter, const std::stop_token& stop)
{
    const base::Result<schema::Split> split = readExported(folder);
    if (!split) return base::forward(split);
    if (!split->code)
        return refused(folder, "is not an exported folder: its schema describes no code",
                       "hopscope-engine export makes one");
    const auto same = [&](const std::string& what) {
        const auto it = split->hashes.find(what);
        return it != split->hashes.end() && it->second == prepared.hashes[what];
    };
    if (!same("model"))
        return refused(folder, "the model has changed: the folder was exported from a different file",
                       "export it again");
    if (!same("roles"))
        return refused(folder, "inputs had different roles when it was exported",
                       "give the same --role, or export it again");
    if (!same("data")) {
        reporter.note("these data differ from the data of the export; the split is verified on these data");
        prepared.hashes.erase("data");
    }
    const base::Status holds = checkCode(prepared, *split, folder + "/stages.pt", scratch, stop);
    if (holds || holds.error().code != base::ErrorCode::Internal) return holds;
    // It held when it was written.
    return refused(folder, "schema.json or stages.pt has changed since the export: " + holds.error().message,
                   "export it again");
}

}  // namespace hopscope::pipeline
