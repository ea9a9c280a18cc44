#include "protocol/explanation.h"

#include <algorithm>

#include "schema/stages.h"
#include "json/names.h"

namespace hopscope::protocol {

namespace {

using json::Reader;

ValueId valueOf(const Reader& item, const ModelRecord& model)
{
    const Reader name = item.child("value");
    const ValueId value = model.findValue(name.as<std::string>());
    if (!value.valid()) name.refuse("is not a value of this model");
    return value;
}

Decision decisionFrom(const Reader& item, const ModelRecord& model)
{
    Decision decision;
    decision.kind = json::named<base::DecisionKind>(item, "kind");
    decision.value = valueOf(item, model);
    decision.stages = schema::readStages(item.child("stages"));
    decision.write = item.get<double>("write");
    decision.read = item.get<double>("read");
    decision.compute = item.get<double>("compute");
    decision.possible = item.get<bool>("possible");
    decision.alternative = item.maybe<double>("alternative");
    decision.saves = item.maybe<double>("saves");
    return decision;
}

std::array<double, 2> pairOf(const Reader& item, const char* key)
{
    const Reader both = item.child(key);
    return {both.get<double>("own"), both.get<double>("other")};
}

ValueDifference differenceFrom(const Reader& item, const ModelRecord& model)
{
    ValueDifference difference;
    difference.value = valueOf(item, model);
    difference.cost = pairOf(item, "cost");
    difference.written = pairOf(item, "written");
    difference.read = pairOf(item, "read");
    const Reader stages = item.child("stages");
    difference.stages = {schema::readStages(stages.child("own")), schema::readStages(stages.child("other"))};
    return difference;
}

PlanComparison comparisonFrom(const Reader& item, const ModelRecord& model)
{
    PlanComparison comparison;
    comparison.strategy = json::named<base::Strategy>(item, "strategy");
    comparison.cost = item.maybe<double>("cost");
    comparison.seconds = item.maybe<double>("seconds");
    const Reader bytes = item.child("bytes");
    comparison.d2h = bytes.get<double>("d2h");
    comparison.h2d = bytes.get<double>("h2d");
    comparison.structure = bytes.get<double>("structure");
    for (const Reader& each : item.items("values")) comparison.values.push_back(differenceFrom(each, model));
    return comparison;
}

}  // namespace

const Decision* Explanation::decisionOn(ValueId value) const
{
    const auto found = std::ranges::find(decisions, value, &Decision::value);
    return found == decisions.end() ? nullptr : &*found;
}

base::Result<Explanation> readExplanation(const json::Value& result, const ModelRecord& model)
{
    const Reader root(result, "explanation");
    Explanation explanation;
    explanation.unit = json::named<base::Unit>(root, "unit");
    explanation.cost = root.get<double>("cost");
    for (const Reader& item : root.items("decisions")) explanation.decisions.push_back(decisionFrom(item, model));
    for (const Reader& item : root.items("against")) explanation.against.push_back(comparisonFrom(item, model));
    if (!root.ok()) return base::forward(root.status());
    return explanation;
}

}  // namespace hopscope::protocol
