#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/units.h"
#include "explanation.h"
#include "table.h"

namespace hopscope::engine {

namespace {

using plan::ValueId;

constexpr std::size_t mostShown = 10;  // differences in a table

const char* kindName(optimiser::DecisionKind kind)
{
    if (kind == optimiser::DecisionKind::Stored) return "stored";
    return kind == optimiser::DecisionKind::Recomputed ? "recomputed" : "delayed";
}

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

std::string amount(double number, const std::string& unit)
{
    const std::string sign = number < 0 ? "-" : "";
    return sign + (unit == "seconds" ? base::formatSeconds(std::abs(number)) : base::formatBytes(std::abs(number)));
}

std::string joined(const std::vector<int>& numbers)
{
    std::string text;
    for (const int number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
    return text;
}

std::string nameOf(ValueId value, const analysis::Analysis& analysis)
{
    const ir::Value& v = analysis.program.value(value);
    const std::string op = v.producer.valid() ? analysis.program.op(v.producer).name : v.name;
    return ir::valueName(value) + " " + op.substr(op.starts_with("aten::") ? 6 : 0);
}

std::string alternativeOf(const Decision& decision, const std::string& unit)
{
    if (!decision.possible) return "has to be";
    return decision.saves ? amount(*decision.saves, unit) : "not known";
}

// "2.3 % cheaper than depth".
std::string headline(const Explanation& explanation, const Comparison& comparison)
{
    const double share = comparison.cost > 0 ? 1 - explanation.cost / comparison.cost : 0;
    std::array<char, 32> percent{};
    std::snprintf(percent.data(), percent.size(), "%.1f %%", std::abs(share) * 100);
    if (std::string(percent.data()) == "0.0 %") return "As dear as " + comparison.strategy;
    return std::string(percent.data()) + (share < 0 ? " dearer than " : " cheaper than ") + comparison.strategy;
}

std::string decisionTable(const Explanation& explanation, const analysis::Analysis& analysis)
{
    Table table({Table::Align::Left, Table::Align::Left, Table::Align::Left, Table::Align::Right, Table::Align::Right});
    table.add({"", "value", "stages", "costs", "saves"});
    for (const Decision& d : explanation.decisions)
        table.add({kindName(d.kind), nameOf(d.value, analysis), joined(d.stages),
                   amount(d.write + d.read + d.compute, explanation.unit), alternativeOf(d, explanation.unit)});
    return table.render();
}

std::string comparisonTable(const Comparison& comparison, const std::string& unit, const analysis::Analysis& analysis)
{
    Table table({Table::Align::Left, Table::Align::Right, Table::Align::Right, Table::Align::Left, Table::Align::Left});
    table.add({"", "here", comparison.strategy, "stages", "there"});
    for (std::size_t i = 0; i < std::min(mostShown, comparison.values.size()); ++i) {
        const Difference& d = comparison.values[i];
        table.add({nameOf(d.value, analysis), amount(d.own.total(), unit), amount(d.other.total(), unit),
                   joined(d.own.stages), joined(d.other.stages)});
    }
    return table.render();
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

std::string describeExplanation(const Explanation& explanation, const analysis::Analysis& analysis, const Style& style)
{
    std::string text;
    if (!explanation.decisions.empty())
        text += style.bold("Decisions") + "\n" + decisionTable(explanation, analysis) + "\n";
    for (const Comparison& comparison : explanation.against)
        text += style.bold(headline(explanation, comparison)) + "\n" +
                (comparison.values.empty() ? "  no value is dealt with otherwise\n"
                                           : comparisonTable(comparison, explanation.unit, analysis)) +
                "\n";
    return text;
}

}  // namespace hopscope::engine
