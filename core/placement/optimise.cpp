#include "placement/optimise.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "optimiser/reoptimise.h"
#include "placement/delaying_cut.h"
#include "placement/pins.h"
#include "placement/refusal.h"
#include "placement/store_search.h"

namespace hopscope::placement {

namespace {

using analysis::Analysis;
using ir::ValueId;
using optimiser::NodeId;
using plan::Pin;
using plan::PinKind;

constexpr int mostExtraStages = 3;
// Iterations of the simplex for an answer close to the plan before: most take fewer, some 4,000 (half a second), for a plan
// that is one or two percent cheaper than the repaired one, which the user does not wait for while dragging.
constexpr std::int64_t nearIterations = 400;
// For an answer anywhere, if none is found nearby: some solves that found none after 15 seconds used 8,000 a second.
constexpr std::int64_t wholeIterations = 5000;

template <class T>
bool contains(const std::vector<T>& list, const T& item)
{
    return std::ranges::find(list, item) != list.end();
}

std::vector<NodeId> consumersOf(const optimiser::Instance& instance, NodeId node)
{
    std::vector<NodeId> found;
    for (std::size_t i = 0; i < instance.nodes.size(); ++i)
        if (contains(instance.nodes[i].loc, node) || contains(instance.nodes[i].src, node))
            found.emplace_back(static_cast<std::int32_t>(i));
    return found;
}

// One instance, solved again with more cuts or more stages until the plan respects the user's pins.
class Solving {
public:
    Solving(const Analysis& a, ModelInstance model, const OptimiseOptions& options, const Optimum* before)
        : m_a(a),
          m_model(std::move(model)),
          m_options(options),
          m_before(before),
          m_how(before != nullptr ? before->how : nullptr),
          m_began(std::chrono::steady_clock::now()),
          m_own(m_model.instance.pins.size())
    {}

    base::Result<Optimum> run()
    {
        if (const base::Status ok = setStages(); !ok) return base::forward(ok);
        for (;;) {
            base::Result<optimiser::Answer> answer = solved();
            if (!answer) return base::forward(answer);
            if (answer->status == optimiser::Status::Infeasible)
                return tl::unexpected<base::Error>(noPlan(m_a, m_model, m_options, solverOptions()));
            if (const auto empty = emptyStageOf(answer->placement)) {
                if (fill(answer->placement, *empty)) continue;
                m_empty = *empty;
                return tl::unexpected<base::Error>(emptyStage(m_a, {*firstStagePin(*empty)}, *empty));
            }
            base::Result<Realised> made = realise(m_a, decisionsOf(m_model, answer->placement), m_how.get());
            if (!made) return base::forward(made);
            m_how = std::move(made->how);
            const std::optional<std::size_t> missing = unread(made->plan);
            if (!missing || !cutAfter(*missing)) return optimum(std::move(made->plan), std::move(*answer));
        }
    }

    // The stage that made it fail because nothing would be left to do in it.
    [[nodiscard]] std::optional<int> emptyStageLeft() const { return m_empty; }

private:
    optimiser::Instance& instance() { return m_model.instance; }

    [[nodiscard]] optimiser::Options solverOptions() const
    {
        const std::chrono::duration<double> used = std::chrono::steady_clock::now() - m_began;
        optimiser::Options wanted;
        wanted.strategy = m_options.localSearch ? base::Strategy::LocalSearch : base::Strategy::Optimal;
        wanted.deadlineSeconds = m_options.deadlineSeconds - used.count();
        wanted.stop = m_options.stop;
        return wanted;
    }

    [[nodiscard]] const Pin* lastStagePin() const
    {
        const Pin* last = nullptr;
        for (const Pin& pin : m_model.pins)
            if (pin.stage.valid() && (last == nullptr || pin.stage > last->stage)) last = &pin;
        return last;
    }

    // The pin of the lowest stage after `stage`.
    [[nodiscard]] const Pin* firstStagePin(int stage) const
    {
        const Pin* first = nullptr;
        for (const Pin& pin : m_model.pins)
            if (pin.stage.number > stage && (first == nullptr || pin.stage < first->stage)) first = &pin;
        return first;
    }

