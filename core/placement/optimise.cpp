#include "placement/optimise.h"

#include <algorithm>

#include "analysis/classes.h"
#include "base/units.h"
#include "optimiser/conflict.h"
#include "optimiser/solve.h"
#include "placement/pins.h"

namespace hopscope::placement {

namespace {

using analysis::Analysis;
using ir::RowClass;
using ir::RowKind;
using ir::ValueId;
using plan::Pin;
using plan::PinKind;

constexpr int mostExtraStages = 3;
constexpr std::size_t mostNamed = 3;  // pins in a sentence

optimiser::Options solverOptions(const OptimiseOptions& options)
{
    optimiser::Options wanted;
    wanted.strategy = options.localSearch ? optimiser::Strategy::LocalSearch : optimiser::Strategy::Optimal;
    wanted.deadlineSeconds = options.deadlineSeconds;
    wanted.stop = options.stop;
    return wanted;
}

// With as few stages as the pins allow.
base::Result<optimiser::Answer> solved(optimiser::Instance& instance, const OptimiseOptions& options)
{
    const int least = instance.stages;
    for (int extra = 0;; ++extra) {
        instance.stages = least + extra;
        base::Result<optimiser::Answer> answer = optimiser::solve(instance, solverOptions(options));
        const bool failed = !answer || answer->status == optimiser::Status::Infeasible;
        if (!failed || instance.pins.empty() || extra == mostExtraStages) return answer;
        if (!answer && answer.error().code != base::ErrorCode::Unsupported) return answer;
    }
}

std::vector<optimiser::NodeId> consumersOf(const optimiser::Instance& instance, optimiser::NodeId node)
{
    std::vector<optimiser::NodeId> found;
    for (std::size_t i = 0; i < instance.nodes.size(); ++i) {
        const optimiser::Node& n = instance.nodes[i];
        if (std::ranges::find(n.loc, node) != n.loc.end() || std::ranges::find(n.src, node) != n.src.end())
            found.emplace_back(static_cast<std::int32_t>(i));
    }
    return found;
}

// The first pinned store that the plan leaves out because nobody reads it.
std::optional<optimiser::NodeId> unread(const ModelInstance& model, const plan::Plan& plan, std::size_t pins)
{
    for (std::size_t i = 0; i < pins; ++i) {
        const optimiser::Pin& pin = model.instance.pins[i];
        if (pin.kind != optimiser::PinKind::Checkpoint) continue;
        const ValueId value = model.origins[pin.node.at()].value;
        if (std::ranges::find(plan.checkpoints, value, &plan::Checkpoint::value) == plan.checkpoints.end())
            return pin.node;
    }
    return std::nullopt;
}

// Every consumer reads the node from its store; false if they do already.
bool cutAfter(optimiser::Instance& instance, optimiser::NodeId node)
{
    bool added = false;
    for (const optimiser::NodeId consumer : consumersOf(instance, node)) {
        const optimiser::Pin cut{optimiser::PinKind::Cut, node, consumer, 0};
        if (std::ranges::find(instance.pins, cut) != instance.pins.end()) continue;
        instance.pins.push_back(cut);
        added = true;
    }
    return added;
}

std::string joined(const std::set<std::string>& words, const std::string& between)
{
    std::string text;
    std::size_t named = 0;
    for (const std::string& word : words) {
        if (named++ == mostNamed) return text + between + std::to_string(words.size() - mostNamed) + " more";
        text += (text.empty() ? "" : between) + word;
    }
    return text;
}

// Where no pin is in the way, the host's memory is.
base::Error tooLittleHost(const optimiser::Instance& instance, const OptimiseOptions& options)
{
    const base::Result<double> least = optimiser::minimalHostPeak(instance, options.deadlineSeconds, options.stop);
    return base::makeError(base::ErrorCode::Unsupported,
                           "no plan keeps its stores within " + base::formatBytes(*options.hostMemory),
                           least ? "the least is " + base::formatBytes(*least) : "raise --host-memory");
}

// The user's pin that a pin of the instance stands for: cuts follow from stores.
std::string inWords(const Analysis& a, const ModelInstance& model, std::size_t pin)
{
    const optimiser::Pin& p = model.instance.pins[pin];
    const bool never = p.kind == optimiser::PinKind::NoCheckpoint;
    return describePin(a, {never ? PinKind::NoCheckpoint : PinKind::Checkpoint, model.origins[p.node.at()].value});
}

std::string inWords(const Analysis& a, const ModelInstance& model, const std::vector<std::size_t>& pins)
{
    std::set<std::string> words;
    for (const std::size_t pin : pins) words.insert(inWords(a, model, pin));
    return joined(words, " and ");
}

base::Error noPlan(const Analysis& a, const ModelInstance& model, const OptimiseOptions& options)
{
    const optimiser::Instance& instance = model.instance;
    if (instance.pins.empty() && options.hostMemory) return tooLittleHost(instance, options);
    std::set<std::string> pins, ways;
    const base::Result<optimiser::Conflict> conflict = optimiser::explainConflict(instance, solverOptions(options));
    if (conflict) {
        for (const std::size_t i : conflict->pins) pins.insert(inWords(a, model, i));
        for (const optimiser::Repair& repair : conflict->repairs)
            if (repair.kind == optimiser::RepairKind::DropPins) ways.insert(inWords(a, model, repair.pins));
    }
    return base::makeError(base::ErrorCode::Unsupported,
                           "no legal plan is left by the pins" + (pins.empty() ? "" : ": " + joined(pins, ", ")),
                           ways.size() == 1 ? "take away: " + *ways.begin() : "take one of them away");
}

struct Solution {
    optimiser::Answer answer;
    plan::Plan plan;
};

// Pinned stores that nobody would read become cuts, one at a time: each may bring the others their readers.
base::Result<Solution> withPins(const Analysis& a, ModelInstance& model, std::size_t pins,
                                const OptimiseOptions& options)
{
    for (;;) {
        base::Result<optimiser::Answer> answer = solved(model.instance, options);
        if (!answer) return base::forward(answer);
        if (answer->status == optimiser::Status::Infeasible)
            return tl::unexpected<base::Error>(noPlan(a, model, options));
        base::Result<plan::Plan> plan = realise(a, decisionsOf(model, answer->placement));
        if (!plan) return base::forward(plan);
        const std::optional<optimiser::NodeId> missing = unread(model, *plan, pins);
        if (!missing || !cutAfter(model.instance, *missing)) return Solution{std::move(*answer), std::move(*plan)};
    }
}

// ---- what a plan costs

class Account {
public:
    Account(const Analysis& a, const CostModel& costs, const plan::Loop& loop) : m_a(a), m_costs(costs), m_loop(loop)
    {
        for (const plan::Access& read : loop.reads) m_reads.insert({read.value, read.rows});
        for (const plan::Step& step : loop.steps) addStructure(step);
        for (const plan::Step& step : loop.reductions) addStructure(step);
    }

