#include "schema/inspect.h"

#include <set>

#include "analysis/naming/value_names.h"
#include "ir/origin_names.h"
#include "schema/arguments.h"
#include "schema/envelope.h"
#include "schema/names.h"
#include "json/optional.h"

namespace hopscope::schema {

namespace {

using analysis::Analysis;
using analysis::NodeKind;
using analysis::OpInfo;
using json::Value;

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

Value sourceValue(const ir::Source& source)
{
    if (source.kind == ir::SourceKind::None) return {};
    Value item;
    item["label"] = source.kind == ir::SourceKind::Python ? "python" : "torchscript";
    item["file"] = source.file;
    item["line"] = source.line;
    item["text"] = source.text;
    return item;
}

// Analysed operators only; after a refusal the rest has no info.
const OpInfo& infoOf(const Analysis& analysis, ir::OpId op)
{
    static const OpInfo none;
    return op.at() < analysis.ops.size() ? analysis.info(op) : none;
}

Value opValue(const Analysis& analysis, const ir::Op& op, const std::map<ir::OpId, plan::StageId>& stages)
{
    const OpInfo& info = infoOf(analysis, op.id);
    const auto stage = stages.find(op.id);
    Value item;
    item["id"] = ir::opName(op.id);
    item["kind"] = base::nameOf(analysis::nodeKind(analysis, op.id));
    item["name"] = op.overload.empty() ? op.name : op.name + "." + op.overload;
    item["module"] = ir::modulePath(op.modules);
    item["module_type"] = op.modules.empty() ? "" : op.modules.back().type;
    item["source"] = sourceValue(op.source);
    item["depth"] = info.depth;
    item["depth_module"] = info.depthModule;
    item["depth_op"] = info.depthOp;
    item["stage"] = stage == stages.end() ? Value() : Value(stage->second.number);
    item["structure_only"] = info.structureOnly;
    item["view"] = info.view;
    item["arguments"] = argumentsValue(analysis.program, op);
    item["inputs"] = valueNames(operandsOf(op));
    item["outputs"] = valueNames(op.outputs);
    return item;
}

// Inputs and outputs of the model take part in the graph as operators of their own kind, named by their data key.
Value endValue(NodeKind kind, const ir::NamedValue& named, const OpInfo& producer, Value stage, bool structureOnly)
{
    const bool input = kind == NodeKind::Input;
    Value item;
    item["id"] = std::string(base::nameOf(kind)) + "." + named.name;
    item["kind"] = base::nameOf(kind);
    item["name"] = named.name;
    item["module"] = "";
    item["module_type"] = "";
    item["source"] = Value();
    item["depth"] = producer.depth;
    item["depth_module"] = producer.depthModule;
    item["depth_op"] = producer.depthOp;
    item["stage"] = std::move(stage);
    item["structure_only"] = structureOnly;
    item["view"] = false;
    item["arguments"] = Value::array();
    item["inputs"] = valueNames(input ? std::vector<ir::ValueId>{} : std::vector{named.value});
    item["outputs"] = valueNames(input ? std::vector{named.value} : std::vector<ir::ValueId>{});
    return item;
}

bool structureOnly(const Analysis& analysis, ir::ValueId id)
{
    return id.at() < analysis.values.size() && analysis.info(id).structureOnly;
}

Value outputValue(const Analysis& analysis, const ir::NamedValue& output,
                  const std::map<ir::OpId, plan::StageId>& stages)
{
    const ir::OpId producer = analysis.program.value(output.value).producer;
    const auto stage = stages.find(producer);
    return endValue(NodeKind::Output, output, producer.valid() ? infoOf(analysis, producer) : OpInfo{},
                    stage == stages.end() ? Value() : Value(stage->second.number),
                    structureOnly(analysis, output.value));
}

Value opsValue(const InspectSubject& subject)
{
    const Analysis& analysis = *subject.analysis;
    const std::map<ir::OpId, plan::StageId> stages = firstStages(subject.plan);
    Value list = Value::array();
    for (const ir::NamedValue& input : analysis.program.inputs)
        list.push(endValue(NodeKind::Input, input, OpInfo{}, Value(), structureOnly(analysis, input.value)));
    for (const ir::Op& op : analysis.program.ops) list.push(opValue(analysis, op, stages));
    for (const ir::NamedValue& output : analysis.program.outputs) list.push(outputValue(analysis, output, stages));
    return list;
}

// Where the analysis has stopped before: dimensions are those of the sample that the model was walked with.
bool unreached(const Analysis& analysis, const ir::Value& value)
{
    return analysis.refusal && analysis.refusedOp.valid() && value.producer.valid() &&
           value.producer >= analysis.refusedOp;
}

Value shapeValue(const Analysis& analysis, const ir::Value& value)
{
    if (unreached(analysis, value)) return Value(std::vector<std::nullptr_t>(value.shape.size()));
    return value.id.at() < analysis.values.size() ? symbolicShape(analysis, value.id) : Value(value.shape);
}

Value valueValue(const InspectSubject& subject, const ir::Value& value, const std::string& label)
{
    const Analysis& analysis = *subject.analysis;
    const bool tensor = value.kind == ir::ValueKind::Tensor;
    const bool known = value.id.at() < analysis.values.size();
    Value item;
    item["id"] = ir::valueName(value.id);
    item["origin"] = base::nameOf(value.origin);
    item["name"] = value.name;
    item["label"] = label;
    const bool unknown = subject.fromCode && (value.origin == ir::Origin::Op || value.shape.empty());
    item["dtype"] = tensor && !unknown ? Value(base::dtypeName(value.dtype)) : Value();
    item["shape"] = shapeValue(analysis, value);
    item["row_spaces"] = known ? rowSpaces(analysis, value.id) : Value(std::vector<std::nullptr_t>(value.shape.size()));
    item["structure_only"] = structureOnly(analysis, value.id);
    item["bytes"] = known && !unknown && !unreached(analysis, value) &&
                            (!subject.sizes.empty() || value.origin == ir::Origin::Parameter)
                        ? json::orNull(wholeBytes(analysis, value.id, subject.sizes))
                        : Value();
    return item;
}

void addAccesses(Value& list, const std::vector<plan::Access>& accesses)
{
    for (const plan::Access& access : accesses) {
        const Value name(ir::valueName(access.value));
        bool there = false;
        for (const Value& item : *list.asArray()) there = there || item == name;
        if (!there) list.push(name);
    }
}

Value relationsValue(const Analysis& analysis, const plan::Loop& loop)
{
    Value list = Value::array();
    for (const plan::FrontierSource& source : loop.frontier) {
        Value item;
        item["relation"] = analysis.tables.spaceName(source.space);
        item["from"] = analysis.tables.spaceName(source.type);
        item["to"] = analysis.tables.spaceName(loop.destination);
        item["along"] = analysis.tables.keyName(source.key);
        list.push(std::move(item));
    }
    return list;
}

Value stageValue(const Analysis& analysis, const plan::Stage& stage)
{
    Value item;
    item["index"] = stage.index.number;
    for (const char* list : {"inputs", "outputs", "relations", "destinations"}) item[list] = Value::array();
    for (const plan::Loop& loop : stage.loops) {
        item["destinations"].push(analysis.tables.spaceName(loop.destination));
        addAccesses(item["inputs"], loop.reads);
        addAccesses(item["outputs"], loop.writes);
        const Value relations = relationsValue(analysis, loop);
        for (const Value& relation : *relations.asArray()) item["relations"].push(relation);
        for (const plan::Step& step : loop.reductions)
            for (ir::ValueId id : analysis.program.op(step.op).outputs) item["outputs"].push(ir::valueName(id));
    }
    for (ir::OpId op : stage.rowless)
        for (ir::ValueId id : analysis.program.op(op).outputs) item["outputs"].push(ir::valueName(id));
    return item;
}

Value prologueValue(const Analysis& analysis, const plan::Plan* plan)
{
    Value list = Value::array();
    if (plan != nullptr)
        for (ir::OpId op : plan->prologue) list.push(ir::opName(op));
    else
        for (const ir::Op& op : analysis.program.ops)
            if (infoOf(analysis, op.id).structureOnly) list.push(ir::opName(op.id));
    return list;
}

Value lintsValue(const Analysis& analysis)
{
    Value list = Value::array();
    for (const analysis::Lint& lint : analysis.lints) {
        Value item;
        item["code"] = lint.code;
        item["message"] = lint.message;
        item["op"] = lint.op.valid() ? Value(ir::opName(lint.op)) : Value();
        item["blocking"] = lint.blocking;
        item["hint"] = lint.hint;
        list.push(std::move(item));
    }
    return list;
}

Value rolesValue(const analysis::InputSchema& inputs)
{
    Value object = Value::object();
    for (const auto& [name, role] : inputs.roles) object[name] = roleText(role);
    return object;
}

Value sizesValue(const InspectSubject& subject)
{
    Value object = Value::object();
    for (const auto& [space, rows] : subject.sizes) object[subject.analysis->tables.spaceName(space)] = rows;
    return object;
}

void describeModel(Value& document, const InspectSubject& subject)
{
    document["model"] = subject.model;
    document["model_class"] = subject.modelClass;
    document["traced"] = subject.traced;
    document["repaired"] = subject.repaired;
    document["hashes"] = writeHashes(subject.hashes);
    document["roles"] = rolesValue(*subject.inputs);
    document["sizes"] = sizesValue(subject);
    document["notes"] = Value(subject.notes);
}

}  // namespace

std::string roleText(const analysis::InputRole& role)
{
    switch (role.kind) {
    case analysis::RoleKind::Node: return "node:" + role.first;
    case analysis::RoleKind::Index:
    case analysis::RoleKind::Ends:
        return (role.form == analysis::EdgeForm::Source        ? "source:"
                : role.form == analysis::EdgeForm::Destination ? "destination:"
                : role.form == analysis::EdgeForm::Offsets     ? "offsets:"
                : role.form == analysis::EdgeForm::Starts      ? "starts:"
                                                               : "index:") +
               role.first + ">" + role.second;
    case analysis::RoleKind::Edge: return "edge:" + role.first;
    case analysis::RoleKind::Key: return "key:" + role.first + ">" + role.second;
    case analysis::RoleKind::Graph: return "graph:" + role.first;
    case analysis::RoleKind::Plain: return "plain";
    }
    return "plain";
}

Value inspectValue(const InspectSubject& subject)
{
    const Analysis& analysis = *subject.analysis;
    Value document = startDocument("hopscope-inspect");
    describeModel(document, subject);
    document["depth"] = analysis.depth;
    document["depth_module"] = analysis.depthModule;
    document["depth_op"] = analysis.depthOp;
    document["from_code"] = subject.fromCode;
    document["splittable"] = subject.plan != nullptr;
    document["ops"] = opsValue(subject);
    document["values"] = Value::array();
    const analysis::ValueNames names(analysis);
    for (const ir::Value& value : analysis.program.values)
        document["values"].push(valueValue(subject, value, names[value.id]));
    document["stages"] = Value::array();
    if (subject.plan != nullptr)
        for (const plan::Stage& stage : subject.plan->stages) document["stages"].push(stageValue(analysis, stage));
    document["prologue"] = prologueValue(analysis, subject.plan);
    document["lints"] = lintsValue(analysis);
    return document;
}

std::string writeInspect(const InspectSubject& subject) { return json::write(inspectValue(subject), true); }

}  // namespace hopscope::schema
