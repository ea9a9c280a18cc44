#include "schema/split_code.h"

#include <set>

#include "schema/names.h"
#include "schema/stages.h"
#include "json/names.h"

namespace hopscope::schema {

namespace {

using json::Reader;
using json::Value;
using Known = std::set<std::string>;

// ---- writing

template <class T, class Write>
Value listOf(const std::vector<T>& items, Write write)
{
    Value list = Value::array();
    for (const T& item : items) list.push(write(item));
    return list;
}

Value rowsValue(const CodeRows& rows)
{
    Value item;
    item["kind"] = base::nameOf(rows.kind);
    item["table"] = rows.table;
    item["key"] = rows.key;
    return item;
}

Value argumentValue(const CodeArgument& argument)
{
    Value item;
    item["name"] = argument.name;
    item["kind"] = base::nameOf(argument.kind);
    item["value"] = argument.value.valid() ? Value(ir::valueName(argument.value)) : Value();
    item["dim"] = argument.dim;
    item["table"] = argument.table;
    item["key"] = argument.key;
    item["rows"] = listOf(argument.rows, rowsValue);
    return item;
}

Value mergeValue(const CodeMerge& merge)
{
    Value item;
    item["kind"] = base::nameOf(merge.kind);
    item["tensors"] = merge.tensors;
    item["per_row"] = merge.perRow;
    item["correction"] = merge.correction;
    item["include_self"] = merge.includeSelf;
    item["shape"] = Value::array();
    for (const std::int64_t n : merge.shape) item["shape"].push(Value(n));
    return item;
}

Value resultValue(const CodeResult& result)
{
    Value item;
    item["value"] = ir::valueName(result.value);
    item["rows"] = rowsValue(result.rows);
    item["dim"] = result.dim;
    item["merge"] = result.merge ? mergeValue(*result.merge) : Value();
    return item;
}

Value frontierValue(const CodeFrontier& frontier)
{
    Value item;
    item["target"] = frontier.target;
    item["table"] = frontier.table;
    item["key"] = frontier.key;
    item["owner"] = rowsValue(frontier.owner);
    return item;
}

Value loopValue(const CodeLoop& loop)
{
    Value item;
    item["stage"] = loop.stage.number;
    item["method"] = loop.method;
    item["destination"] = loop.destination;
    item["frontier"] = listOf(loop.frontier, frontierValue);
    item["arguments"] = listOf(loop.arguments, argumentValue);
    item["results"] = listOf(loop.results, resultValue);
    return item;
}

Value tableValue(const CodeTable& table)
{
    Value item;
    item["name"] = table.name;
    item["kind"] = base::nameOf(table.kind);
    item["from"] = Value(table.from);
    item["made"] = table.made;
    item["size"] = table.size;
    item["parents"] = table.parents;
    return item;
}

Value columnValue(const CodeColumn& column)
{
    Value item;
    item["table"] = column.table;
    item["key"] = column.key;
    item["target"] = column.target;
    item["tensor"] = column.tensor;
    return item;
}

Value weightValue(const CodeWeight& weight)
{
    Value item;
    item["attribute"] = weight.attribute;
    item["name"] = weight.name;
    item["value"] = ir::valueName(weight.value);
    return item;
}

Value outputValue(const CodeOutput& output)
{
    Value item;
    item["name"] = output.name;
    item["value"] = ir::valueName(output.value);
    item["rows"] = output.rows;
    return item;
}

// ---- reading

// Reads one document's code; tables have been listed before they are named.
class CodeReader {
public:
    explicit CodeReader(const Reader& root) : m_root(root) {}

