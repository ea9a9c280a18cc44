// The member of report.json about results that are not finite.

#include "base/units.h"
#include "schema/report.h"
#include "schema/stages.h"

namespace hopscope::schema {

using json::Reader;
using json::Value;

namespace {

Value lostValue(const LostNumbers& lost)
{
    Value item;
    item["output"] = lost.output;
    item["numbers"] = lost.numbers;
    item["of"] = lost.of;
    return item;
}

LostNumbers lostFrom(const Reader& item)
{
    return {.output = item.get<std::string>("output"),
            .numbers = item.get<std::int64_t>("numbers"),
            .of = item.get<std::int64_t>("of")};
}

constexpr std::size_t mostNamed = 4;

std::string outputsText(const std::vector<LostNumbers>& outputs)
{
    std::string text;
    for (std::size_t i = 0; i < outputs.size() && i < mostNamed; ++i) text += (i ? ", " : "") + outputs[i].output;
    if (outputs.size() > mostNamed) text += " and " + std::to_string(outputs.size() - mostNamed) + " more outputs";
    return text;
}

}  // namespace

std::string sentenceOf(const NotFiniteRecord& record)
{
    std::int64_t all = 0;
    for (const LostNumbers& lost : record.outputs) all += lost.of;
    return base::formatCount(static_cast<double>(record.numbers())) + " of " +
           base::formatCount(static_cast<double>(all)) + " numbers in " + outputsText(record.outputs) +
           " are NaN or infinite: " + record.origin;
}

std::string notFiniteBesideVerdict(const Report& report)
{
    const bool said = report.verify && report.verify->verdict == Verdict::Equal && report.verify->notFinite() > 0;
    return report.notFinite && !said ? sentenceOf(*report.notFinite) : std::string();
}

Value notFiniteValue(const NotFiniteRecord& record)
{
    Value item;
    item["outputs"] = Value::array();
    for (const LostNumbers& lost : record.outputs) item["outputs"].push(lostValue(lost));
    item["first"] = Value();
    if (record.first) setOperator(item["first"], *record.first);
    item["stage"] = stageOrNull(record.stage);
    item["given"] = Value(record.given);
    item["on_sample"] = record.onSample;
    item["origin"] = record.origin;
    return item;
}

NotFiniteRecord notFiniteFrom(const Reader& item)
{
    NotFiniteRecord record;
    for (const Reader& lost : item.items("outputs")) record.outputs.push_back(lostFrom(lost));
    if (item.has("first")) record.first = operatorFrom(item.child("first"));
    record.stage = maybeStage(item, "stage");
    record.given = item.get<std::vector<std::string>>("given");
    record.onSample = item.get<bool>("on_sample");
    record.origin = item.get<std::string>("origin");
    return record;
}

}  // namespace hopscope::schema
