#include "optimiser/reoptimise.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "optimiser/evaluate.h"
#include "optimiser/excerpt.h"
#include "optimiser/program.h"
#include "optimiser/reduce.h"

namespace hopscope::optimiser {

namespace {

// How many values per use may be recomputed (negative: all), and how many stages around the pin are looked at.
struct Neighbourhood {
    int recompute, wider;
};
constexpr int allStages = 1 << 20;
constexpr Neighbourhood attempts[] = {{2, 1}, {-1, 1}, {2, 2}, {-1, 2}, {-1, 4}, {2, allStages}};

std::vector<NodeId> keptNodes(const Placement& incumbent, const std::vector<Pin>& pins)
{
    std::vector<NodeId> keep = writtenSet(incumbent);
    for (const Pin& pin : pins) {
        keep.push_back(pin.node);
        if (pin.consumer.valid()) keep.push_back(pin.consumer);
    }
    return keep;
}

bool computes(const StagePlacement& s, NodeId v)
{
    const auto has = [v](const std::vector<NodeId>& list) { return std::ranges::find(list, v) != list.end(); };
    return has(s.hops) || has(s.computeD) || has(s.written) ||
           std::ranges::any_of(s.computeF, [v](const OnFrontier& c) { return c.node == v; });
}

void include(StageRange& range, const Instance& instance, const Placement& incumbent, const Pin& pin)
{
    for (const StagePlacement& s : incumbent.stages)
        if (computes(s, pin.node) || (pin.consumer.valid() && computes(s, pin.consumer))) range.include(s.stage);
    if (pin.kind == PinKind::HopStage) range.include(std::min(pin.stage, instance.stages));
}

// The stages that the pins are about: where their nodes are computed, and where their hops shall run.
StageRange stagesOf(const Instance& instance, const Placement& incumbent, const std::vector<Pin>& pins)
{
    StageRange range{instance.stages + 1, -1};
    for (const Pin& pin : pins) include(range, instance, incumbent, pin);
    return range.to < 0 ? StageRange{0, instance.stages} : range;
}

// An instance with a legal placement but for its pins, of which some stages are optimised and the others fixed.
class Neighbours {
public:
    Neighbours(const Instance& instance, const Placement& incumbent, const std::vector<NodeId>& keep)
        : m_instance(instance),
          m_reduced(reduce(instance, keep)),
          m_small(m_reduced.instance),
          m_cells(cellsOf(m_small, incumbent, m_reduced.image))
    {}

    [[nodiscard]] bool impossible() const { return m_small.impossible(); }

    [[nodiscard]] std::optional<Placement> best(int recompute, StageRange free, const solver::Limits& limits) const
    {
        ProgramOptions options;
        options.recompute = recompute;
        options.include = &m_cells;
        options.from = free.from;
        options.to = free.to;
        const Program program(m_small, options);
        const base::Result<solver::Solution> found = solver::solveInteger(program.problem(), {}, limits);
        if (!found || found->values.empty()) return std::nullopt;
        const Graph original(m_instance);
        base::Result<Placement> plan = realise(original, program.cells(found->values), m_reduced.image);
        if (!plan || !evaluate(m_instance, *plan)) return std::nullopt;
        return std::move(*plan);
    }

private:
    const Instance& m_instance;
    Reduced m_reduced;
    Graph m_small;
    Cells m_cells;
};

class Reoptimiser {
public:
    Reoptimiser(const Instance& instance, const Placement& incumbent, const std::vector<Pin>& pins,
                const ReoptimiseOptions& options)
        : m_instance(instance),
          m_incumbent(incumbent),
          m_pins(pins),
          m_options(options),
          m_began(std::chrono::steady_clock::now()),
          m_range(stagesOf(instance, incumbent, pins))
    {}

    base::Result<Answer> run()
    {
        for (const auto& [recompute, wider] : attempts) {
            const StageRange free = widened(wider);
            const bool excerpt = wider != allStages && !m_instance.hostBudget;
            if (!excerpt && whole().impossible()) return Answer{};
            const std::optional<Placement> found =
                excerpt ? ofExcerpt(recompute, free) : whole().best(recompute, free, limits());
            if (found)
                return Answer{.status = Status::Feasible,
                              .placement = *found,
                              .lowerBound = 0,
                              .gap = 1,
                              .found = "local re-optimisation"};
        }
        return solved();
    }

private:
    [[nodiscard]] StageRange widened(int by) const
    {
        const int first = m_instance.allowStage0 ? 0 : 1;
        return {std::max(m_range.from - by, first), std::min(m_range.to + by, m_instance.stages)};
    }

    [[nodiscard]] solver::Limits limits() const
    {
        const std::chrono::duration<double> used = std::chrono::steady_clock::now() - m_began;
        solver::Limits limits;
        limits.seconds = m_options.deadlineSeconds - used.count();
        limits.stop = m_options.stop;
        limits.relativeGap = 1e-4;
        return limits;
    }

    // Its stages are a small problem of their own. Budgets are about all stages: no excerpt knows them.
    [[nodiscard]] std::optional<Placement> ofExcerpt(int recompute, StageRange window) const
    {
        const std::optional<Excerpt> part = excerptOf(m_instance, m_incumbent, window);
        if (!part) return std::nullopt;
        const Neighbours here(part->instance, part->incumbent, keptNodes(part->incumbent, part->instance.pins));
        if (here.impossible()) return std::nullopt;
        const auto found = here.best(recompute, {0, part->instance.stages}, limits());
        if (!found) return std::nullopt;
        Placement plan = withExcerpt(m_instance, m_incumbent, *part, *found);
        const base::Result<Cost> cost = evaluate(m_instance, plan);
        if (!cost) return std::nullopt;
        plan.cost = *cost;
        return plan;
    }

    const Neighbours& whole()
    {
        if (!m_whole) m_whole.emplace(m_instance, m_incumbent, keptNodes(m_incumbent, m_pins));
        return *m_whole;
    }

    // The question is left to the full program.
    [[nodiscard]] base::Result<Answer> solved() const
    {
        Options options;
        options.stop = m_options.stop;
        options.deadlineSeconds = limits().seconds;
        return solve(m_instance, options);
    }

    const Instance& m_instance;
    const Placement& m_incumbent;
    const std::vector<Pin>& m_pins;
    ReoptimiseOptions m_options;
    std::chrono::steady_clock::time_point m_began;
    StageRange m_range;
    std::optional<Neighbours> m_whole;
};

}  // namespace

base::Result<Answer> reoptimise(const Instance& instance, const Placement& incumbent, const std::vector<Pin>& changed,
                                const ReoptimiseOptions& options)
{
    if (solver::available()) return Reoptimiser(instance, incumbent, changed, options).run();
    Options whole;
    whole.strategy = Strategy::LocalSearch;
    whole.stop = options.stop;
    whole.deadlineSeconds = options.deadlineSeconds;
    whole.incumbent = &incumbent;
    return solve(instance, whole);
}

}  // namespace hopscope::optimiser
