#include <limits>

#include "schema/envelope.h"
#include "schema/report.h"
#include "json/names.h"
#include "json/optional.h"

namespace hopscope::schema {

namespace {

using json::Reader;
using json::Value;

Value tensorValues(const std::vector<TensorRecord>& records)
{
    Value list = Value::array();
    for (const TensorRecord& record : records) list.push(tensorValue(record));
    return list;
}

Value toleranceValue(const ToleranceRecord& tolerance)
{
    Value item;
    item["absolute"] = tolerance.absolute;
    item["relative"] = tolerance.relative;
    item["scale"] = tolerance.scale;
    return item;
}

// An error of infinity is written as null, since JSON has no such number.
double errorNumber(const Reader& reader, const char* key)
{
    return json::nullable<double>(reader, key).value_or(std::numeric_limits<double>::infinity());
}

std::vector<TensorRecord> readTensors(const Reader& list)
{
    std::vector<TensorRecord> records;
    for (const Reader& item : list.items())
        records.push_back({.name = item.get<std::string>("name"),
                           .maxAbsolute = errorNumber(item, "max_abs"),
                           .maxRelative = errorNumber(item, "max_rel"),
                           .rows = item.get<std::int64_t>("rows"),
                           .different = item.get<std::int64_t>("different"),
                           .notFinite = item.get<std::int64_t>("not_finite")});
    return records;
}

std::optional<CoverageMethod> readMethod(const Reader& method)
{
    if (method.as<std::string>().empty()) return std::nullopt;
    return json::named<CoverageMethod>(method);
}

CoverageRecord readCoverage(const Reader& item)
{
    return {.method = readMethod(item.child("method")),
            .rows = item.get<std::int64_t>("rows"),
            .chosen = item.get<std::int64_t>("chosen"),
            .skipped = item.get<std::int64_t>("skipped"),
            .withInEdges = item.get<std::int64_t>("with_in_edges"),
            .hops = item.get<int>("hops")};
}

}  // namespace

Value tensorValue(const TensorRecord& record)
{
    Value item;
    item["name"] = record.name;
    item["max_abs"] = record.maxAbsolute;
    item["max_rel"] = record.maxRelative;
    item["rows"] = record.rows;
    item["different"] = record.different;
    item["not_finite"] = record.notFinite;
    return item;
}

Value coverageValue(const CoverageRecord& coverage)
{
    Value item;
    item["method"] = coverage.method ? base::nameOf(*coverage.method) : "";
    item["rows"] = coverage.rows;
    item["chosen"] = coverage.chosen;
    item["skipped"] = coverage.skipped;
    item["with_in_edges"] = coverage.withInEdges;
    item["hops"] = coverage.hops;
    return item;
}

Value verificationValue(const Verification& verification)
{
    Value item;
    item["verdict"] = base::nameOf(verification.verdict);
    item["reason"] = verification.reason;
    item["coverage"] = coverageValue(verification.coverage);
    item["outputs"] = tensorValues(verification.outputs);
    item["checkpoints"] = tensorValues(verification.checkpoints);
    item["tolerance"] = toleranceValue(verification.tolerance);
    item["seconds"] = verification.seconds;
    return item;
}

Verification verificationFrom(const Reader& reader)
{
    Verification result;
    result.verdict = json::named<Verdict>(reader, "verdict");
    result.reason = reader.get<std::string>("reason");
    result.coverage = readCoverage(reader.child("coverage"));
    result.outputs = readTensors(reader.child("outputs"));
    result.checkpoints = readTensors(reader.child("checkpoints"));
    const Reader tolerance = reader.child("tolerance");
    result.tolerance = {.absolute = tolerance.get<double>("absolute"),
                        .relative = tolerance.get<double>("relative"),
                        .scale = tolerance.get<double>("scale")};
    result.seconds = reader.get<double>("seconds");
    return result;
}

std::string writeVerification(const Verification& verification, const std::optional<Verification>& check)
{
    Value document = startDocument("hopscope-verification");
    const Value fields = verificationValue(verification);
    for (const auto& [key, value] : *fields.asObject()) document[key] = value;
    document["sample"] = check ? verificationValue(*check) : Value();
    return json::write(document, true);
}

base::Result<Verification> readVerification(const std::string& text, const std::string& file)
{
    const base::Result<Value> document = json::parse(text, file);
    if (!document) return base::forward(document);
    const Reader root(*document, file);
    checkEnvelope(root, "hopscope-verification");
    Verification result = verificationFrom(root);
    if (!root.child("sample").value().isNull()) (void)verificationFrom(root.child("sample"));
    if (!root.ok()) return base::forward(root.status());
    return result;
}

}  // namespace hopscope::schema
