#include "cli/describe.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "analysis/naming/value_names.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/table.h"
#include "pipeline/opening/labels.h"
#include "schema/inspect.h"

namespace hopscope::engine {

namespace {

using analysis::Analysis;
using analysis::ValueNames;
using pipeline::join;
using pipeline::tableLabel;

constexpr std::size_t stageWidth = 64;

std::string bytesOrNothing(const std::optional<std::int64_t>& bytes)
{
    return bytes ? base::formatBytes(static_cast<double>(*bytes)) : std::string();
}

std::string heading(const Style& style, const std::string& text) { return "\n" + style.bold(text) + "\n"; }

std::string parameterText(const loader::ModelInfo& info)
{
    std::int64_t count = 0, bytes = 0;
    for (const loader::Parameter& parameter : info.parameters) {
        std::int64_t elements = 1;
        for (const std::int64_t size : parameter.shape) elements *= size;
        count += elements;
        bytes += elements * static_cast<std::int64_t>(base::itemSize(parameter.dtype));
    }
    return base::formatCount(static_cast<double>(count)) + " parameters (" +
           base::formatBytes(static_cast<double>(bytes)) + ")";
}

std::string titleLines(const pipeline::Prepared& prepared, const plan::Plan* plan, const Style& style)
{
    const loader::ModelInfo& info = prepared.model.info();
    const Analysis& analysis = prepared.analysis;
    std::string text = style.bold(std::filesystem::path(info.path).filename().string()) + "  " + info.className + ", " +
                       (info.exported ? "exported program"
                        : info.traced ? "traced"
                                      : "scripted") +
                       ", " + parameterText(info) + (info.repairs.empty() ? "" : ", repaired while loading") + "\n";
    if (plan == nullptr) return text;
    text += "depth " + std::to_string(analysis.depth) + ", " + base::counted(std::ssize(plan->stages), "stage");
    if (analysis.depthModule != analysis.depth || analysis.depthOp != analysis.depth)
        text += style.dim("  (depth by modules " + std::to_string(analysis.depthModule) + ", by aggregations " +
                          std::to_string(analysis.depthOp) + ")");
    return text + "\n";
}

std::string roleLabel(const analysis::InputRole& role)
{
    std::string text;
    for (const char letter : std::string_view(analysis::wordOf(role).label))
        text += letter == '1' ? role.first : letter == '2' ? role.second : std::string(1, letter);
    const bool turned = role.kind == analysis::RoleKind::Node && role.dim != 0;
    return text + (turned ? ", along dimension " + std::to_string(role.dim) : "");
}

std::string plainShape(const base::TensorView& tensor)
{
    std::vector<std::string> parts;
    for (const std::int64_t size : tensor.shape) parts.push_back(base::formatCount(static_cast<double>(size)));
    return "[" + join(parts, " \u00d7 ") + "]";
}

// Shapes come from the data where there is some, otherwise from the roles.
std::string inputLines(const pipeline::Prepared& prepared, const Style& style)
{
    Table table({Align::Left, Align::Left, Align::Left, Align::Left, Align::Right});
    for (const auto& [name, tensor] : prepared.hasData() ? prepared.inputs : prepared.sample) {
        const auto role = prepared.schema.roles.find(name);
        const std::string meaning = role == prepared.schema.roles.end() ? "" : roleLabel(role->second);
        const std::string chosen = role != prepared.schema.roles.end() && role->second.overridden ? " (--role)" : "";
        table.add({name, base::dtypeName(tensor.dtype), prepared.hasData() ? plainShape(tensor) : "", meaning + chosen,
                   prepared.hasData() ? base::formatBytes(static_cast<double>(tensor.bytes())) : ""});
    }
    return heading(style, prepared.hasData() ? "Inputs" : "Inputs (inferred; use --data for sizes)") + table.render();
}

std::string hopText(const Analysis& analysis, const plan::Loop& loop)
{
    std::vector<std::string> parts;
    for (const plan::FrontierSource& source : loop.frontier) {
        std::string part = tableLabel(analysis, source.space);
        if (source.type != loop.destination)
            part +=
                " (" + tableLabel(analysis, source.type) + " \u2192 " + tableLabel(analysis, loop.destination) + ")";
        if (std::ranges::find(parts, part) == parts.end()) parts.push_back(part);
    }
    return join(parts, ", ", 40);
}

bool isOutput(const Analysis& analysis, ir::ValueId id)
{
    return std::ranges::any_of(analysis.program.outputs, [&](const auto& output) { return output.value == id; });
}

// One row per stored value of the stage; the first row also describes the stage.
void addStage(Table& table, const Analysis& analysis, const plan::Plan& plan, const plan::Stage& stage,
              const std::string& what, const ValueNames& names)
{
    std::string hops;
    for (const plan::Loop& loop : stage.loops) {
        const std::string text = hopText(analysis, loop);
        if (!text.empty()) hops += (hops.empty() ? "" : "; ") + text;
    }
    bool first = true;
    for (const plan::Checkpoint& checkpoint : plan.checkpoints) {
        if (checkpoint.stage != stage.index) continue;
        table.add({first ? std::to_string(stage.index.number) : "", first ? what : "", first ? hops : "",
                   isOutput(analysis, checkpoint.value) ? "outputs" : "stores", names[checkpoint.value],
                   pipeline::shapeLabel(analysis, checkpoint.value), bytesOrNothing(checkpoint.bytesWritten)});
        first = false;
    }
    if (first) table.add({std::to_string(stage.index.number), what, hops});
}

std::string stageText(const pipeline::StageLabels& labels, const Style& style)
{
    std::string text = join(labels.first, ", ", stageWidth);
    if (labels.again.empty()) return text;
    return text + (text.empty() ? "" : "  ") +
           style.dim("(recomputes: " + join(labels.again, ", ", stageWidth / 2) + ")");
}

std::string stageLines(const pipeline::Prepared& prepared, const plan::Plan& plan, const Style& style)
{
    Table table({Align::Right, Align::Left, Align::Left, Align::Left, Align::Left, Align::Left, Align::Right});
    table.add({"", style.dim("computes"), style.dim("relation"), "", style.dim("value"), style.dim("shape"),
               prepared.hasData() ? style.dim("bytes") : ""});
    const auto labels = pipeline::stageLabels(prepared.analysis, plan);
    const ValueNames names(prepared.analysis);
    for (std::size_t i = 0; i < plan.stages.size(); ++i)
        addStage(table, prepared.analysis, plan, plan.stages[i], stageText(labels[i], style), names);
    return heading(style, "Stages") + table.render();
}

// The structure-only values that stages read, with their bytes; unknown sizes count nothing.
std::int64_t prologueBytes(const pipeline::Prepared& prepared, const plan::Plan& plan)
{
    std::set<ir::ValueId> read;
    for (const plan::Stage& stage : plan.stages)
        for (const plan::Loop& loop : stage.loops)
            for (const plan::Access& access : loop.reads)
                if (prepared.analysis.program.value(access.value).origin == ir::Origin::Op &&
                    prepared.analysis.info(access.value).structureOnly)
                    read.insert(access.value);
    std::int64_t bytes = 0;
    for (const ir::ValueId id : read) bytes += schema::wholeBytes(prepared.analysis, id, prepared.sizes).value_or(0);
    return bytes;
}

// Relations that the model derives itself: with self-loops added, filtered, sorted.
std::vector<std::string> derivedRelations(const pipeline::Prepared& prepared, const plan::Plan& plan)
{
    std::set<std::string> labels;
    for (const plan::Stage& stage : plan.stages)
        for (const plan::Loop& loop : stage.loops)
            for (const plan::FrontierSource& source : loop.frontier)
                if (prepared.analysis.tables.space(source.space).kind != analysis::SpaceKind::Edge)
                    labels.insert(tableLabel(prepared.analysis, source.space));
    return {labels.begin(), labels.end()};
}

std::string prologueLines(const pipeline::Prepared& prepared, const plan::Plan& plan, const Style& style)
{
    if (plan.prologue.empty()) return {};
    std::string text = "  " + std::to_string(plan.prologue.size()) + " of " +
                       base::counted(std::ssize(prepared.analysis.program.ops), "operator") + ", in " +
                       join(pipeline::opLabels(prepared.analysis, plan.prologue), ", ", stageWidth) + "\n";
    if (const auto relations = derivedRelations(prepared, plan); !relations.empty())
        text += "  edges: " + join(relations, ", ", stageWidth) + "\n";
    if (const std::int64_t bytes = prologueBytes(prepared, plan); bytes > 0)
        text += "  kept for later stages: " + base::formatBytes(static_cast<double>(bytes)) + "\n";
    return heading(style, "Prologue: structure only, computed once for the whole graph") + text;
}

constexpr double provenGap = 1e-4;
constexpr double uselessGap = 1;  // the optimum may be any fraction of the cost

std::string percent(double part)
{
    const long tenths = std::lround(part * 1000);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
}

std::string readText(const plan::Plan& plan)
{
    if (!plan.bytes) return "reads depend on the batch size";
    const std::string batches = plan.batch ? "batches of " + base::formatCount(static_cast<double>(*plan.batch))
                                           : std::string("the largest batches that fit");
    return base::formatBytes(static_cast<double>(plan.bytes->h2d)) + " read in " + batches;
}

// Says how the plan was found, and how far it is from the optimum at most.
std::string boundLine(const plan::Plan& plan)
{
    if (!plan.cost) return {};
    std::string text = "  " + std::string(base::nameOf(plan.strategy)) + ", for " + base::nameOf(plan.objective);
    if (plan.gap && *plan.gap < provenGap) text += ": proven optimal";
    else if (plan.gap && *plan.gap >= uselessGap) text += ": the time limit left no useful lower bound on the optimum";
    else if (plan.gap) text += ": within " + percent(*plan.gap) + " of the optimum";
    return text + "\n";
}

// "  x and 37.0 % of conv1 output stay on the GPU, with the graph structure"
std::string residentLine(const analysis::Analysis& analysis, const plan::Plan& plan)
{
    const ValueNames names(analysis);
    std::vector<std::string> parts;
    for (const ir::ValueId v : plan.resident) parts.push_back(names[v]);
    for (const plan::CachedTable& c : plan.cached) parts.push_back(percent(c.share) + " of " + names[c.value]);
    if (parts.empty()) return {};
    std::string text = "  ";
    for (std::size_t i = 0; i < parts.size(); ++i)
        text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
    text += parts.size() == 1 ? " stays on the GPU" : " stay on the GPU";
    return text + (plan.residentStructure ? ", with the graph structure\n" : "\n");
}

std::string predictedLine(const plan::Plan& plan, std::optional<double> seconds)
{
    if (!plan.peakMemory) return {};
    return "  predicted: " + (seconds ? base::formatSeconds(*seconds) + ", " : "") + "peak memory " +
           base::formatBytes(static_cast<double>(*plan.peakMemory)) + "\n";
}

std::string movedLines(const pipeline::Prepared& prepared, const plan::Plan& plan, std::optional<double> seconds,
                       const Style& style)
{
    if (!prepared.hasData()) return {};
    std::int64_t written = 0;
    for (const plan::Checkpoint& checkpoint : plan.checkpoints) written += checkpoint.bytesWritten.value_or(0);
    return heading(style, "Data movement") + "  " + base::formatBytes(static_cast<double>(written)) + " written to " +
           base::counted(std::ssize(plan.checkpoints), "store") + "; " + readText(plan) + "\n" +
           residentLine(prepared.analysis, plan) + predictedLine(plan, seconds) + boundLine(plan);
}

std::string lintLines(const pipeline::Prepared& prepared, const Style& style)
{
    std::string text;
    for (const analysis::Lint& lint : prepared.analysis.lints) {
        if (lint.code == "untrusted") continue;  // its sentence is above
        const std::string mark = lint.blocking ? style.bad("\u2717") : style.warn("!");
        text += "  " + mark + " " + base::oneLine(lint.message + (lint.hint.empty() ? "" : "; " + lint.hint)) + " " +
                style.dim("[" + lint.code + "]") + "\n";
    }
    return text.empty() ? text : heading(style, "Diagnostics") + text;
}

}  // namespace

std::string describeModel(const pipeline::Prepared& prepared, const plan::Plan* plan, const Style& style,
                          std::optional<double> seconds)
{
    std::string text = titleLines(prepared, plan, style) + inputLines(prepared, style);
    if (plan != nullptr) {
        text += stageLines(prepared, *plan, style) + prologueLines(prepared, *plan, style) +
                movedLines(prepared, *plan, seconds, style);
    } else {
        const std::optional<base::Error>& refusal = prepared.analysis.refusal;
        const bool untrusted = refusal && refusal->code == base::ErrorCode::Untrusted;
        text += heading(style, untrusted ? "Not run" : "Cannot be split");
        if (refusal) text += "  " + base::describe(*refusal) + "\n";
    }
    return text + lintLines(prepared, style);
}

}  // namespace hopscope::engine
