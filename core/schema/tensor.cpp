#include "schema/tensor.h"

#include <limits>

#include "schema/envelope.h"
#include "schema/forms.h"
#include "json/names.h"
#include "json/optional.h"

namespace hopscope::schema {

namespace {

using json::Reader;
using json::Value;

void setStatistics(Value& item, const Statistics& statistics)
{
    item["numbers"] = statistics.numbers;
    item["finite"] = statistics.finite;
    item["zeros"] = statistics.zeros;
    item["nan"] = statistics.nan;
    item["infinite"] = statistics.infinite;
    item["min"] = json::orNull(statistics.least);
    item["max"] = json::orNull(statistics.most);
    item["mean"] = json::orNull(statistics.mean);
    item["std"] = json::orNull(statistics.deviation);
    item["histogram"] = Value(statistics.histogram);
}

Statistics statisticsFrom(const Reader& item)
{
    return {.numbers = item.get<std::int64_t>("numbers"),
            .finite = item.get<std::int64_t>("finite"),
            .zeros = item.get<std::int64_t>("zeros"),
            .nan = item.get<std::int64_t>("nan"),
            .infinite = item.get<std::int64_t>("infinite"),
            .least = item.maybe<double>("min"),
            .most = item.maybe<double>("max"),
            .mean = item.maybe<double>("mean"),
            .deviation = item.maybe<double>("std"),
            .histogram = item.get<std::vector<std::int64_t>>("histogram")};
}

Value batchValue(const std::optional<BatchPlace>& batch)
{
    if (!batch) return {};
    Value item;
    item["number"] = batch->number;
    item["first_destination"] = batch->firstDestination;
    item["destinations"] = batch->destinations;
    return item;
}

std::optional<BatchPlace> batchFrom(const Reader& root)
{
    if (!root.has("batch")) return std::nullopt;
    const Reader item = root.child("batch");
    return BatchPlace{item.get<std::int64_t>("number"), item.get<std::int64_t>("first_destination"),
                      item.get<std::int64_t>("destinations")};
}

Value rowValue(const TensorRow& row)
{
    Value item;
    item["table"] = row.table;
    item["row"] = row.row;
    item["ends"] = Value(row.ends);
    item["numbers"] = Value::array();
    for (const double number : row.numbers) item["numbers"].push(number);  // null where it is not finite
    return item;
}

TensorRow rowFrom(const Reader& item)
{
    TensorRow row{.table = item.get<std::string>("table"),
                  .row = item.get<std::int64_t>("row"),
                  .ends = item.get<std::vector<std::int64_t>>("ends")};
    for (const Reader& number : item.items("numbers"))
        row.numbers.push_back(number.value().isNull() ? std::numeric_limits<double>::quiet_NaN() : number.as<double>());
    return row;
}

}  // namespace

Value tensorValue(const TensorSummary& record)
{
    Value item = startDocument("hopscope-tensor");
    item["seconds"] = record.seconds;
    item["tensor"] = json::orNull(record.tensor);
    json::writeInto(item, record.place);
    item["from"] = base::nameOf(record.from);
    item["stage"] = stageOrNull(record.stage);
    item["batch"] = batchValue(record.batch);
    item["dtype"] = record.dtype;
    item["shape"] = Value(record.shape);
    item["axis"] = json::orNull(record.axis);
    item["count"] = record.count;
    item["rows"] = record.rows;
    setStatistics(item, record.statistics);
    item["shown"] = Value::array();
    for (const TensorRow& row : record.shown) item["shown"].push(rowValue(row));
    item["file"] = record.file;
    return item;
}

std::string writeTensor(const TensorSummary& record) { return json::write(tensorValue(record), true); }

base::Result<TensorSummary> tensorFrom(const json::Value& document, const std::string& name)
{
    const Reader root(document, name);
    checkEnvelope(root, "hopscope-tensor");
    TensorSummary record;
    record.seconds = root.get<double>("seconds");
    record.tensor = root.maybe<std::int64_t>("tensor");
    record.place = json::readAs<OperatorRecord>(root);
    record.from = json::named<TensorOrigin>(root, "from");
    record.stage = maybeStage(root, "stage");
    record.batch = batchFrom(root);
    record.dtype = root.get<std::string>("dtype");
    record.shape = root.get<std::vector<std::int64_t>>("shape");
    record.axis = root.maybe<int>("axis");
    record.count = root.get<std::int64_t>("count");
    record.rows = root.get<std::string>("rows");
    record.statistics = statisticsFrom(root);
    for (const Reader& item : root.items("shown")) record.shown.push_back(rowFrom(item));
    record.file = root.get<std::string>("file");
    if (!root.ok()) return base::forward(root.status());
    return record;
}

}  // namespace hopscope::schema
