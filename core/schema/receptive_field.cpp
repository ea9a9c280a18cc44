#include "schema/receptive_field.h"

#include "schema/envelope.h"
#include "json/names.h"

namespace hopscope::schema {

namespace {

using json::Reader;
using json::Value;

constexpr const char* format = "hopscope-receptive-field";

Value rowsValue(const FieldRows& rows)
{
    Value item;
    item["table"] = rows.table;
    item["rows"] = rows.rows;
    item["of"] = rows.of;
    item["row_bytes"] = rows.rowBytes;
    item["ids"] = Value(rows.ids);
    return item;
}

Value parentValue(const FieldParent& parent)
{
    Value item;
    item["table"] = parent.table;
    item["rows"] = parent.rows;
    item["ids"] = Value(parent.ids);
    return item;
}

Value edgesValue(const FieldEdges& edges)
{
    Value item;
    item["table"] = edges.table;
    item["from"] = edges.from;
    item["to"] = edges.to;
    item["edges"] = edges.edges;
    item["of"] = edges.of;
    item["parents"] = Value::array();
    for (const FieldParent& parent : edges.parents) item["parents"].push(parentValue(parent));
    item["from_ids"] = Value(edges.fromIds);
    item["to_ids"] = Value(edges.toIds);
    return item;
}

Value levelValue(const FieldLevel& level)
{
    Value item;
    item["depth"] = level.depth;
    item["rows"] = Value::array();
    for (const FieldRows& rows : level.rows) item["rows"].push(rowsValue(rows));
    item["edges"] = Value::array();
    for (const FieldEdges& edges : level.edges) item["edges"].push(edgesValue(edges));
    return item;
}

Value blockValue(const FieldBlock& block)
{
    Value item;
    item["depth"] = block.depth;
    item["table"] = block.table;
    item["edges"] = block.edges;
    item["sources"] = block.sources;
    return item;
}

Value readValue(const FieldRead& read)
{
    Value item;
    item["depth"] = read.depth;
    item["from"] = read.from;
    item["table"] = read.table;
    item["rows"] = read.rows;
    return item;
}

Value meanValue(const FieldMean& mean)
{
    Value item;
    item["depth"] = mean.depth;
    item["table"] = mean.table;
    item["edges"] = mean.edges;
    item["mean"] = mean.mean;
    item["error"] = mean.error;
    item["repeated"] = mean.repeated;
    item["bytes"] = mean.bytes;
    item["own_bytes"] = mean.ownBytes;
    return item;
}

Value explosionValue(const FieldExplosion& explosion)
{
    Value item;
    item["method"] = base::nameOf(explosion.method);
    item["nodes"] = explosion.nodes;
    item["seed"] = static_cast<std::int64_t>(explosion.seed);
    item["means"] = Value::array();
    for (const FieldMean& mean : explosion.means) item["means"].push(meanValue(mean));
    return item;
}

using Ids = std::vector<std::int64_t>;

FieldRows rowsFrom(const Reader& item)
{
    return {.table = item.get<std::string>("table"),
            .rows = item.get<std::int64_t>("rows"),
            .of = item.get<std::int64_t>("of"),
            .rowBytes = item.get<std::int64_t>("row_bytes"),
            .ids = item.get<Ids>("ids")};
}

FieldEdges edgesFrom(const Reader& item)
{
    FieldEdges edges{.table = item.get<std::string>("table"),
                     .from = item.get<std::string>("from"),
                     .to = item.get<std::string>("to"),
                     .edges = item.get<std::int64_t>("edges"),
                     .of = item.get<std::int64_t>("of"),
                     .fromIds = item.get<Ids>("from_ids"),
                     .toIds = item.get<Ids>("to_ids")};
    for (const Reader& parent : item.items("parents"))
        edges.parents.push_back({.table = parent.get<std::string>("table"),
                                 .rows = parent.get<std::int64_t>("rows"),
                                 .ids = parent.get<Ids>("ids")});
    if (edges.fromIds.size() != edges.toIds.size()) item.child("to_ids").refuse("must be as long as from_ids");
    return edges;
}

FieldLevel levelFrom(const Reader& item)
{
    FieldLevel level{.depth = item.get<int>("depth")};
    for (const Reader& rows : item.items("rows")) level.rows.push_back(rowsFrom(rows));
    for (const Reader& edges : item.items("edges")) level.edges.push_back(edgesFrom(edges));
    return level;
}

FieldExplosion explosionFrom(const Reader& item)
{
    FieldExplosion explosion{.method = json::named<MeanMethod>(item, "method"),
                             .nodes = item.get<std::int64_t>("nodes"),
                             .seed = static_cast<std::uint64_t>(item.get<std::int64_t>("seed"))};
    for (const Reader& mean : item.items("means"))
        explosion.means.push_back({.depth = mean.get<int>("depth"),
                                   .table = mean.get<std::string>("table"),
                                   .edges = mean.get<bool>("edges"),
                                   .mean = mean.get<double>("mean"),
                                   .error = mean.get<double>("error"),
                                   .repeated = mean.get<double>("repeated"),
                                   .bytes = mean.get<double>("bytes"),
                                   .ownBytes = mean.get<double>("own_bytes")});
    return explosion;
}

}  // namespace

Value receptiveFieldValue(const ReceptiveField& field)
{
    Value document = startDocument(format);
    document["table"] = field.table;
    document["node"] = field.node;
    document["nodes"] = field.nodes;
    document["depth"] = field.depth;
    document["levels"] = Value::array();
    for (const FieldLevel& level : field.levels) document["levels"].push(levelValue(level));
    document["blocks"] = Value::array();
    for (const FieldBlock& block : field.blocks) document["blocks"].push(blockValue(block));
    document["reads"] = Value::array();
    for (const FieldRead& read : field.reads) document["reads"].push(readValue(read));
    document["explosion"] = explosionValue(field.explosion);
    document["notes"] = Value(field.notes);
    document["seconds"] = field.seconds;
    return document;
}

std::string writeReceptiveField(const ReceptiveField& field) { return json::write(receptiveFieldValue(field), true); }

base::Result<ReceptiveField> receptiveFieldFrom(const Value& document, const std::string& name)
{
    const Reader root(document, name);
    checkEnvelope(root, format);
    ReceptiveField field{.table = root.get<std::string>("table"),
                         .node = root.get<std::int64_t>("node"),
                         .nodes = root.get<std::int64_t>("nodes"),
                         .depth = root.get<int>("depth")};
    for (const Reader& level : root.items("levels")) field.levels.push_back(levelFrom(level));
    for (const Reader& block : root.items("blocks"))
        field.blocks.push_back({.depth = block.get<int>("depth"),
                                .table = block.get<std::string>("table"),
                                .edges = block.get<std::int64_t>("edges"),
                                .sources = block.get<std::int64_t>("sources")});
    for (const Reader& read : root.items("reads"))
        field.reads.push_back({.depth = read.get<int>("depth"),
                               .from = read.get<int>("from"),
                               .table = read.get<std::string>("table"),
                               .rows = read.get<std::int64_t>("rows")});
    field.explosion = explosionFrom(root.child("explosion"));
    field.notes = root.get<std::vector<std::string>>("notes");
    field.seconds = root.get<double>("seconds");
    if (!root.ok()) return base::forward(root.status());
    return field;
}

}  // namespace hopscope::schema
