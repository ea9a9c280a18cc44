#include "place.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "optimiser/colouring.h"
#include "optimiser/document.h"
#include "pipeline.h"
#include "table.h"

namespace hopscope::engine {

namespace {

using json::Value;
using optimiser::Answer;
using optimiser::Instance;
using optimiser::NodeId;
using optimiser::Repair;
using optimiser::Status;

Value names(const Instance& in, const std::vector<NodeId>& ids)
{
    std::vector<std::string> list;
    for (const NodeId v : ids) list.push_back(in.node(v).name);
    std::ranges::sort(list);
    return Value(list);
}

Value literalDocument(const Instance& in)
{
    const optimiser::Colouring colouring = optimiser::literalColouring(in);
    Value value;
    value["cost"] = colouring.cost;
    value["black_nodes"] = names(in, colouring.blackNodes);
    value["black_edges"] = Value::array();
    for (const optimiser::Edge& e : colouring.blackEdges)
        value["black_edges"].push(Value(std::vector<std::string>{in.node(e.from).name, in.node(e.to).name}));
    return value;
}

Value conflictDocument(const Placed& placed)
{
    Value value;
    value["pins"] = Value::array();
    for (const std::size_t pin : placed.conflict.pins)
        value["pins"].push(describePin(placed.instance, placed.instance.pins[pin]));
    value["host_budget"] = placed.conflict.budget;
    value["repairs"] = Value::array();
    for (const Repair& repair : placed.conflict.repairs) {
        Value item;
        item["what"] = describeRepair(placed.instance, repair);
        item["cost"] = repair.answer.placement.cost.total();
        value["repairs"].push(std::move(item));
    }
    return value;
}

std::string number(double value)
{
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.10g", value);
    return text.data();
}

void addCost(Value& value, const Placed& placed)
{
    const Answer& answer = placed.answer;
    const optimiser::Cost& cost = answer.placement.cost;
    value["cost"] = cost.total();
    value["lower_bound"] = answer.lowerBound;
    value["gap"] = answer.gap;
    value["found"] = answer.found;
    value["host_peak"] = answer.placement.hostPeak;
    value["parts"]["write"] = cost.write;
    value["parts"]["read"] = cost.read;
    value["parts"]["compute"] = cost.compute;
    value["parts"]["structure"] = cost.structure;
    value["parts"]["stage"] = cost.stage;
    value["written"] = names(placed.instance, writtenSet(answer.placement));
    value["plan"] = writePlacement(placed.instance, answer.placement);
}

std::string join(const std::vector<std::string>& words)
{
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
}

std::vector<std::string> words(const Value& list)
{
    std::vector<std::string> all;
    for (const Value& item : *list.asArray()) all.push_back(*item.asString());
    return all;
}

std::string stagesText(const Placed& placed)
{
    using enum Table::Align;
    Table table({Right, Left, Left});
    const Value plan = writePlacement(placed.instance, placed.answer.placement);
    for (const Value& stage : *plan.asArray()) {
        std::string index = "stage " + std::to_string(*stage.find("stage")->asInt());
        for (const auto& [key, title] :
             {std::pair("read_D", "reads"), std::pair("read_F", "reads on the frontier"), std::pair("hops", "hops"),
              std::pair("compute_D", "computes"), std::pair("compute_F", "computes on the frontier"),
              std::pair("write", "writes")}) {
            const std::string list = join(words(*stage.find(key)));
            if (list.empty()) continue;
            table.add({index, title, list});
            index.clear();
        }
    }
    return table.render();
}

std::string conflictText(const Placed& placed)
{
    std::vector<std::string> pins;
    for (const std::size_t pin : placed.conflict.pins)
        pins.push_back("'" + describePin(placed.instance, placed.instance.pins[pin]) + "'");
    if (placed.conflict.budget) pins.emplace_back("the host budget");
    std::string text = pins.empty() ? "" : "  in conflict: " + join(pins) + "\n";
    for (const Repair& repair : placed.conflict.repairs)
        text += "  way out: " + describeRepair(placed.instance, repair) + ", cost " +
                number(repair.answer.placement.cost.total()) + "\n";
    return text;
}

std::string summary(const Placed& placed)
{
    const Answer& answer = placed.answer;
    std::string text = statusName(answer.status);
    if (answer.status == Status::Infeasible) return text + "\n";
    text += ", cost " + number(answer.placement.cost.total());
    if (answer.status == Status::Feasible)
        text +=
            ", at least " + number(answer.lowerBound) + " (gap " + number(std::round(answer.gap * 1e4) / 100) + " %)";
    return text + ", written: " + join(words(names(placed.instance, writtenSet(answer.placement)))) + "\n";
}

base::Result<std::vector<Placed>> placeAll(const std::vector<Instance>& instances, const PlaceOptions& options,
                                           Session& session)
{
    std::vector<Placed> all;
    for (const Instance& instance : instances) {
        session.console.progress({"placing " + instance.name, static_cast<std::int64_t>(all.size()),
                                  static_cast<std::int64_t>(instances.size())});
        base::Result<Placed> placed = placeOne(instance, options, session.stop);
        session.console.clearProgress();
        if (!placed) return base::forward(placed);
        all.push_back(std::move(*placed));
    }
    return all;
}

std::string documentText(const std::vector<Placed>& all, bool single)
{
    if (single) return json::write(placedDocument(all[0]), true);
    Value document;
    document["results"] = Value::array();
    for (const Placed& placed : all) document["results"].push(placedDocument(placed));
    return json::write(document, true);
}

}  // namespace

base::Result<std::vector<Instance>> chooseInstances(const Value& document, const PlaceOptions& options)
{
    base::Result<std::vector<Instance>> all = optimiser::readInstances(document, options.file);
    if (!all || options.caseId.empty()) return all;
    std::vector<Instance> chosen;
    for (Instance& instance : *all)
        if (instance.name == options.caseId) chosen.push_back(std::move(instance));
    if (chosen.size() == 1) return chosen;
    return base::fail(base::ErrorCode::Input,
                      options.file + ": " + (chosen.empty() ? "no case" : "more than one case") + " has the id '" +
                          options.caseId + "'",
                      "the ids are the cases' \"id\" members");
}

base::Result<Placed> placeOne(const Instance& instance, const PlaceOptions& options, std::stop_token stop)
{
    optimiser::Options how;
    how.strategy = options.strategy;
    how.deadlineSeconds = options.deadline;
    how.stop = std::move(stop);
    base::Result<Answer> answer = optimiser::solve(instance, how);
    if (!answer)
        return base::fail(answer.error().code, instance.name + ": " + answer.error().message, answer.error().hint);
    Placed placed{instance, std::move(*answer), {}, {}};
    if (placed.answer.status == Status::Infeasible)
        if (base::Result<optimiser::Conflict> conflict = explainConflict(instance, how))
            placed.conflict = std::move(*conflict);
    if (options.literal) placed.literal = literalDocument(instance);
    return placed;
}

Value placedDocument(const Placed& placed)
{
    Value value;
    value["id"] = placed.instance.name;
    value["status"] = statusName(placed.answer.status);
    if (placed.answer.status == Status::Infeasible) {
        for (const char* const key : {"cost", "lower_bound", "written", "plan"}) value[key] = Value();
        value["conflict"] = conflictDocument(placed);
    } else addCost(value, placed);
    if (!placed.literal.isNull()) value["literal_colouring"] = placed.literal;
    return value;
}

std::string placedText(const Placed& placed, const Style& style)
{
    std::string text = style.bold(placed.instance.name) + ": " + summary(placed);
    text += placed.answer.status == Status::Infeasible ? conflictText(placed) : stagesText(placed);
    if (placed.literal.isNull()) return text;
    const Value& cost = *placed.literal.find("cost");
    return text + "  literal colouring: cost " + number(*cost.asDouble()) +
           ", black: " + join(words(*placed.literal.find("black_nodes"))) + "\n";
}

base::Result<int> place(const PlaceOptions& options, Session& session)
{
    const base::Result<std::string> text = readText(options.file);
    if (!text) return base::forward(text);
    const base::Result<Value> document = json::parse(*text, options.file);
    if (!document) return base::forward(document);
    const base::Result<std::vector<Instance>> instances = chooseInstances(*document, options);
    if (!instances) return base::forward(instances);
    const base::Result<std::vector<Placed>> all = placeAll(*instances, options, session);
    if (!all) return base::forward(all);
    if (session.console.json()) session.console.print(documentText(*all, all->size() == 1));
    else
        for (const Placed& placed : *all) session.console.print(placedText(placed, session.console.style()));
    const bool none = std::ranges::any_of(*all, [](const Placed& p) { return p.answer.status == Status::Infeasible; });
    return none ? static_cast<int>(base::ErrorCode::Unsupported) : 0;
}

}  // namespace hopscope::engine
