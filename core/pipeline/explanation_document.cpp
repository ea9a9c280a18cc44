#include "pipeline/explanation.h"

namespace hopscope::pipeline {

const char* kindName(optimiser::DecisionKind kind)
{
    if (kind == optimiser::DecisionKind::Stored) return "stored";
    return kind == optimiser::DecisionKind::Recomputed ? "recomputed" : "delayed";
}

namespace {

template <class T>
json::Value ownAndOther(const T& own, const T& other)
{
    json::Value pair;
    pair["own"] = own;
    pair["other"] = other;
    return pair;
}

json::Value orNull(const std::optional<double>& number) { return number ? json::Value(*number) : json::Value(); }

json::Value decisionValue(const Decision& decision)
{
    json::Value item;
    item["kind"] = kindName(decision.kind);
    item["value"] = ir::valueName(decision.value);
    item["stages"] = json::Value(decision.stages);
    item["write"] = decision.write;
    item["read"] = decision.read;
    item["compute"] = decision.compute;
    item["possible"] = decision.possible;
    item["alternative"] = orNull(decision.alternative);
    item["saves"] = orNull(decision.saves);
    return item;
}

json::Value differenceValue(const Difference& d)
{
    json::Value item;
    item["value"] = ir::valueName(d.value);
    item["cost"] = ownAndOther(d.own.total(), d.other.total());
    item["written"] = ownAndOther(d.ownWritten, d.otherWritten);
    item["read"] = ownAndOther(d.ownRead, d.otherRead);
    item["stages"] = ownAndOther(json::Value(d.own.stages), json::Value(d.other.stages));
    return item;
}

json::Value comparisonValue(const Comparison& comparison)
{
    json::Value item;
    item["strategy"] = comparison.strategy;
    item["cost"] = comparison.cost;
    item["seconds"] = comparison.seconds;
    item["bytes"]["d2h"] = comparison.bytes.d2h;
    item["bytes"]["h2d"] = comparison.bytes.h2d;
    item["bytes"]["structure"] = comparison.bytes.structure;
    item["values"] = json::Value::array();
    for (const Difference& d : comparison.values) item["values"].push(differenceValue(d));
    return item;
}

}  // namespace

json::Value explanationValue(const Explanation& explanation)
{
    json::Value result;
    result["unit"] = explanation.unit;
    result["cost"] = explanation.cost;
    result["decisions"] = json::Value::array();
    for (const Decision& decision : explanation.decisions) result["decisions"].push(decisionValue(decision));
    result["against"] = json::Value::array();
    for (const Comparison& comparison : explanation.against) result["against"].push(comparisonValue(comparison));
    return result;
}

}  // namespace hopscope::pipeline
