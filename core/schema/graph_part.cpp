#include "schema/graph_part.h"

#include "schema/envelope.h"
#include "json/optional.h"

namespace hopscope::schema {

namespace {

using json::Reader;
using json::Value;
using Ids = std::vector<std::int64_t>;

constexpr const char* format = "hopscope-graph-part";

Value tableValue(const PartTable& table)
{
    Value item;
    item["table"] = table.table;
    item["label"] = table.label;
    item["rows"] = table.rows;
    item["ids"] = Value(table.ids);
    item["whole"] = Value(table.whole);
    return item;
}

Value relationValue(const PartRelation& relation)
{
    Value item;
    item["table"] = relation.table;
    item["owner"] = relation.owner;
    item["key"] = relation.key;
    item["label"] = relation.label;
    item["from"] = relation.from;
    item["to"] = relation.to;
    item["of"] = relation.of;
    item["from_ids"] = Value(relation.fromIds);
    item["to_ids"] = Value(relation.toIds);
    return item;
}

PartTable tableFrom(const Reader& item)
{
    return {.table = item.get<std::string>("table"),
            .label = item.get<std::string>("label"),
            .rows = item.get<std::int64_t>("rows"),
            .ids = item.get<Ids>("ids"),
            .whole = item.get<Ids>("whole")};
}

PartRelation relationFrom(const Reader& item)
{
    PartRelation relation{.table = item.get<std::string>("table"),
                          .owner = item.get<std::string>("owner"),
                          .key = item.get<std::string>("key"),
                          .label = item.get<std::string>("label"),
                          .from = item.get<std::string>("from"),
                          .to = item.get<std::string>("to"),
                          .of = item.get<std::int64_t>("of"),
                          .fromIds = item.get<Ids>("from_ids"),
                          .toIds = item.get<Ids>("to_ids")};
    if (relation.fromIds.size() != relation.toIds.size()) item.child("to_ids").refuse("must be as long as from_ids");
    return relation;
}

}  // namespace

Value graphPartValue(const GraphPart& part)
{
    Value document = startDocument(format);
    document["complete"] = part.complete;
    document["table"] = part.table;
    document["node"] = json::orNull(part.node);
    document["tables"] = Value::array();
    for (const PartTable& table : part.tables) document["tables"].push(tableValue(table));
    document["relations"] = Value::array();
    for (const PartRelation& relation : part.relations) document["relations"].push(relationValue(relation));
    return document;
}

base::Result<GraphPart> graphPartFrom(const Value& document, const std::string& name)
{
    const Reader root(document, name);
    checkEnvelope(root, format);
    GraphPart part;
    part.complete = root.get<bool>("complete");
    part.table = root.get<std::string>("table");
    part.node = json::nullable<std::int64_t>(root, "node");
    for (const Reader& table : root.items("tables")) part.tables.push_back(tableFrom(table));
    for (const Reader& relation : root.items("relations")) part.relations.push_back(relationFrom(relation));
    if (!root.ok()) return base::forward(root.status());
    return part;
}

}  // namespace hopscope::schema