    // Where pins or options number the stages, a stage without gathers counts as one of them.
    base::Status setStages()
    {
        const Pin* const pin = lastStagePin();
        const int least = instance().stages;
        m_last = m_options.stages.value_or(instance().pins.empty() ? least : least + mostExtraStages);
        if (pin != nullptr && pin->stage.number > m_last)
            return tl::unexpected<base::Error>(noSuchStage(m_a, *pin, m_last));
        instance().allowStage0 = pin == nullptr && !m_options.stages;
        if (pin != nullptr) instance().stages = std::max(least, pin->stage.number);
        if (m_options.stages) instance().stages = m_last;
        if (m_before != nullptr) m_incumbent = optimiser::withoutGaps(instance(), m_before->placement);
        if (!comparable()) m_before = nullptr;
        if (m_before != nullptr) instance().stages = std::max(instance().stages, m_incumbent.stages.back().stage);
        return {};
    }

    // Whether the previous plan is one of this instance, apart from the pins.
    [[nodiscard]] bool comparable() const
    {
        if (m_before == nullptr || m_incumbent.stages.empty()) return false;
        if (m_incumbent.stages.back().stage > m_last) return false;
        const bool stage0 = m_incumbent.stages.front().stage == 0;
        if (m_before->model.storedOn != m_model.storedOn) return false;
        const bool same = m_before->model.unpinned == m_model.unpinned || m_before->model.origins == m_model.origins;
        return same && (!stage0 || m_model.instance.allowStage0);
    }

    // The pins that were added or removed.
    [[nodiscard]] std::vector<optimiser::Pin> changed() const
    {
        std::vector<optimiser::Pin> found;
        const auto& before = m_before->model.instance.pins;
        const auto& now = m_model.instance.pins;
        std::ranges::copy_if(now, std::back_inserter(found), [&](const auto& pin) { return !contains(before, pin); });
        std::ranges::copy_if(before, std::back_inserter(found), [&](const auto& pin) { return !contains(now, pin); });
        return found;
    }

    [[nodiscard]] optimiser::ReoptimiseOptions nearOptions(std::shared_ptr<std::int64_t> iterations) const
    {
        return {solverOptions().deadlineSeconds, m_options.stop, std::move(iterations)};
    }

    // Solves the instance with its current number of stages.
    base::Result<optimiser::Answer> solve()
    {
        if (m_before == nullptr) return optimiser::solve(instance(), solverOptions());
        auto iterations = std::make_shared<std::int64_t>(wholeIterations);
        if (instance().stages <= m_before->model.instance.stages)
            return optimiser::reoptimiseWhole(instance(), m_incumbent, changed(), nearOptions(std::move(iterations)));
        optimiser::Options brief = solverOptions();
        brief.brief = true;
        brief.iterations = std::move(iterations);
        return optimiser::solve(instance(), brief);
    }

    // Searches close to the previous plan, or else anywhere, before stages are added.
    base::Result<optimiser::Answer> solvedNear()
    {
        const auto iterations = std::make_shared<std::int64_t>(nearIterations);
        for (;; ++instance().stages) {
            if (auto plan = optimiser::reoptimiseLocally(instance(), m_incumbent, changed(), nearOptions(iterations)))
                return optimiser::Answer{optimiser::Status::Feasible, std::move(*plan), 0, 1, "local re-optimisation"};
            base::Result<optimiser::Answer> answer = solve();
            if (!wantsMoreStages(answer)) return answer;
        }
    }

    // Solves the instance with as few stages as the pins allow.
    base::Result<optimiser::Answer> solved() { return m_before != nullptr ? solvedNear() : solvedAnywhere(); }

    base::Result<optimiser::Answer> solvedAnywhere()
    {
        for (;; ++instance().stages) {
            base::Result<optimiser::Answer> answer = solve();
            if (!wantsMoreStages(answer)) return answer;
        }
    }

    [[nodiscard]] bool wantsMoreStages(const base::Result<optimiser::Answer>& answer)
    {
        const bool failed = answer ? answer->status == optimiser::Status::Infeasible
                                   : answer.error().code == base::ErrorCode::Unsupported;
        return failed && instance().stages < m_last;
    }

