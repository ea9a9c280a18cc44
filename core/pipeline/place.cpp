#include "pipeline/place.h"

#include <algorithm>

#include "optimiser/document.h"
#include "optimiser/min_cut_relaxation.h"
#include "pipeline/text_file.h"

namespace hopscope::pipeline {

namespace {

using json::Value;
using optimiser::Answer;
using optimiser::Instance;
using optimiser::NodeId;
using optimiser::Status;

std::vector<std::string> names(const Instance& in, const std::vector<NodeId>& ids)
{
    std::vector<std::string> list;
    for (const NodeId v : ids) list.push_back(in.node(v).name);
    std::ranges::sort(list);
    return list;
}

Value minCutDocument(const Instance& in)
{
    const optimiser::MinCutRelaxation relaxation = optimiser::minCutRelaxation(in);
    Value value;
    value["cost"] = relaxation.cost;
    value["black_nodes"] = Value(names(in, relaxation.storedNodes));
    value["black_edges"] = Value::array();
    for (const optimiser::Edge& e : relaxation.readEdges)
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
    for (const optimiser::Repair& repair : placed.conflict.repairs) {
        Value item;
        item["what"] = describeRepair(placed.instance, repair);
        item["cost"] = repair.answer.placement.cost.total();
        value["repairs"].push(std::move(item));
    }
    return value;
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
    value["written"] = Value(writtenNames(placed));
    value["plan"] = writePlacement(placed.instance, answer.placement);
}

base::Result<std::vector<Placed>> placeAll(const std::vector<Instance>& instances, const PlaceOptions& options,
                                           Reporter& reporter, const std::stop_token& stop)
{
    std::vector<Placed> all;
    for (const Instance& instance : instances) {
        reporter.progress({"placing " + instance.name, static_cast<std::int64_t>(all.size()),
                           static_cast<std::int64_t>(instances.size())});
        base::Result<Placed> placed = placeOne(instance, options, stop);
        reporter.progressEnded();
        if (!placed) return base::forward(placed);
        all.push_back(std::move(*placed));
    }
    return all;
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
                      "see the \"id\" members of the cases");
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
    Placed placed{.instance = instance, .answer = std::move(*answer), .conflict = {}, .minCut = {}};
    if (placed.answer.status == Status::Infeasible)
        if (base::Result<optimiser::InfeasibleSubset> conflict = explainInfeasibility(instance, how))
            placed.conflict = std::move(*conflict);
    if (options.minCut) placed.minCut = minCutDocument(instance);
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
    if (!placed.minCut.isNull()) value["literal_colouring"] = placed.minCut;
    return value;
}

base::Result<std::vector<Placed>> place(const PlaceOptions& options, Reporter& reporter, const std::stop_token& stop)
{
    const base::Result<std::string> text = readText(options.file);
    if (!text) return base::forward(text);
    const base::Result<Value> document = json::parse(*text, options.file);
    if (!document) return base::forward(document);
    const base::Result<std::vector<Instance>> instances = chooseInstances(*document, options);
    if (!instances) return base::forward(instances);
    return placeAll(*instances, options, reporter, stop);
}

std::vector<std::string> writtenNames(const Placed& placed)
{
    return names(placed.instance, writtenSet(placed.answer.placement));
}

}  // namespace hopscope::pipeline
