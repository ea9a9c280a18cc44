#include "analysis/naming/value_names.h"
#include "base/units.h"
#include "cli/describe.h"
#include "pipeline/opening/labels.h"

namespace hopscope::engine {

namespace {

using analysis::ValueNames;

std::string joined(const std::vector<std::string>& words)
{
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

// Grouped by the stages that they move to: "to stage 2: convs.1, relu".
std::string movesOf(const plan::WalkStep& step, const analysis::Analysis& analysis)
{
    std::map<std::vector<plan::StageId>, std::vector<ir::OpId>> groups;
    for (const auto& [op, stages] : step.moved) groups[stages].push_back(op);
    std::string text;
    for (const auto& [stages, ops] : groups) {
        std::vector<std::string> numbers;
        for (const plan::StageId stage : stages) numbers.push_back(std::to_string(stage.number));
        text += "\n       " + (numbers.empty() ? "left out" : "stage " + joined(numbers)) + ": " +
                joined(pipeline::opLabels(analysis, ops));
    }
    return text;
}

std::string wordsOf(const plan::WalkStep& step, base::Strategy strategy, const ValueNames& names)
{
    switch (step.kind) {
    case base::WalkKind::Label: return std::string("every operator goes to ") + base::traitsOf(strategy).start;
    case base::WalkKind::Pull: return "a cut moves towards the inputs, and operators follow it";
    case base::WalkKind::Settle: return "operators move to where they are needed, to several stages if necessary";
    case base::WalkKind::Store: break;
    }
    return "stored: " + names[*step.stored];
}

std::string describeColouring(const plan::Walkthroughs& all, const ValueNames& names)
{
    if (!all.colouring) return {};
    std::vector<std::string> stored;
    for (const ir::ValueId value : all.colouring->stored) stored.push_back(names[value]);
    const double cost = all.colouring->cost;
    const std::string amount = all.unit == base::Unit::Seconds ? base::formatSeconds(cost) : base::formatBytes(cost);
    return "  stored: " + joined(stored) + "\n  " + amount +
           " for writing and reading; with the frontiers of the depth heuristic, no plan needs less\n" +
           (all.colouring->missing ? "  not a plan: " + *all.colouring->missing + "\n" : "");
}

}  // namespace

std::string describeSteps(const plan::Walkthroughs& all, const analysis::Analysis& analysis, const Style& style)
{
    const ValueNames names(analysis);
    std::string text;
    for (const plan::Walkthrough& way : all.ways) {
        text += style.bold(std::string("Steps of ") + base::nameOf(way.strategy)) + "\n";
        int number = 0;
        for (const plan::WalkStep& step : way.steps)
            text += "  " + std::to_string(++number) + "  " + wordsOf(step, way.strategy, names) +
                    movesOf(step, analysis) + "\n";
        text += "\n";
    }
    if (all.colouring) text += style.bold("Colouring: the minimum cut") + "\n" + describeColouring(all, names);
    return text;
}

}  // namespace hopscope::engine
