#include "protocol/model.h"

#include <algorithm>

#include "analysis/naming/value_namer.h"
#include "schema/inspect_document.h"
#include "json/reader.h"

namespace hopscope::protocol {

namespace {

using json::Reader;

using schema::InspectDocument;
using schema::InspectedOp;
using schema::InspectedValue;

// The value as Python writes it.
std::string python(const json::Value& value)
{
    if (value.isNull()) return "None";
    if (const bool* const truth = value.asBool()) return *truth ? "True" : "False";
    if (const std::string* const text = value.asString()) return *text;
    const json::Array* const list = value.asArray();
    if (list == nullptr) return json::write(value);
    std::string items;
    for (const json::Value& item : *list) items += (items.empty() ? "" : ", ") + python(item);
    return "[" + items + "]";
}

std::string text(const std::optional<schema::Dim>& size)
{
    if (!size) return "?";
    const auto* const number = std::get_if<std::int64_t>(&*size);
    return number == nullptr ? std::get<std::string>(*size) : std::to_string(*number);
}

ValueRecord recordOf(const InspectedValue& value)
{
    ValueRecord record;
    record.id = ir::valueName(value.id);
    record.name = value.name;
    record.label = value.label;
    record.origin = value.origin;
    record.dtype = value.dtype ? base::nameOf(*value.dtype) : "";
    record.structureOnly = value.structureOnly;
    record.bytes = value.bytes;
    for (const auto& size : value.shape) record.shape.push_back(text(size));
    record.spaces = value.rowSpaces;
    return record;
}

OpRecord recordOf(const InspectedOp& op)
{
    OpRecord record;
    record.id = op.id;
    record.kind = op.kind;
    record.name = op.name;
    record.module = op.module;
    record.moduleType = op.moduleType;
    if (op.source) record.source = {op.source->label, op.source->file, op.source->text, op.source->line};
    record.depth = op.depth;
    record.depthModule = op.depthModule;
    record.depthOp = op.depthOp;
    record.stage = op.stage.value_or(StageId());
    record.structureOnly = op.structureOnly;
    record.view = op.view;
    for (const schema::InspectedArgument& argument : op.arguments)
        record.arguments.push_back({argument.name, python(argument.value)});
    return record;
}

// Connects the records; what refers to something that is not there is refused at its place in the document.
class Connector {
public:
    explicit Connector(const Reader& root) : m_root(root) {}

    ModelRecord connect(const InspectDocument& document)
    {
        head(document);
        each("values", document.values, [&](const InspectedValue& value, const Reader& item) { add(value, item); });
        each("ops", document.ops, [&](const InspectedOp& op, const Reader& item) { add(op, item); });
        each("prologue", document.prologue,
             [&](const std::string& op, const Reader& item) { m_model.prologue.push_back(opAt(op, item)); });
        each("lints", document.lints, [&](const schema::InspectedLint& lint, const Reader& item) {
            m_model.lints.push_back({.code = lint.code,
                                     .message = lint.message,
                                     .op = lint.op ? opAt(*lint.op, item.child("op")) : OpId(),
                                     .hint = lint.hint,
                                     .blocking = lint.blocking});
        });
        return std::move(m_model);
    }

private:
    template <class Items, class Work>
    void each(const char* list, const Items& items, Work work)
    {
        const std::vector<Reader> readers = m_root.items(list);
        for (std::size_t i = 0; i < items.size() && m_root.ok(); ++i) work(items[i], readers[i]);
    }

    void head(const InspectDocument& document)
    {
        m_model.path = document.model;
        m_model.className = document.modelClass;
        m_model.traced = document.traced;
        m_model.exported = document.exported;
        m_model.repaired = document.repaired;
        m_model.splittable = document.splittable;
        m_model.fromCode = document.fromCode;
        m_model.depth = document.depth;
        m_model.depthModule = document.depthModule;
        m_model.depthOp = document.depthOp;
        m_model.notes = document.notes;
        m_model.roles = document.roles;
        m_model.sizes = document.sizes;
        m_model.hashes = document.hashes;
    }

