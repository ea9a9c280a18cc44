#include "protocol/model.h"

#include <algorithm>
#include <set>

#include "analysis/naming/value_namer.h"
#include "schema/envelope.h"
#include "json/reader.h"

namespace hopscope::protocol {

namespace {

using json::Reader;

const std::set<std::string> kinds{"input", "structure", "rowwise", "gather", "aggregate", "reduce", "output"};
const std::set<std::string> origins{"input", "parameter", "constant", "op"};

std::string oneOf(const Reader& reader, const std::set<std::string>& known)
{
    auto text = reader.as<std::string>();
    if (reader.ok() && !known.contains(text)) reader.refuse("is '" + text + "', which is not known");
    return text;
}

int lookUp(const Reader& reader, const std::map<std::string, int>& index, const char* what)
{
    const auto name = reader.as<std::string>();
    const auto it = index.find(name);
    if (it != index.end()) return it->second;
    reader.refuse("is not a valid " + std::string(what) + ": '" + name + "'");
    return -1;
}

std::vector<int> lookUpAll(const Reader& list, const std::map<std::string, int>& index, const char* what)
{
    std::vector<int> found;
    for (const Reader& item : list.items()) found.push_back(lookUp(item, index, what));
    return found;
}

std::string textOrEmpty(const Reader& reader, const char* key)
{
    return schema::nullable<std::string>(reader, key).value_or("");
}

class ModelReader {
public:
    ModelRecord read(const Reader& root)
    {
        head(root);
        for (const Reader& item : root.items("values")) add(item, value(item), m_model.values, m_model.valuesById);
        for (const Reader& item : root.items("ops")) add(item, op(item), m_model.ops, m_model.opsById);
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
        m_model.depth = root.get<int>("depth");
        m_model.depthModule = root.get<int>("depth_module");
        m_model.depthOp = root.get<int>("depth_op");
        m_model.notes = root.get<std::vector<std::string>>("notes");
        for (const auto& [name, member] : root.child("roles").members()) m_model.roles[name] = member.as<std::string>();
        for (const auto& [name, member] : root.child("sizes").members())
            m_model.sizes[name] = member.as<std::int64_t>();
        m_model.hashes = schema::readHashes(root);
    }

    template <class Record>
    void add(const Reader& item, Record record, std::vector<Record>& list, std::map<std::string, int>& index)
    {
        if (!item.ok()) return;
        if (!index.emplace(record.id, static_cast<int>(list.size())).second) item.child("id").refuse("appears twice");
        list.push_back(std::move(record));
    }

    static ValueRecord value(const Reader& item)
    {
        ValueRecord v;
        v.id = item.get<std::string>("id");
        v.name = item.get<std::string>("name");
        v.label = item.maybe<std::string>("label").value_or("");
        v.origin = oneOf(item.child("origin"), origins);
        v.dtype = textOrEmpty(item, "dtype");
        v.structureOnly = item.get<bool>("structure_only");
        v.bytes = schema::nullable<std::int64_t>(item, "bytes");
        for (const Reader& dim : item.items("shape"))
            v.shape.push_back(dim.value().asInt() != nullptr ? std::to_string(*dim.value().asInt())
                                                             : dim.as<std::string>());
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
        o.kind = oneOf(item.child("kind"), kinds);
        o.name = item.get<std::string>("name");
        o.module = item.get<std::string>("module");
        o.moduleType = item.get<std::string>("module_type");
        o.source = source(item.child("source"));
        o.depth = item.get<int>("depth");
        o.depthModule = item.get<int>("depth_module");
        o.depthOp = item.get<int>("depth_op");
        o.stage = schema::nullable<int>(item, "stage");
        o.structureOnly = item.get<bool>("structure_only");
        o.view = item.get<bool>("view");
        connect(item, o);
        return o;
    }

    static SourceRecord source(const Reader& reader)
    {
        if (reader.value().isNull()) return {};
        return {reader.get<std::string>("label"), reader.get<std::string>("file"), reader.get<std::string>("text"),
                reader.get<int>("line")};
    }

    // Operators come in execution order: what one reads has been made before, so that there is no cycle.
    void connect(const Reader& item, OpRecord& o)
    {
        const int self = static_cast<int>(m_model.ops.size());
        for (const Reader& entry : item.items("inputs")) {
            const int v = lookUp(entry, m_model.valuesById, "value");
            if (v < 0) return;
            ValueRecord& record = at(v);
            if (record.producer < 0 && (record.origin == "op" || record.origin == "input"))
                return entry.refuse("is read before it is made");
            o.inputs.push_back(v);
            if (record.consumers.empty() || record.consumers.back() != self) record.consumers.push_back(self);
        }
        for (const Reader& entry : item.items("outputs")) {
            const int v = lookUp(entry, m_model.valuesById, "value");
            if (v < 0) return;
            if (at(v).producer >= 0) return entry.refuse("is made twice");
            at(v).producer = self;
            o.outputs.push_back(v);
        }
    }

    LintRecord lint(const Reader& item) const
    {
        LintRecord l{item.get<std::string>("code"), item.get<std::string>("message"), -1};
        const Reader place = item.child("op");
        if (item.ok() && !place.value().isNull()) l.op = lookUp(place, m_model.opsById, "operator");
        return l;
    }

    ValueRecord& at(int v) { return m_model.values[static_cast<std::size_t>(v)]; }

    ModelRecord m_model;
};

int find(const std::map<std::string, int>& index, const std::string& id)
{
    const auto it = index.find(id);
    return it == index.end() ? -1 : it->second;
}

}  // namespace

bool ValueRecord::hasRows() const
{
    return std::ranges::any_of(spaces, [](const auto& space) { return space.has_value(); });
}

int ModelRecord::opIndex(const std::string& id) const { return find(opsById, id); }

int ModelRecord::valueIndex(const std::string& id) const { return find(valuesById, id); }

void labelValues(ModelRecord& model)
{
    std::vector<analysis::OpToName> ops;
    for (const OpRecord& op : model.ops) ops.push_back({op.kind, op.name, op.module, op.inputs, op.outputs});
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
