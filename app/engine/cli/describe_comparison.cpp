#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "cli/describe.h"
#include "cli/table.h"

namespace hopscope::engine {

namespace {

const char* inWords(schema::OutputsBy by)
{
    switch (by) {
    case schema::OutputsBy::Forward: return "its forward";
    case schema::OutputsBy::Staged: return "a staged run";
    case schema::OutputsBy::File: return "outputs in a file";
    }
    return "";
}

std::string sidesText(const schema::Comparison& comparison)
{
    return "compared " + comparison.first + " (" + inWords(comparison.firstBy) + ") with " + comparison.second + " (" +
           inWords(comparison.secondBy) + ")\n";
}

std::string outputTable(const schema::Comparison& comparison)
{
    Table table({Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right,
                 Align::Right});
    table.add({"output", "rows", "largest", "relative", "different", "first at", "first", "second"});
    for (const schema::ComparedOutput& output : comparison.outputs) {
        const schema::TensorRecord& errors = output.errors;
        const std::string at = output.at ? "row " + count(output.at->row) + ", " + count(output.at->element) : "";
        table.add({errors.name, count(errors.rows), base::formatNumber(errors.maxAbsolute),
                   base::formatNumber(errors.maxRelative), count(errors.different), at,
                   output.at ? base::formatNumber(output.at->first) : "",
                   output.at ? base::formatNumber(output.at->second) : ""});
    }
    return table.render();
}

std::string verdictLine(const schema::Comparison& comparison, const Style& style)
{
    switch (comparison.verdict) {
    case schema::Verdict::Equal: return style.good("equal:") + " " + comparison.reason + "\n";
    case schema::Verdict::Different: return style.bad("different:") + " " + comparison.reason + "\n";
    case schema::Verdict::Unverifiable: break;
    }
    return style.warn("not decided:") + " " + comparison.reason + "\n";
}

}  // namespace

std::string describeComparison(const schema::Comparison& comparison, const Style& style)
{
    std::string text = sidesText(comparison) + outputTable(comparison);
    if (comparison.operators) text += "\n" + describeFindings(*comparison.operators, style) + "\n";
    if (!comparison.notLocated.empty()) text += "the operator is not known: " + comparison.notLocated + "\n";
    return text + verdictLine(comparison, style);
}

}  // namespace hopscope::engine
