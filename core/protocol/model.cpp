#include "protocol/model.h"

#include <algorithm>

#include "analysis/naming/value_namer.h"
#include "ir/origin_names.h"
#include "schema/envelope.h"
#include "schema/stages.h"
#include "json/names.h"
#include "json/optional.h"

namespace hopscope::protocol {

namespace {

using json::Reader;

template <class Id>
Id lookUp(const Reader& reader, const std::map<std::string, Id>& index, const char* what)
{
    const auto name = reader.as<std::string>();
    const auto it = index.find(name);
    if (it != index.end()) return it->second;
    reader.refuse("is not a valid " + std::string(what) + ": '" + name + "'");
    return {};
}

template <class Id>
std::vector<Id> lookUpAll(const Reader& list, const std::map<std::string, Id>& index, const char* what)
{
    std::vector<Id> found;
    for (const Reader& item : list.items()) found.push_back(lookUp(item, index, what));
    return found;
}

std::string textOrEmpty(const Reader& reader, const char* key)
{
    return json::nullable<std::string>(reader, key).value_or("");
}

class ModelReader {
public:
    ModelRecord read(const Reader& root)
    {
        head(root);
        for (const Reader& item : root.items("values")) addValue(item);
        for (const Reader& item : root.items("ops")) addOp(item);
        m_model.prologue = lookUpAll(root.child("prologue"), m_model.opsById, "operator");
        for (const Reader& item : root.items("lints")) m_model.lints.push_back(lint(item));
        return std::move(m_model);
    }

private:
    void head(const Reader& root)
    {
        m_model.path = root.get<std::string>("model");
        m_model.className = root.get<std::string>("model_class");
        m_model.traced = root.get<bool>("traced");
        m_model.repaired = root.get<bool>("repaired");
        m_model.splittable = root.get<bool>("splittable");
        m_model.fromCode = root.maybe<bool>("from_code").value_or(false);
        m_model.depth = root.get<int>("depth");
        m_model.depthModule = root.get<int>("depth_module");
        m_model.depthOp = root.get<int>("depth_op");
        m_model.notes = root.get<std::vector<std::string>>("notes");
        for (const auto& [name, member] : root.child("roles").members()) m_model.roles[name] = member.as<std::string>();
        for (const auto& [name, member] : root.child("sizes").members())
            m_model.sizes[name] = member.as<std::int64_t>();
        m_model.hashes = schema::readHashes(root);
    }

    // Values are listed by their numbers, so that an id is a position.
    void addValue(const Reader& item)
    {
        const ValueId next(m_model.values.size());
        ValueRecord record = value(item);
        if (item.ok() && record.id != ir::valueName(next)) item.child("id").refuse("must be " + ir::valueName(next));
        m_model.valuesById.emplace(record.id, next);
        m_model.values.push_back(std::move(record));
    }

    void addOp(const Reader& item)
    {
        OpRecord record = op(item);
        if (!item.ok()) return;
        if (!m_model.opsById.emplace(record.id, OpId(m_model.ops.size())).second)
            item.child("id").refuse("appears twice");
        m_model.ops.push_back(std::move(record));
    }

    static std::string dimension(const Reader& dim)
    {
        if (dim.value().isNull()) return "?";
        return dim.value().asInt() != nullptr ? std::to_string(*dim.value().asInt()) : dim.as<std::string>();
    }

    static ValueRecord value(const Reader& item)
    {
        ValueRecord v;
        v.id = item.get<std::string>("id");
        v.name = item.get<std::string>("name");
        v.label = item.maybe<std::string>("label").value_or("");
        v.origin = json::named<Origin>(item, "origin");
        v.dtype = textOrEmpty(item, "dtype");
        v.structureOnly = item.get<bool>("structure_only");
        v.bytes = json::nullable<std::int64_t>(item, "bytes");
        for (const Reader& dim : item.items("shape")) v.shape.push_back(dimension(dim));
        for (const Reader& dim : item.items("row_spaces"))
            v.spaces.push_back(dim.value().isNull() ? std::nullopt : std::optional(dim.as<std::string>()));
        if (item.ok() && v.spaces.size() != v.shape.size())
            item.child("row_spaces").refuse("does not have one entry per dimension");
        return v;
    }

    OpRecord op(const Reader& item)
    {
        OpRecord o;
        o.id = item.get<std::string>("id");
        o.kind = json::named<NodeKind>(item, "kind");
        o.name = item.get<std::string>("name");
        o.module = item.get<std::string>("module");
        o.moduleType = item.get<std::string>("module_type");
        o.source = source(item.child("source"));
        o.depth = item.get<int>("depth");
        o.depthModule = item.get<int>("depth_module");
        o.depthOp = item.get<int>("depth_op");
        if (const Reader stage = item.child("stage"); !stage.value().isNull()) o.stage = schema::readStage(stage);
        o.structureOnly = item.get<bool>("structure_only");
        o.view = item.get<bool>("view");
        if (item.value().find("arguments") != nullptr)  // documents of older engines have none
            for (const Reader& argument : item.items("arguments"))
                o.arguments.push_back({argument.get<std::string>("name"), python(argument.child("value").value())});
        connect(item, o);
        return o;
    }

    static std::string python(const json::Value& value)
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

    static SourceRecord source(const Reader& reader)
    {
        if (reader.value().isNull()) return {};
        return {.label = reader.get<std::string>("label"),
                .file = reader.get<std::string>("file"),
                .text = reader.get<std::string>("text"),
                .line = reader.get<int>("line")};
    }

    // Operators come in execution order: what one reads has been made before, so that there is no cycle.
    void connect(const Reader& item, OpRecord& o)
    {
        const OpId self(m_model.ops.size());
        for (const Reader& entry : item.items("inputs")) {
            const ValueId v = lookUp(entry, m_model.valuesById, "value");
            if (!v.valid()) return;
            ValueRecord& record = m_model.values[v];
            if (!record.producer.valid() && (record.origin == Origin::Op || record.origin == Origin::Input))
                return entry.refuse("is read before it is made");
            o.inputs.push_back(v);
            if (record.consumers.empty() || record.consumers.back() != self) record.consumers.push_back(self);
        }
        for (const Reader& entry : item.items("outputs")) {
            const ValueId v = lookUp(entry, m_model.valuesById, "value");
            if (!v.valid()) return;
            if (m_model.values[v].producer.valid()) return entry.refuse("is made twice");
            m_model.values[v].producer = self;
            o.outputs.push_back(v);
        }
    }

    LintRecord lint(const Reader& item) const
    {
        LintRecord l{.code = item.get<std::string>("code"),
                     .message = item.get<std::string>("message"),
                     .op = {},
                     .hint = item.maybe<std::string>("hint").value_or(""),
                     .blocking = item.maybe<bool>("blocking").value_or(false)};
        const Reader place = item.child("op");
        if (item.ok() && !place.value().isNull()) l.op = lookUp(place, m_model.opsById, "operator");
        return l;
    }

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
    const Reader root(inspect, "inspect");
    schema::checkEnvelope(root, "hopscope-inspect");
    ModelRecord model = ModelReader().read(root);
    if (!root.ok()) return base::forward(root.status());
    labelValues(model);
    return model;
}

}  // namespace hopscope::protocol
