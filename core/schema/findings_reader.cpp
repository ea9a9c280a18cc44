#include <limits>

#include "schema/envelope.h"
#include "schema/findings.h"
#include "schema/names.h"
#include "schema/stages.h"

namespace hopscope::schema {

using json::Reader;

namespace {

// None where the text is empty.
ir::OpId maybeOp(const Reader& item) { return item.as<std::string>().empty() ? ir::OpId() : readOp(item); }

}  // namespace

OperatorRecord operatorFrom(const Reader& item)
{
    return {.op = maybeOp(item.child("op")),
            .value = readValue(item.child("value")),
            .name = item.get<std::string>("name"),
            .kind = item.get<std::string>("kind"),
            .module = item.get<std::string>("module"),
            .source = item.get<std::string>("source"),
            .depth = item.get<int>("depth")};
}

namespace {

// Numbers that are not finite are null in documents.
double numberOr(const Reader& item, std::string_view key)
{
    return item.maybe<double>(key).value_or(std::numeric_limits<double>::quiet_NaN());
}

RowRecord rowFrom(const Reader& item)
{
    return {.table = item.get<std::string>("table"),
            .row = item.get<std::int64_t>("row"),
            .ends = item.get<std::vector<std::int64_t>>("ends"),
            .element = item.get<std::int64_t>("element"),
            .first = numberOr(item, "first"),
            .second = numberOr(item, "second")};
}

template <class Read>
auto listFrom(const Reader& item, std::string_view key, Read&& read)
{
    std::vector<std::invoke_result_t<Read, const Reader&>> made;
    for (const Reader& each : item.items(key)) made.push_back(read(each));
    return made;
}

DifferenceRecord differenceFrom(const Reader& item)
{
    return {.place = operatorFrom(item),
            .other = maybeOp(item.child("other")),
            .what = item.get<std::string>("what"),
            .arguments = item.get<std::vector<std::string>>("arguments"),
            .rows = item.get<std::int64_t>("rows"),
            .of = item.get<std::int64_t>("of"),
            .maxAbsolute = numberOr(item, "max_abs"),
            .maxRelative = numberOr(item, "max_rel"),
            .shown = listFrom(item, "shown", rowFrom),
            .stage = maybeStage(item, "stage")};
}

std::optional<DifferenceRecord> maybeDifference(const Reader& root, std::string_view key)
{
    if (!root.has(key)) return std::nullopt;
    return differenceFrom(root.child(key));
}

ErrorPoint pointFrom(const Reader& item)
{
    return {.op = readOp(item.child("op")),
            .value = readValue(item.child("value")),
            .depth = item.get<int>("depth"),
            .maxAbsolute = numberOr(item, "max_abs"),
            .maxRelative = numberOr(item, "max_rel")};
}

NonFiniteRecord nonFiniteRecordFrom(const Reader& item)
{
    return {.place = operatorFrom(item),
            .nan = item.get<std::int64_t>("nan"),
            .infinite = item.get<std::int64_t>("infinite"),
            .stage = maybeStage(item, "stage"),
            .batch = item.get<std::int64_t>("batch"),
            .reachesOutput = item.get<bool>("reaches_output"),
            .shown = listFrom(item, "shown", rowFrom)};
}

HitRecord hitFrom(const Reader& item)
{
    return {.place = operatorFrom(item),
            .stage = readStage(item.child("stage")),
            .batch = item.get<std::int64_t>("batch"),
            .firstDestination = item.get<std::int64_t>("first_destination"),
            .destinations = item.get<std::int64_t>("destinations"),
            .shape = item.get<std::vector<std::int64_t>>("shape"),
            .dtype = item.get<std::string>("dtype"),
            .rows = item.get<std::string>("rows"),
            .least = item.maybe<double>("min"),
            .most = item.maybe<double>("max"),
            .mean = item.maybe<double>("mean"),
            .zeros = item.get<std::int64_t>("zeros"),
            .nan = item.get<std::int64_t>("nan"),
            .infinite = item.get<std::int64_t>("infinite")};
}

std::vector<double> numbersFrom(const Reader& row)
{
    std::vector<double> numbers;
    for (const Reader& item : row.items())
        numbers.push_back(item.value().isNull() ? std::numeric_limits<double>::quiet_NaN() : item.as<double>());
    return numbers;
}

WatchRecord watchRecordFrom(const Reader& item)
{
    return {.place = operatorFrom(item),
            .file = item.get<std::string>("file"),
            .nodes = item.get<std::vector<std::int64_t>>("nodes"),
            .numbers = listFrom(item, "numbers", numbersFrom)};
}

ContributionRecord contributionFrom(const Reader& item)
{
    return {.row = rowFrom(item), .share = item.get<double>("share")};
}

AggregationRecord aggregationFrom(const Reader& item)
{
    return {.place = operatorFrom(item),
            .node = item.get<std::int64_t>("node"),
            .messages = item.get<std::int64_t>("messages"),
            .contributions = listFrom(item, "contributions", contributionFrom)};
}

void checkKind(const Reader& root, const std::string& kind)
{
    checkEnvelope(root, "hopscope-findings");
    if (root.get<std::string>("kind") != kind) root.child("kind").refuse("must be '" + kind + "'");
}

template <class Record>
base::Result<Record> checked(const Reader& root, Record record)
{
    if (!root.ok()) return base::forward(root.status());
    return record;
}

}  // namespace

base::Result<DivergenceRecord> divergenceFrom(const json::Value& document, const std::string& name)
{
    const Reader root(document, name);
    checkKind(root, "divergence");
    return checked(root, DivergenceRecord{.first = root.get<std::string>("first"),
                                          .second = root.get<std::string>("second"),
                                          .compared = root.get<std::int64_t>("compared"),
                                          .divergence = maybeDifference(root, "divergence"),
                                          .nodes = maybeDifference(root, "nodes"),
                                          .parameters = root.get<std::vector<std::string>>("parameters"),
                                          .onlyFirst = listFrom(root, "only_first", operatorFrom),
                                          .onlySecond = listFrom(root, "only_second", operatorFrom),
                                          .growth = listFrom(root, "growth", pointFrom),
                                          .seconds = root.get<double>("seconds")});
}

base::Result<NonFiniteReport> nonFiniteFrom(const json::Value& document, const std::string& name)
{
    const Reader root(document, name);
    checkKind(root, "nan");
    return checked(root, NonFiniteReport{.makers = listFrom(root, "makers", nonFiniteRecordFrom),
                                         .inputs = root.get<std::vector<std::string>>("inputs"),
                                         .outputs = root.get<std::vector<std::string>>("outputs"),
                                         .seconds = root.get<double>("seconds")});
}

base::Result<WatchReport> watchFrom(const json::Value& document, const std::string& name)
{
    const Reader root(document, name);
    checkKind(root, "watch");
    return checked(root, WatchReport{.hits = listFrom(root, "hits", hitFrom),
                                     .seen = root.get<std::int64_t>("seen"),
                                     .watched = listFrom(root, "watched", watchRecordFrom),
                                     .aggregations = listFrom(root, "aggregations", aggregationFrom),
                                     .seconds = root.get<double>("seconds")});
}

}  // namespace hopscope::schema
