#include "schema/inspect.h"

#include <algorithm>
#include <set>

#include "analysis/naming/value_names.h"
#include "schema/arguments.h"
#include "schema/inspect_document.h"
#include "schema/names.h"

namespace hopscope::schema {

namespace {

using analysis::Analysis;
using analysis::NodeKind;
using analysis::OpInfo;

// The stage in which each operator runs first.
std::map<ir::OpId, plan::StageId> firstStages(const plan::Plan* plan)
{
    std::map<ir::OpId, plan::StageId> stages;
    if (plan == nullptr) return stages;
    for (const plan::Stage& stage : plan->stages) {
        for (const plan::Loop& loop : stage.loops) {
            for (const plan::Step& step : loop.steps) stages.emplace(step.op, stage.index);
            for (const plan::Step& step : loop.reductions) stages.emplace(step.op, stage.index);
        }
        for (ir::OpId op : stage.rowless) stages.emplace(op, stage.index);
    }
    return stages;
}

std::vector<ir::ValueId> operandsOf(const ir::Op& op)
{
    std::vector<ir::ValueId> operands;
    std::set<ir::ValueId> seen;
    ir::forEachOperand(op, [&](ir::Slot, ir::ValueId id) {
        if (seen.insert(id).second) operands.push_back(id);
    });
    return operands;
}

std::optional<InspectedSource> sourceOf(const ir::Source& source)
{
    if (source.kind == ir::SourceKind::None) return std::nullopt;
    return InspectedSource{.label = source.kind == ir::SourceKind::Python ? "python" : "torchscript",
                           .file = source.file,
                           .text = source.text,
                           .line = source.line};
}

// Analysed operators only; after a refusal the rest has no info.
const OpInfo& infoOf(const Analysis& analysis, ir::OpId op)
{
    static const OpInfo none;
    return op.at() < analysis.ops.size() ? analysis.info(op) : none;
}

std::optional<plan::StageId> stageOf(const std::map<ir::OpId, plan::StageId>& stages, ir::OpId op)
{
    const auto stage = stages.find(op);
    return stage == stages.end() ? std::nullopt : std::optional(stage->second);
}

InspectedOp inspected(const Analysis& analysis, const ir::Op& op, const std::map<ir::OpId, plan::StageId>& stages)
{
    const OpInfo& info = infoOf(analysis, op.id);
    return {.id = ir::opName(op.id),
            .kind = analysis::nodeKind(analysis, op.id),
            .name = op.overload.empty() ? op.name : op.name + "." + op.overload,
            .module = ir::modulePath(op.modules),
            .moduleType = op.modules.empty() ? "" : op.modules.back().type,
            .source = sourceOf(op.source),
            .depth = info.depth,
            .depthModule = info.depthModule,
            .depthOp = info.depthOp,
            .stage = stageOf(stages, op.id),
            .structureOnly = info.structureOnly,
            .view = info.view,
            .inputs = operandsOf(op),
            .outputs = op.outputs,
            .arguments = argumentsOf(analysis.program, op)};
}

// Inputs and outputs of the model take part in the graph as operators of their own kind, named by their data key.
InspectedOp endOf(NodeKind kind, const ir::NamedValue& named, const OpInfo& producer,
                  std::optional<plan::StageId> stage, bool structureOnly)
{
    const bool input = kind == NodeKind::Input;
    return {.id = std::string(base::nameOf(kind)) + "." + named.name,
            .kind = kind,
            .name = named.name,
            .module = "",
            .moduleType = "",
            .source = std::nullopt,
            .depth = producer.depth,
            .depthModule = producer.depthModule,
            .depthOp = producer.depthOp,
            .stage = stage,
            .structureOnly = structureOnly,
            .view = false,
            .inputs = input ? std::vector<ir::ValueId>{} : std::vector{named.value},
            .outputs = input ? std::vector{named.value} : std::vector<ir::ValueId>{},
            .arguments = {}};
}

bool structureOnly(const Analysis& analysis, ir::ValueId id)
{
    return id.at() < analysis.values.size() && analysis.info(id).structureOnly;
}

std::vector<InspectedOp> opsOf(const InspectSubject& subject)
{
    const Analysis& analysis = *subject.analysis;
    const std::map<ir::OpId, plan::StageId> stages = firstStages(subject.plan);
    std::vector<InspectedOp> ops;
    for (const ir::NamedValue& input : analysis.program.inputs)
        ops.push_back(endOf(NodeKind::Input, input, OpInfo{}, std::nullopt, structureOnly(analysis, input.value)));
    for (const ir::Op& op : analysis.program.ops) ops.push_back(inspected(analysis, op, stages));
    for (const ir::NamedValue& output : analysis.program.outputs) {
        const ir::OpId producer = analysis.program.value(output.value).producer;
        ops.push_back(endOf(NodeKind::Output, output, producer.valid() ? infoOf(analysis, producer) : OpInfo{},
                            stageOf(stages, producer), structureOnly(analysis, output.value)));
    }
    return ops;
}

// True if the analysis stopped before the value: its dimensions are those of the sample that the model was walked with.
bool unreached(const Analysis& analysis, const ir::Value& value)
{
    return analysis.refusal && analysis.refusedOp.valid() && value.producer.valid() &&
           value.producer >= analysis.refusedOp;
}

std::vector<std::optional<Dim>> shapeOf(const Analysis& analysis, const ir::Value& value)
{
    if (unreached(analysis, value)) return std::vector<std::optional<Dim>>(value.shape.size());
    const std::vector<Dim> shape = symbolicShape(analysis, value.id);
    return {shape.begin(), shape.end()};
}

InspectedValue inspected(const InspectSubject& subject, const ir::Value& value, const std::string& label)
{
    const Analysis& analysis = *subject.analysis;
    const bool unknown = subject.fromCode && (value.origin == ir::Origin::Op || value.shape.empty());
    const bool reached = value.id.at() < analysis.values.size() && !unreached(analysis, value);
    const bool sized = !subject.sizes.empty() || value.origin == ir::Origin::Parameter;
    const bool tensor = value.kind == ir::ValueKind::Tensor;
    return {.id = value.id,
            .origin = value.origin,
            .name = value.name,
            .label = label,
            .dtype = tensor && !unknown ? std::optional(value.dtype) : std::nullopt,
            .shape = shapeOf(analysis, value),
            .rowSpaces = rowSpaces(analysis, value.id),
            .structureOnly = structureOnly(analysis, value.id),
            .bytes = reached && !unknown && sized ? wholeBytes(analysis, value.id, subject.sizes) : std::nullopt};
}

void addAccesses(std::vector<ir::ValueId>& list, const std::vector<plan::Access>& accesses)
{
    for (const plan::Access& access : accesses)
        if (std::ranges::find(list, access.value) == list.end()) list.push_back(access.value);
}

void addRelations(std::vector<InspectedRelation>& list, const Analysis& analysis, const plan::Loop& loop)
{
    for (const plan::FrontierSource& source : loop.frontier)
        list.push_back({.relation = analysis.tables.spaceName(source.space),
                        .from = analysis.tables.spaceName(source.type),
                        .to = analysis.tables.spaceName(loop.destination),
                        .along = analysis.tables.keyName(source.key)});
}

InspectedStage inspected(const Analysis& analysis, const plan::Stage& stage)
{
    InspectedStage made{.index = stage.index, .inputs = {}, .outputs = {}, .relations = {}, .destinations = {}};
    const auto addOutputs = [&](ir::OpId op) {
        const std::vector<ir::ValueId>& outputs = analysis.program.op(op).outputs;
        made.outputs.insert(made.outputs.end(), outputs.begin(), outputs.end());
    };
    for (const plan::Loop& loop : stage.loops) {
        made.destinations.push_back(analysis.tables.spaceName(loop.destination));
        addAccesses(made.inputs, loop.reads);
        addAccesses(made.outputs, loop.writes);
        addRelations(made.relations, analysis, loop);
        for (const plan::Step& step : loop.reductions) addOutputs(step.op);
    }
    for (ir::OpId op : stage.rowless) addOutputs(op);
    return made;
}

std::vector<std::string> prologueOf(const Analysis& analysis, const plan::Plan* plan)
{
    std::vector<std::string> ops;
    if (plan != nullptr)
        for (ir::OpId op : plan->prologue) ops.push_back(ir::opName(op));
    else
        for (const ir::Op& op : analysis.program.ops)
            if (infoOf(analysis, op.id).structureOnly) ops.push_back(ir::opName(op.id));
    return ops;
}

std::vector<InspectedLint> lintsOf(const Analysis& analysis)
{
    std::vector<InspectedLint> lints;
    for (const analysis::Lint& lint : analysis.lints)
        lints.push_back({.code = lint.code,
                         .message = lint.message,
                         .op = lint.op.valid() ? std::optional(ir::opName(lint.op)) : std::nullopt,
                         .blocking = lint.blocking,
                         .hint = lint.hint});
    return lints;
}

InspectDocument headOf(const InspectSubject& subject)
{
    InspectDocument document;
    document.model = subject.model;
    document.modelClass = subject.modelClass;
    document.traced = subject.traced;
    document.exported = subject.exported;
    document.repaired = subject.repaired;
    document.splittable = subject.plan != nullptr;
    document.fromCode = subject.fromCode;
    document.hashes = subject.hashes;
    for (const auto& [name, role] : subject.inputs->roles) document.roles[name] = analysis::roleText(role);
    for (const auto& [space, rows] : subject.sizes) document.sizes[subject.analysis->tables.spaceName(space)] = rows;
    document.notes = subject.notes;
    return document;
}

}  // namespace

InspectDocument inspectDocument(const InspectSubject& subject)
{
    const Analysis& analysis = *subject.analysis;
    InspectDocument document = headOf(subject);
    document.depth = analysis.depth;
    document.depthModule = analysis.depthModule;
    document.depthOp = analysis.depthOp;
    document.ops = opsOf(subject);
    const analysis::ValueNames names(analysis);
    for (const ir::Value& value : analysis.program.values)
        document.values.push_back(inspected(subject, value, names[value.id]));
    if (subject.plan != nullptr)
        for (const plan::Stage& stage : subject.plan->stages) document.stages.push_back(inspected(analysis, stage));
    document.prologue = prologueOf(analysis, subject.plan);
    document.lints = lintsOf(analysis);
    return document;
}

json::Value inspectValue(const InspectSubject& subject) { return inspectDocumentValue(inspectDocument(subject)); }

std::string writeInspect(const InspectSubject& subject) { return json::write(inspectValue(subject), true); }

}  // namespace hopscope::schema
