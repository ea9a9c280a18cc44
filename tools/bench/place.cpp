#include <algorithm>

#include "bench/bench.h"
#include "optimiser/document.h"
#include "optimiser/infeasible_subset.h"
#include "optimiser/min_cut_relaxation.h"
#include "pipeline/files/text_file.h"

namespace hopscope::bench {

namespace {

using json::Value;
using optimiser::Answer;
using optimiser::Instance;
using optimiser::NodeId;
using optimiser::Status;

Value names(const Instance& in, const std::vector<NodeId>& ids)
{
    std::vector<std::string> list;
    for (const NodeId v : ids) list.push_back(in.node(v).name);
    std::ranges::sort(list);
    return Value(list);
}

Value minCutDocument(const Instance& in)
{
    const optimiser::MinCutRelaxation relaxation = optimiser::minCutRelaxation(in);
    Value value;
    value["cost"] = relaxation.cost;
    value["black_nodes"] = names(in, relaxation.storedNodes);
    value["black_edges"] = Value::array();
    for (const optimiser::Edge& e : relaxation.readEdges)
        value["black_edges"].push(Value(std::vector<std::string>{in.node(e.from).name, in.node(e.to).name}));
    return value;
}

// Empty where the solver does not find the conflict.
Value conflictDocument(const Instance& in, const optimiser::Options& how)
{
    const optimiser::InfeasibleSubset conflict = explainInfeasibility(in, how).value_or(optimiser::InfeasibleSubset());
    Value value;
    value["pins"] = Value::array();
    for (const std::size_t pin : conflict.pins) value["pins"].push(describePin(in, in.pins[pin]));
    value["host_budget"] = conflict.budget;
    value["repairs"] = Value::array();
    for (const optimiser::Repair& repair : conflict.repairs) {
        Value item;
        item["what"] = describeRepair(in, repair);
        item["cost"] = repair.answer.placement.cost.total();
        value["repairs"].push(std::move(item));
    }
    return value;
}

void addCost(Value& value, const Instance& in, const Answer& answer)
{
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
    value["written"] = names(in, writtenSet(answer.placement));
    value["plan"] = writePlacement(in, answer.placement);
}

Value answerDocument(const Instance& in, const Answer& answer, const optimiser::Options& how)
{
    Value value;
    value["id"] = in.name;
    value["status"] = statusName(answer.status);
    if (answer.status != Status::Infeasible) {
        addCost(value, in, answer);
        return value;
    }
    for (const char* const key : {"cost", "lower_bound", "written", "plan"}) value[key] = Value();
    value["conflict"] = conflictDocument(in, how);
    return value;
}

base::Result<std::vector<Instance>> instancesOf(const PlaceOptions& options)
{
    const base::Result<std::string> text = pipeline::readText(options.file);
    if (!text) return base::forward(text);
    const base::Result<Value> parsed = json::parse(*text, options.file);
    if (!parsed) return base::forward(parsed);
    base::Result<std::vector<Instance>> all = optimiser::readInstances(*parsed, options.file);
    if (!all || options.caseId.empty()) return all;
    std::erase_if(*all, [&](const Instance& each) { return each.name != options.caseId; });
    if (all->size() == 1) return all;
    const std::string count = all->empty() ? "no case" : "more than one case";
    return base::fail(base::ErrorCode::Input, options.file + ": " + count + " has the id '" + options.caseId + "'",
                      "see the \"id\" members of the cases");
}

// `outcome` gets the code of an instance without a plan.
base::Result<Value> placeOne(const Instance& in, const PlaceOptions& options, base::Strategy strategy, Outcome& outcome)
{
    optimiser::Options how;
    how.strategy = strategy;
    how.deadlineSeconds = options.deadline;
    const base::Result<Answer> answer = optimiser::solve(in, how);
    if (!answer) return base::fail(answer.error().code, in.name + ": " + answer.error().message, answer.error().hint);
    if (answer->status == Status::Infeasible) outcome.code = static_cast<int>(base::ErrorCode::Unsupported);
    Value result = answerDocument(in, *answer, how);
    if (options.minCut) result["literal_colouring"] = minCutDocument(in);
    return result;
}

}  // namespace

base::Result<Outcome> place(const PlaceOptions& options)
{
    const auto strategy = base::parseName<base::Strategy>(options.strategy, "strategy");
    if (!strategy) return base::forward(strategy);
    const base::Result<std::vector<Instance>> instances = instancesOf(options);
    if (!instances) return base::forward(instances);
    Outcome outcome{.document = Value::object()};
    Value& results = outcome.document["results"] = Value::array();
    for (const Instance& in : *instances) {
        base::Result<Value> result = placeOne(in, options, *strategy, outcome);
        if (!result) return base::forward(result);
        results.push(std::move(*result));
    }
    if (results.size() == 1) outcome.document = Value(results.asArray()->front());
    return outcome;
}

}  // namespace hopscope::bench
