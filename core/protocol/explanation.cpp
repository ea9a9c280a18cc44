#include "protocol/explanation.h"

#include <algorithm>

#include "json/reader.h"

namespace hopscope::protocol {

namespace {

using json::Reader;

int valueOf(const Reader& item, const ModelRecord& model)
{
    const Reader name = item.child("value");
    const int index = model.valueIndex(name.as<std::string>());
    if (index < 0) name.refuse("is not a value of this model");
    return index;
}

Decision decisionFrom(const Reader& item, const ModelRecord& model)
{
    Decision decision;
    decision.kind = item.get<std::string>("kind");
    if (decision.kind != "stored" && decision.kind != "recomputed" && decision.kind != "delayed")
        item.child("kind").refuse("is unknown");
    decision.value = valueOf(item, model);
    decision.stages = item.get<std::vector<int>>("stages");
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
    difference.stages = {stages.get<std::vector<int>>("own"), stages.get<std::vector<int>>("other")};
    return difference;
}

PlanComparison comparisonFrom(const Reader& item, const ModelRecord& model)
{
    PlanComparison comparison;
    comparison.strategy = item.get<std::string>("strategy");
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

const Decision* Explanation::decisionOn(int value) const
{
    const auto found = std::ranges::find(decisions, value, &Decision::value);
    return found == decisions.end() ? nullptr : &*found;
}

base::Result<Explanation> readExplanation(const json::Value& result, const ModelRecord& model)
{
    const Reader root(result, "explanation");
    Explanation explanation;
    explanation.unit = root.get<std::string>("unit");
    explanation.cost = root.get<double>("cost");
    for (const Reader& item : root.items("decisions")) explanation.decisions.push_back(decisionFrom(item, model));
    for (const Reader& item : root.items("against")) explanation.against.push_back(comparisonFrom(item, model));
    if (!root.ok()) return base::forward(root.status());
    return explanation;
}

}  // namespace hopscope::protocol
