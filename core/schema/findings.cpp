#include "schema/findings.h"

#include <cmath>

#include "schema/envelope.h"
#include "schema/stages.h"
#include "json/optional.h"

namespace hopscope::schema {

namespace {

using json::Value;

Value document(const char* kind, double seconds)
{
    Value item = startDocument("hopscope-findings");
    item["kind"] = kind;
    item["seconds"] = seconds;
    return item;
}

template <class T, class Make>
Value list(const std::vector<T>& items, Make&& make)
{
    Value array = Value::array();
    for (const T& item : items) array.push(make(item));
    return array;
}

Value operatorValue(const OperatorRecord& record)
{
    Value item;
    setOperator(item, record);
    return item;
}

Value rowValue(const RowRecord& row)
{
    Value item;
    item["table"] = row.table;
    item["row"] = row.row;
    item["ends"] = Value(row.ends);
    item["element"] = row.element;
    item["first"] = row.first;
    item["second"] = row.second;
    return item;
}

// Empty where there is none.
std::string idOf(ir::OpId op) { return op.valid() ? ir::opName(op) : std::string(); }

Value differenceValue(const DifferenceRecord& record)
{
    Value item = operatorValue(record.place);
    item["other"] = idOf(record.other);
    item["what"] = record.what;
    item["arguments"] = Value(record.arguments);
    item["rows"] = record.rows;
    item["of"] = record.of;
    item["max_abs"] = record.maxAbsolute;
    item["max_rel"] = record.maxRelative;
    item["shown"] = list(record.shown, rowValue);
    item["stage"] = stageOrNull(record.stage);
    return item;
}

Value orNull(const std::optional<DifferenceRecord>& record) { return record ? differenceValue(*record) : Value(); }

Value pointValue(const ErrorPoint& point)
{
    Value item;
    item["op"] = ir::opName(point.op);
    item["value"] = ir::valueName(point.value);
    item["depth"] = point.depth;
    item["max_abs"] = point.maxAbsolute;
    item["max_rel"] = point.maxRelative;
    return item;
}

Value nonFiniteValue(const NonFiniteRecord& record)
{
    Value item = operatorValue(record.place);
    item["nan"] = record.nan;
    item["infinite"] = record.infinite;
    item["stage"] = stageOrNull(record.stage);
    item["batch"] = record.batch;
    item["reaches_output"] = record.reachesOutput;
    item["shown"] = list(record.shown, rowValue);
    return item;
}

Value hitValue(const HitRecord& hit)
{
    Value item = operatorValue(hit.place);
    item["stage"] = hit.stage.number;
    item["batch"] = hit.batch;
    item["first_destination"] = hit.firstDestination;
    item["destinations"] = hit.destinations;
    item["shape"] = Value(hit.shape);
    item["dtype"] = hit.dtype;
    item["rows"] = hit.rows;
    item["min"] = json::orNull(hit.least);
    item["max"] = json::orNull(hit.most);
    item["mean"] = json::orNull(hit.mean);
    item["zeros"] = hit.zeros;
    item["nan"] = hit.nan;
    item["infinite"] = hit.infinite;
    return item;
}

Value watchValue(const WatchRecord& watched)
{
    Value item = operatorValue(watched.place);
    item["file"] = watched.file;
    item["nodes"] = Value(watched.nodes);
    item["numbers"] = list(watched.numbers, [](const std::vector<double>& row) { return Value(row); });
    return item;
}

Value contributionValue(const ContributionRecord& contribution)
{
    Value item = rowValue(contribution.row);
    item["share"] = contribution.share;
    return item;
}

Value aggregationValue(const AggregationRecord& record)
{
    Value item = operatorValue(record.place);
    item["node"] = record.node;
    item["messages"] = record.messages;
    item["contributions"] = list(record.contributions, contributionValue);
    return item;
}

}  // namespace

void setOperator(Value& item, const OperatorRecord& record)
{
    item["op"] = idOf(record.op);
    item["value"] = ir::valueName(record.value);
    item["name"] = record.name;
    item["kind"] = record.kind;
    item["module"] = record.module;
    item["source"] = record.source;
    item["depth"] = record.depth;
}

Value findingsValue(const DivergenceRecord& found)
{
    Value item = document("divergence", found.seconds);
    item["first"] = found.first;
    item["second"] = found.second;
    item["compared"] = found.compared;
    item["divergence"] = orNull(found.divergence);
    item["nodes"] = orNull(found.nodes);
    item["parameters"] = Value(found.parameters);
    item["only_first"] = list(found.onlyFirst, operatorValue);
    item["only_second"] = list(found.onlySecond, operatorValue);
    item["growth"] = list(found.growth, pointValue);
    return item;
}

Value findingsValue(const NonFiniteReport& found)
{
    Value item = document("nan", found.seconds);
    item["makers"] = list(found.makers, nonFiniteValue);
    item["inputs"] = Value(found.inputs);
    item["outputs"] = Value(found.outputs);
    return item;
}

Value findingsValue(const WatchReport& found)
{
    Value item = document("watch", found.seconds);
    item["hits"] = list(found.hits, hitValue);
    item["seen"] = found.seen;
    item["watched"] = list(found.watched, watchValue);
    item["aggregations"] = list(found.aggregations, aggregationValue);
    return item;
}

}  // namespace hopscope::schema