    // The first pin of a store that the plan leaves out because no stage reads it.
    [[nodiscard]] std::optional<std::size_t> unread(const plan::Plan& plan) const
    {
        for (std::size_t i = 0; i < m_own; ++i) {
            const optimiser::Pin& pin = m_model.instance.pins[i];
            const ValueId value = m_model.origins[pin.node.at()].value;
            if (pin.kind == PinKind::Checkpoint &&
                std::ranges::find(plan.checkpoints, value, &plan::Checkpoint::value) == plan.checkpoints.end())
                return i;
        }
        return std::nullopt;
    }

    bool cut(NodeId node, NodeId consumer, std::size_t pin)
    {
        const optimiser::Pin cut{.kind = PinKind::Cut, .node = node, .consumer = consumer, .stage = 0};
        if (contains(instance().pins, cut)) return false;
        instance().pins.push_back(cut);
        m_model.pinOf.push_back(pin);
        return true;
    }

    // Every consumer reads the pinned store; false if they do already.
    bool cutAfter(std::size_t pin)
    {
        const NodeId node = instance().pins[pin].node;
        bool added = false;
        for (const NodeId consumer : consumersOf(instance(), node))
            added = cut(node, consumer, m_model.pinOf[pin]) || added;
        return added;
    }

    // The first empty stage before a stage that a pin names: plans have no empty stages.
    [[nodiscard]] std::optional<int> emptyStageOf(const optimiser::Placement& placement) const
    {
        const Pin* const pin = lastStagePin();
        for (int stage = 1; pin != nullptr && stage < pin->stage.number; ++stage)
            if (placement.stages[static_cast<std::size_t>(stage) - 1].stage != stage) return stage;
        return std::nullopt;
    }

    // Delays the gathers of the first pin after the empty stage, or else one of the next stage, so that their operands
    // are computed in the empty one.
    bool fill(const optimiser::Placement& placement, int empty)
    {
        const auto pin = static_cast<std::size_t>(firstStagePin(empty) - m_model.pins.data());
        std::vector<NodeId> hops;
        for (std::size_t i = 0; i < m_own; ++i)
            if (m_model.pinOf[i] == pin) hops.push_back(instance().pins[i].node);
        std::optional<optimiser::Edge> found = delayingCut(instance(), hops);
        if (!found) found = delayingCut(instance(), placement.stages[static_cast<std::size_t>(empty) - 1].hops);
        return found && cut(found->from, found->to, pin);
    }

    Optimum optimum(plan::Plan plan, optimiser::Answer answer)
    {
        plan.strategy = solverOptions().strategy;
        plan.cost = answer.placement.cost.total();
        if (m_before == nullptr) {
            plan.lowerBound = answer.lowerBound;
            plan.gap = answer.gap;
        }
        return {std::move(plan), std::move(m_model), std::move(answer.placement), m_how};
    }