    OpId opAt(const std::string& name, const Reader& place) const
    {
        const auto it = m_model.opsById.find(name);
        if (it != m_model.opsById.end()) return it->second;
        place.refuse("is not a valid operator: '" + name + "'");
        return {};
    }

    // Values are listed by their numbers, so that an id is a position.
    void add(const InspectedValue& value, const Reader& item)
    {
        const ValueId next(m_model.values.size());
        if (value.id != next) return item.child("id").refuse("must be " + ir::valueName(next));
        m_model.valuesById.emplace(ir::valueName(next), next);
        m_model.values.push_back(recordOf(value));
    }

    // Operators come in execution order: what one reads has been made before, so that there is no cycle.
    void add(const InspectedOp& op, const Reader& item)
    {
        const OpId self(m_model.ops.size());
        OpRecord record = recordOf(op);
        if (!m_model.opsById.emplace(record.id, self).second) return item.child("id").refuse("appears twice");
        const std::vector<Reader> inputs = item.items("inputs"), outputs = item.items("outputs");
        for (std::size_t i = 0; i < op.inputs.size(); ++i) read(op.inputs[i], self, inputs[i]);
        for (std::size_t i = 0; i < op.outputs.size(); ++i) make(op.outputs[i], self, outputs[i]);
        record.inputs = op.inputs;
        record.outputs = op.outputs;
        m_model.ops.push_back(std::move(record));
    }

    // Null, with the place refused, where there is no such value.
    ValueRecord* valueAt(ValueId id, const Reader& place)
    {
        if (id.at() < m_model.values.size()) return &m_model.values[id];
        place.refuse("is not a valid value: '" + ir::valueName(id) + "'");
        return nullptr;
    }

    void read(ValueId id, OpId reader, const Reader& place)
    {
        ValueRecord* const value = valueAt(id, place);
        if (value == nullptr) return;
        if (!value->producer.valid() && (value->origin == Origin::Op || value->origin == Origin::Input))
            return place.refuse("is read before it is made");
        if (value->consumers.empty() || value->consumers.back() != reader) value->consumers.push_back(reader);
    }

    void make(ValueId id, OpId producer, const Reader& place)
    {
        ValueRecord* const value = valueAt(id, place);
        if (value == nullptr) return;
        if (value->producer.valid()) return place.refuse("is made twice");
        value->producer = producer;
    }

    const Reader& m_root;
    ModelRecord m_model;
};

template <class Id>
Id find(const std::map<std::string, Id>& index, const std::string& id)
{
    const auto it = index.find(id);
    return it == index.end() ? Id() : it->second;
}

}  // namespace

bool ValueRecord::hasRows() const
{
    return std::ranges::any_of(spaces, [](const auto& space) { return space.has_value(); });
}

OpId ModelRecord::findOp(const std::string& id) const { return find(opsById, id); }

ValueId ModelRecord::findValue(const std::string& id) const { return find(valuesById, id); }

schema::ModelNames modelNames(const ModelRecord& model)
{
    return {.op = [&model](ir::OpId op) { return model.findOp(op).valid(); },
            .value = [&model](ValueId value) { return model.values.contains(value); }};
}

void labelValues(ModelRecord& model)
{
    std::vector<analysis::OpToName> ops;
    for (const OpRecord& op : model.ops)
        ops.push_back(
            {.kind = op.kind, .name = op.name, .module = op.module, .inputs = op.inputs, .outputs = op.outputs});
    std::vector<analysis::ValueToName> values;
    for (const ValueRecord& value : model.values) values.push_back({value.name, value.structureOnly});
    const std::vector<std::string> names = analysis::nameValues(ops, values);
    for (std::size_t v = 0; v < names.size(); ++v)
        if (model.values[v].label.empty()) model.values[v].label = names[v];
}

base::Result<ModelRecord> readModel(const json::Value& inspect)
{
    const base::Result<InspectDocument> document = schema::inspectDocumentFrom(inspect, "inspect");
    if (!document) return base::forward(document);
    const Reader root(inspect, "inspect");
    ModelRecord model = Connector(root).connect(*document);
    if (!root.ok()) return base::forward(root.status());
    labelValues(model);
    return model;
}

}  // namespace hopscope::protocol
