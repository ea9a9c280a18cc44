#include <limits>
#include <set>

#include "schema/envelope.h"
#include "schema/report.h"

namespace hopscope::schema {

namespace {

using json::Reader;
using json::Value;

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

Value tensorValues(const std::vector<TensorRecord>& records)
{
    Value list = Value::array();
    for (const TensorRecord& record : records) list.push(tensorValue(record));
    return list;
}

Value coverageValue(const CoverageRecord& coverage)
{
    Value item;
    item["method"] = coverage.method;
    item["rows"] = coverage.rows;
    item["chosen"] = coverage.chosen;
    item["skipped"] = coverage.skipped;
    item["with_in_edges"] = coverage.withInEdges;
    item["hops"] = coverage.hops;
    return item;
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
    return nullable<double>(reader, key).value_or(std::numeric_limits<double>::infinity());
}

std::vector<TensorRecord> readTensors(const Reader& list)
{
    std::vector<TensorRecord> records;
    for (const Reader& item : list.items())
        records.push_back({item.get<std::string>("name"), errorNumber(item, "max_abs"), errorNumber(item, "max_rel"),
                           item.get<std::int64_t>("rows"), item.get<std::int64_t>("different"),
                           item.get<std::int64_t>("not_finite")});
    return records;
}

CoverageRecord readCoverage(const Reader& item)
{
    return {item.get<std::string>("method"),         item.get<std::int64_t>("rows"),
            item.get<std::int64_t>("chosen"),        item.get<std::int64_t>("skipped"),
            item.get<std::int64_t>("with_in_edges"), item.get<int>("hops")};
}

}  // namespace

Value verificationValue(const Verification& verification)
{
    Value item;
    item["verdict"] = verification.verdict;
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
    static const std::set<std::string> verdicts{"equal", "different", "unverifiable"};
    Verification result;
    result.verdict = reader.get<std::string>("verdict");
    if (reader.ok() && !verdicts.contains(result.verdict)) reader.child("verdict").refuse("is not a verdict");
    result.reason = reader.get<std::string>("reason");
    result.coverage = readCoverage(reader.child("coverage"));
    result.outputs = readTensors(reader.child("outputs"));
    result.checkpoints = readTensors(reader.child("checkpoints"));
    const Reader tolerance = reader.child("tolerance");
    result.tolerance = {tolerance.get<double>("absolute"), tolerance.get<double>("relative"),
                        tolerance.get<double>("scale")};
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