    const Analysis& m_a;
    ModelInstance m_model;
    const OptimiseOptions& m_options;
    const Optimum* m_before;
    optimiser::Placement m_incumbent;          // m_before's placement
    std::shared_ptr<const Realisation> m_how;  // of the last plan
    std::chrono::steady_clock::time_point m_began;
    std::size_t m_own;  // pins of the instance that are the user's
    int m_last = 1;
    std::optional<int> m_empty;
};

// An irreducible conflict: without any one of these pins, the others have a plan.
std::vector<Pin> conflict(const Analysis& a, const CostModel& costs, std::vector<Pin> pins,
                          const OptimiseOptions& options)
{
    for (std::size_t i = 0; i < pins.size();) {
        std::vector<Pin> without = pins;
        without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
        base::Result<ModelInstance> model = makeInstance(a, costs, without);
        if (model && !Solving(a, std::move(*model), options, nullptr).run()) pins = std::move(without);
        else ++i;
    }
    return pins;
}

base::Result<Optimum> solveStored(const Analysis& analysis, const CostModel& costs, const std::vector<Pin>& pins,
                                  const OptimiseOptions& options, const Optimum* before, StoredOn on, bool& confined)
{
    base::Result<ModelInstance> model =
        makeInstance(analysis, costs, pins, on, before != nullptr ? &before->model : nullptr);
    if (!model) return base::forward(model);
    confined = model->confined;
    model->instance.hostBudget = options.hostMemory;
    Solving solving(analysis, std::move(*model), options, before);
    base::Result<Optimum> optimum = solving.run();
    if (const auto empty = solving.emptyStageLeft())
        return tl::unexpected<base::Error>(
            emptyStage(analysis, conflict(analysis, costs, settled(pins), options), *empty));
    return optimum;
}

}  // namespace

namespace {

// Solves an instance with stores on complete rows, or else on any rows.
base::Result<Optimum> solved(const Analysis& analysis, const CostModel& costs, const std::vector<Pin>& pins,
                             const OptimiseOptions& options, const Optimum* before)
{
    bool confined = false;
    const auto began = std::chrono::steady_clock::now();
    base::Result<Optimum> optimum =
        solveStored(analysis, costs, pins, options, before, StoredOn::CompleteRows, confined);
    if (optimum || !confined || optimum.error().code != base::ErrorCode::Unsupported) return optimum;
    OptimiseOptions rest = options;
    rest.deadlineSeconds -= std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    base::Result<Optimum> other = solveStored(analysis, costs, pins, rest, before, StoredOn::AnyRows, confined);
    return other ? std::move(other) : std::move(optimum);
}

// Solves without an instance: the search for stores ignores pins and memory limits.
base::Result<Optimum> searched(const Analysis& analysis, const CostModel& costs, const OptimiseOptions& options)
{
    base::Result<plan::Plan> plan = searchStores(
        analysis, costs, {.deadlineSeconds = options.deadlineSeconds, .stages = options.stages, .stop = options.stop});
    if (!plan) return base::forward(plan);
    plan->strategy = base::Strategy::LocalSearch;
    return Optimum{.plan = std::move(*plan), .model = {}, .placement = {}};
}

// Whether the value is there before the first stage, or is computed from values without rows that are.
bool needsNoStage(const Analysis& a, analysis::ValueId value)
{
    std::set<analysis::ValueId> seen;
    for (std::vector<analysis::ValueId> open{value}; !open.empty();) {
        const analysis::ValueId v = open.back();
        open.pop_back();
        if (a.available(v) || !seen.insert(v).second) continue;
        const ir::Op& op = a.program.op(a.program.value(v).producer);
        if (a.hasRows(v) || a.info(op.id).kind == analysis::OpKind::Reduce) return false;
        ir::forEachOperand(op, [&](ir::Slot, analysis::ValueId operand) { open.push_back(operand); });
    }
    return true;
}

// All outputs depend on structure and parameters alone: degrees, PageRank, a table by ids, a product of weights.
bool nothingToPlan(const Analysis& a)
{
    return std::ranges::all_of(a.program.outputs,
                               [&a](const ir::NamedValue& output) { return needsNoStage(a, output.value); });
}

base::Result<Optimum> onlyPlan(const Analysis& a, const std::vector<Pin>& pins, const OptimiseOptions& options)
{
    base::Result<plan::Plan> plan = makePlan(a, base::Strategy::Depth, pins);
    if (!plan) return base::forward(plan);
    plan->strategy = options.localSearch ? base::Strategy::LocalSearch : base::Strategy::Optimal;
    plan->cost = plan->lowerBound = plan->gap = 0;
    return Optimum{.plan = std::move(*plan), .model = {}, .placement = {}};
}

}  // namespace

base::Result<Optimum> optimise(const Analysis& analysis, const CostModel& costs, const std::vector<Pin>& pins,
                               const OptimiseOptions& options, const Optimum* before)
{
    base::Result<Optimum> optimum =
        nothingToPlan(analysis) ? onlyPlan(analysis, pins, options) : solved(analysis, costs, pins, options, before);
    const bool refused = !optimum && optimum.error().code == base::ErrorCode::Unsupported;
    if (refused && pins.empty() && !options.hostMemory) {
        base::Result<Optimum> other = searched(analysis, costs, options);
        if (other || other.error().code != base::ErrorCode::Unsupported) optimum = std::move(other);
    }
    if (!optimum) return optimum;
    optimum->plan.objective = costs.objective();
    optimum->plan.pins = pins;
    return optimum;
}

std::int64_t hostPeak(const plan::Plan& plan)
{
    std::map<ValueId, plan::StageId> last;  // stage that a store is still there in
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

}  // namespace hopscope::placement
