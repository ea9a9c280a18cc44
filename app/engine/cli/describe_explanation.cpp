#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "analysis/naming/value_names.h"
#include "base/units.h"
#include "cli/describe.h"
#include "cli/table.h"

namespace hopscope::engine {

namespace {

using analysis::ValueNames;

constexpr std::size_t mostShown = 10;  // differences in a table

std::string amount(double number, base::Unit unit)
{
    const std::string sign = number < 0 ? "-" : "";
    return sign +
           (unit == base::Unit::Seconds ? base::formatSeconds(std::abs(number)) : base::formatBytes(std::abs(number)));
}

std::string joined(const std::vector<plan::StageId>& stages)
{
    std::string text;
    for (const plan::StageId stage : stages) text += (text.empty() ? "" : ", ") + std::to_string(stage.number);
    return text;
}

std::string alternativeOf(const schema::Decision& decision, base::Unit unit)
{
    if (!decision.possible) return "required";
    return decision.saves ? amount(*decision.saves, unit) : "unknown";
}

// "2.3 % cheaper than depth".
std::string headline(const schema::Explanation& explanation, const schema::PlanComparison& comparison)
{
    const double share = comparison.cost > 0 ? 1 - explanation.cost / *comparison.cost : 0;
    std::array<char, 32> percent{};
    std::snprintf(percent.data(), percent.size(), "%.1f %%", std::abs(share) * 100);
    if (std::string(percent.data()) == "0.0 %") return std::string("Same cost as ") + base::nameOf(comparison.strategy);
    return std::string(percent.data()) + (share < 0 ? " more expensive than " : " cheaper than ") +
           base::nameOf(comparison.strategy);
}

std::string decisionTable(const schema::Explanation& explanation, const ValueNames& names)
{
    Table table({Align::Left, Align::Left, Align::Left, Align::Right, Align::Right});
    table.add({"", "value", "stages", "cost", "saving"});
    for (const schema::Decision& d : explanation.decisions)
        table.add({base::nameOf(d.kind), names[d.value], joined(d.stages), amount(d.cost(), explanation.unit),
                   alternativeOf(d, explanation.unit)});
    return table.render();
}

std::string comparisonTable(const schema::PlanComparison& comparison, base::Unit unit, const ValueNames& names)
{
    const std::string rule = base::nameOf(comparison.strategy);
    Table table({Align::Left, Align::Right, Align::Right, Align::Left, Align::Left});
    table.add({"", "this plan", rule, "stages", "stages in " + rule});
    for (std::size_t i = 0; i < std::min(mostShown, comparison.values.size()); ++i) {
        const schema::ValueDifference& d = comparison.values[i];
        table.add({names[d.value], amount(d.cost.own, unit), amount(d.cost.other, unit), joined(d.stages.own),
                   joined(d.stages.other)});
    }
    return table.render();
}

}  // namespace

std::string describeExplanation(const schema::Explanation& explanation, const analysis::Analysis& analysis,
                                const Style& style)
{
    const ValueNames names(analysis);
    std::string text;
    if (!explanation.decisions.empty())
        text += style.bold("Decisions") + "\n" + decisionTable(explanation, names) + "\n";
    for (const schema::PlanComparison& comparison : explanation.against)
        text += style.bold(headline(explanation, comparison)) + "\n" +
                (comparison.values.empty() ? "  same decisions for all values\n"
                                           : comparisonTable(comparison, explanation.unit, names)) +
                "\n";
    return text;
}

}  // namespace hopscope::engine
