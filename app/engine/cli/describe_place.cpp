#include <cmath>

#include "base/units.h"
#include "cli/describe.h"
#include "cli/table.h"
#include "optimiser/document.h"

namespace hopscope::engine {

namespace {

using optimiser::Answer;
using optimiser::Repair;
using optimiser::Status;

std::string number(double value) { return base::formatNumber(value, 10); }

std::string join(const std::vector<std::string>& words)
{
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
}

std::vector<std::string> words(const json::Value& list)
{
    std::vector<std::string> all;
    for (const json::Value& item : *list.asArray()) all.push_back(*item.asString());
    return all;
}

std::string stagesText(const pipeline::Placed& placed)
{
    using enum Align;
    Table table({Right, Left, Left});
    const json::Value plan = writePlacement(placed.instance, placed.answer.placement);
    for (const json::Value& stage : *plan.asArray()) {
        std::string index = "stage " + std::to_string(*stage.find("stage")->asInt());
        for (const auto& [key, title] :
             {std::pair("read_D", "reads"), std::pair("read_F", "reads on frontier"), std::pair("hops", "hops"),
              std::pair("compute_D", "computes"), std::pair("compute_F", "computes on frontier"),
              std::pair("write", "writes")}) {
            const std::string list = join(words(*stage.find(key)));
            if (list.empty()) continue;
            table.add({index, title, list});
            index.clear();
        }
    }
    return table.render();
}

std::string conflictText(const pipeline::Placed& placed)
{
    std::vector<std::string> pins;
    for (const std::size_t pin : placed.conflict.pins)
        pins.push_back("'" + describePin(placed.instance, placed.instance.pins[pin]) + "'");
    if (placed.conflict.budget) pins.emplace_back("the host memory budget");
    std::string text = pins.empty() ? "" : "  conflicting: " + join(pins) + "\n";
    for (const Repair& repair : placed.conflict.repairs)
        text += "  suggested fix: " + describeRepair(placed.instance, repair) + ", cost " +
                number(repair.answer.placement.cost.total()) + "\n";
    return text;
}

std::string summary(const pipeline::Placed& placed)
{
    const Answer& answer = placed.answer;
    std::string text = statusName(answer.status);
    if (answer.status == Status::Infeasible) return text + "\n";
    text += ", cost " + number(answer.placement.cost.total());
    if (answer.status == Status::Feasible)
        text +=
            ", at least " + number(answer.lowerBound) + " (gap " + number(std::round(answer.gap * 1e4) / 100) + " %)";
    return text + ", written: " + join(pipeline::writtenNames(placed)) + "\n";
}

}  // namespace

std::string describePlaced(const pipeline::Placed& placed, const Style& style)
{
    std::string text = style.bold(placed.instance.name) + ": " + summary(placed);
    text += placed.answer.status == Status::Infeasible ? conflictText(placed) : stagesText(placed);
    if (placed.minCut.isNull()) return text;
    const json::Value& cost = *placed.minCut.find("cost");
    return text + "  min-cut relaxation: cost " + number(*cost.asDouble()) +
           ", stored: " + join(words(*placed.minCut.find("black_nodes"))) + "\n";
}

}  // namespace hopscope::engine