    Code read()
    {
        for (const Reader& item : m_root.items("tables")) m_code.tables.push_back(table(item));
        for (const Reader& item : m_root.items("columns"))
            m_code.columns.push_back({.table = known(item, "table"),
                                      .key = item.get<std::string>("key"),
                                      .target = known(item, "target"),
                                      .tensor = item.get<std::string>("tensor")});
        for (const Reader& item : m_root.items("weights"))
            m_code.weights.push_back({.attribute = item.get<std::string>("attribute"),
                                      .name = item.get<std::string>("name"),
                                      .value = readValue(item.child("value"))});
        m_code.prologue = m_root.get<std::vector<std::string>>("prologue");
        for (const Reader& item : m_root.items("loops")) m_code.loops.push_back(loop(item));
        for (const Reader& item : m_root.items("results")) m_code.results.push_back(argument(item));
        for (const Reader& item : m_root.items("outputs"))
            m_code.outputs.push_back({.name = item.get<std::string>("name"),
                                      .value = readValue(item.child("value")),
                                      .rows = item.get<bool>("rows")});
        return std::move(m_code);
    }

private:
    std::string known(const Reader& item, const char* key) const
    {
        const Reader child = item.child(key);
        auto name = child.as<std::string>();
        if (child.ok() && !m_tables.contains(name)) child.refuse("is not a table");
        return name;
    }

    CodeTable table(const Reader& item)
    {
        CodeTable table{.name = item.get<std::string>("name"),
                        .kind = json::named<TableKind>(item, "kind"),
                        .from = item.get<std::vector<std::string>>("from"),
                        .made = item.get<std::string>("made"),
                        .size = item.get<std::string>("size"),
                        .parents = item.get<std::string>("parents")};
        if (item.ok() && !m_tables.insert(table.name).second) item.child("name").refuse("is listed twice");
        return table;
    }

    CodeRows rows(const Reader& item) const
    {
        return {.kind = json::named<CodeRowsKind>(item, "kind"),
                .table = known(item, "table"),
                .key = item.get<std::string>("key")};
    }

    CodeArgument argument(const Reader& item) const
    {
        CodeArgument result;
        result.name = item.get<std::string>("name");
        result.kind = json::named<ArgumentKind>(item, "kind");
        if (!item.child("value").value().isNull()) result.value = readValue(item.child("value"));
        result.dim = item.get<int>("dim");
        result.table = item.get<std::string>("table");
        result.key = item.get<std::string>("key");
        for (const Reader& row : item.items("rows")) result.rows.push_back(rows(row));
        return result;
    }

    static CodeMerge merge(const Reader& item)
    {
        CodeMerge merge;
        merge.kind = json::named<MergeKind>(item, "kind");
        merge.tensors = item.get<int>("tensors");
        merge.perRow = item.get<std::int64_t>("per_row");
        merge.correction = item.get<double>("correction");
        merge.includeSelf = item.get<bool>("include_self");
        merge.shape = item.get<std::vector<std::int64_t>>("shape");
        return merge;
    }

    CodeResult result(const Reader& item) const
    {
        CodeResult result;
        result.value = readValue(item.child("value"));
        result.rows = rows(item.child("rows"));
        result.dim = item.get<int>("dim");
        const Reader merging = item.child("merge");
        if (!merging.value().isNull()) result.merge = merge(merging);
        return result;
    }

    CodeLoop loop(const Reader& item) const
    {
        CodeLoop loop;
        loop.stage = readStage(item.child("stage"));
        loop.method = item.get<std::string>("method");
        loop.destination = known(item, "destination");
        for (const Reader& each : item.items("frontier"))
            loop.frontier.push_back({.target = known(each, "target"),
                                     .table = known(each, "table"),
                                     .key = each.get<std::string>("key"),
                                     .owner = rows(each.child("owner"))});
        for (const Reader& each : item.items("arguments")) loop.arguments.push_back(argument(each));
        for (const Reader& each : item.items("results")) loop.results.push_back(result(each));
        return loop;
    }

    const Reader& m_root;
    Known m_tables;
    Code m_code;
};

}  // namespace

Value codeValue(const Code& code)
{
    Value item;
    item["tables"] = listOf(code.tables, tableValue);
    item["columns"] = listOf(code.columns, columnValue);
    item["weights"] = listOf(code.weights, weightValue);
    item["prologue"] = Value(code.prologue);
    item["loops"] = listOf(code.loops, loopValue);
    item["results"] = listOf(code.results, argumentValue);
    item["outputs"] = listOf(code.outputs, outputValue);
    return item;
}

Code readCode(const Reader& reader) { return CodeReader(reader).read(); }

}  // namespace hopscope::schema