    [[nodiscard]] double total() const
    {
        double cost = m_costs.stage(m_loop.destination);
        for (const plan::Access& w : m_loop.writes) cost += m_costs.write(w.value, w.rows, m_loop.destination);
        for (const auto& [value, rows] : m_reads)
            if (!covered(value, rows)) cost += m_costs.read(value, rows, m_loop.destination);
        for (const auto* steps : {&m_loop.steps, &m_loop.reductions})
            for (const plan::Step& step : *steps) cost += m_costs.compute(step.op, step.rows, m_loop.destination);
        for (const plan::FrontierSource& s : m_loop.frontier)
            cost += m_costs.relation(s.space, s.owner, s.type, m_loop.destination);
        return cost;
    }

private:
    // Own rows come first on a frontier of their type.
    [[nodiscard]] bool covered(ValueId value, const RowClass& rows) const
    {
        return rows.kind == RowKind::Batch && rows.table == m_loop.destination &&
               m_reads.contains({value, {RowKind::Frontier, rows.table, {}}});
    }

    void addStructure(const plan::Step& step)
    {
        const auto operands = analysis::operandRows(m_a, step.op, step.rows);
        if (!operands) return;
        for (const analysis::OperandRows& o : *operands) {
            if (o.rows.kind == RowKind::All || m_a.program.value(o.value).kind != ir::ValueKind::Tensor) continue;
            const analysis::ValueInfo& info = m_a.info(o.value);
            if (info.structureOnly && !info.uniform && !info.sparse && m_a.hasRows(o.value))
                m_reads.insert({o.value, o.rows});
        }
    }

    const Analysis& m_a;
    const CostModel& m_costs;
    const plan::Loop& m_loop;
    std::set<std::pair<ValueId, RowClass>> m_reads;
};

}  // namespace

base::Result<plan::Plan> optimise(const Analysis& analysis, const CostModel& costs, const std::vector<Pin>& pins,
                                  const OptimiseOptions& options)
{
    base::Result<ModelInstance> model = makeInstance(analysis, costs, pins);
    if (!model) return base::forward(model);
    model->instance.hostBudget = options.hostMemory;
    base::Result<Solution> solution = withPins(analysis, *model, model->instance.pins.size(), options);
    if (!solution) return base::forward(solution);
    plan::Plan plan = std::move(solution->plan);
    plan.strategy = optimiser::strategyName(solverOptions(options).strategy);
    plan.objective = objectiveName(costs.objective());
    plan.unit = objectiveUnit(costs.objective());
    plan.pins = pins;
    plan.cost = solution->answer.placement.cost.total();
    plan.lowerBound = solution->answer.lowerBound;
    plan.gap = solution->answer.gap;
    return plan;
}

std::int64_t hostPeak(const plan::Plan& plan)
{
    std::map<ValueId, int> last;  // stage that a store is still there in
    for (const plan::Stage& stage : plan.stages)
        for (const plan::Loop& loop : stage.loops)
            for (const plan::Access& read : loop.reads) last[read.value] = stage.index;
    std::int64_t peak = 0;
    for (const plan::Stage& stage : plan.stages) {
        std::int64_t held = 0;
        for (const plan::Checkpoint& c : plan.checkpoints) {
            const bool wanted = c.output || c.stage == stage.index || last[c.value] >= stage.index;
            if (c.stage <= stage.index && wanted) held += c.bytesWritten.value_or(0);
        }
        peak = std::max(peak, held);
    }
    return peak;
}

std::vector<double> stageCosts(const Analysis& analysis, const CostModel& costs, const plan::Plan& plan)
{
    std::vector<double> stages;
    for (const plan::Stage& stage : plan.stages) {
        double cost = 0;
        for (const plan::Loop& loop : stage.loops) cost += Account(analysis, costs, loop).total();
        stages.push_back(cost);
    }
    return stages;
}

}  // namespace hopscope::placement
