#include "pipeline/explanation.h"

#include "schema/report.h"
#include "schema/stages.h"
#include "json/optional.h"

namespace hopscope::pipeline {

namespace {

template <class T>
json::Value ownAndOther(const T& own, const T& other)
{
    json::Value pair;
    pair["own"] = own;
    pair["other"] = other;
    return pair;
}

json::Value decisionValue(const Decision& decision)
{
    json::Value item;
    item["kind"] = base::nameOf(decision.kind);
    item["value"] = ir::valueName(decision.value);
    item["stages"] = schema::stageList(decision.stages);
    item["write"] = decision.write;
    item["read"] = decision.read;
    item["compute"] = decision.compute;
    item["possible"] = decision.possible;
    item["alternative"] = json::orNull(decision.alternative);
    item["saves"] = json::orNull(decision.saves);
    return item;
}

json::Value differenceValue(const Difference& d)
{
    json::Value item;
    item["value"] = ir::valueName(d.value);
    item["cost"] = ownAndOther(d.own.total(), d.other.total());
    item["written"] = ownAndOther(d.ownWritten, d.otherWritten);
    item["read"] = ownAndOther(d.ownRead, d.otherRead);
    item["stages"] = ownAndOther(schema::stageList(d.own.stages), schema::stageList(d.other.stages));
    return item;
}

json::Value comparisonValue(const Comparison& comparison)
{
    json::Value item;
    item["strategy"] = base::nameOf(comparison.strategy);
    item["cost"] = comparison.cost;
    item["seconds"] = comparison.seconds;
    item["bytes"] = schema::bytesValue(comparison.bytes);
    item["values"] = json::Value::array();
    for (const Difference& d : comparison.values) item["values"].push(differenceValue(d));
    return item;
}

}  // namespace

json::Value explanationValue(const Explanation& explanation)
{
    json::Value result;
    result["unit"] = base::nameOf(explanation.unit);
    result["cost"] = explanation.cost;
    result["decisions"] = json::Value::array();
    for (const Decision& decision : explanation.decisions) result["decisions"].push(decisionValue(decision));
    result["against"] = json::Value::array();
    for (const Comparison& comparison : explanation.against) result["against"].push(comparisonValue(comparison));
    return result;
}

}  // namespace hopscope::pipeline
