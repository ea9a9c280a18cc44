#include "optimiser/reoptimise.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "optimiser/evaluate.h"
#include "optimiser/excerpt.h"
#include "optimiser/program.h"
#include "optimiser/reduce.h"
#include "optimiser/repair.h"

namespace hopscope::optimiser {

namespace {

// How many values per use may be recomputed (negative: all), and how many stages around the pins are optimised.
struct Neighbourhood {
    int recompute, wider;
};
constexpr Neighbourhood attempts[] = {{2, 1}, {-1, 1}, {2, 2}, {-1, 2}, {-1, 4}};
constexpr int apart = 3;                     // stages between pins that are handled one after the other
constexpr std::size_t quicklySolved = 2000;  // nodes of an instance whose program is solved while the user drags

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

// Adds the stages that compute the pin's nodes, and the one in which its hop shall run.
void addStages(const Instance& instance, const Placement& incumbent, const Pin& pin, std::set<int>& stages)
{
    for (const StagePlacement& s : incumbent.stages)
        if (computes(s, pin.node) || (pin.consumer.valid() && computes(s, pin.consumer))) stages.insert(s.stage);
    if (pin.stage > 0) stages.insert(std::min(pin.stage, instance.stages));
}

// The stages that the pins concern, ascending; nearby stages form one range.
std::vector<StageRange> stagesOf(const Instance& instance, const Placement& incumbent, const std::vector<Pin>& pins)
{
    std::set<int> stages;
    for (const Pin& pin : pins) addStages(instance, incumbent, pin, stages);
    std::vector<StageRange> ranges;
    for (const int stage : stages)
        if (ranges.empty() || ranges.back().to + apart < stage) ranges.push_back({stage, stage});
        else ranges.back().include(stage);
    return ranges;
}

// An instance with a placement that is legal except for the pins. Some stages are optimised, the others are fixed.
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

Answer found(Placement plan, const char* by) { return {Status::Feasible, std::move(plan), 0, 1, by}; }

class Reoptimiser {
public:
    Reoptimiser(const Instance& instance, const Placement& incumbent, const std::vector<Pin>& pins,
                const ReoptimiseOptions& options)
        : m_instance(instance),
          m_incumbent(incumbent),
          m_pins(pins),
          m_options(options),
          m_began(std::chrono::steady_clock::now())
    {}

    // Optimises only the stages around the pins and keeps all others.
    [[nodiscard]] std::optional<Placement> local() const
    {
        if (m_instance.hostBudget) return std::nullopt;
        std::vector<StageRange> ranges = stagesOf(m_instance, m_incumbent, m_pins);
        Placement plan = m_incumbent;
        makeRoom(plan, ranges);
        for (const StageRange& range : ranges) {
            std::optional<Placement> next = around(plan, range);
            if (!next) return std::nullopt;
            plan = std::move(*next);
        }
        const base::Result<Cost> cost = evaluate(m_instance, plan);
        if (!cost) return std::nullopt;
        plan.cost = *cost;
        return plan;
    }

    // The answer where there is no local one.
    [[nodiscard]] base::Result<Answer> anywhere() const
    {
        std::optional<Placement> repair = repaired(m_instance, m_incumbent);
        if (repair && m_instance.nodes.size() > quicklySolved) return found(std::move(*repair), "repair");
        const Neighbours whole(m_instance, m_incumbent, keptNodes(m_incumbent, m_pins));
        if (whole.impossible()) return Answer{};
        std::optional<Placement> plan = whole.best(2, {0, m_instance.stages}, limits());
        if (plan && !(repair && repair->cost.total() < plan->cost.total()))
            return found(std::move(*plan), "local re-optimisation");
        return repair ? found(std::move(*repair), "repair") : solved();
    }

private:
    // Moves later stages back to make room for unused ones, where no pin names a stage.
    void makeRoom(Placement& plan, std::vector<StageRange>& ranges) const
    {
        if (plan.stages.empty() || ranges.empty()) return;
        const int room = m_instance.stages - plan.stages.back().stage;
        const auto counted = [](const Pin& pin) { return pin.stage > 0; };
        if (room <= 0 || std::ranges::any_of(m_instance.pins, counted)) return;
        const int after = whereRoomIsWanted(ranges);
        for (StagePlacement& s : plan.stages)
            if (s.stage > after) s.stage += room;
        for (StageRange& range : ranges) {
            if (range.from > after) range.from += room;
            if (range.to >= after) range.to += room;
        }
    }

    // The last stage of the range around the first pinned store: more stages are inserted after it.
    [[nodiscard]] int whereRoomIsWanted(const std::vector<StageRange>& ranges) const
    {
        std::set<int> stages;
        for (const Pin& pin : m_pins)
            if (base::storesOf(pin.kind) == base::PinStores::Always &&
                std::ranges::find(m_instance.pins, pin) != m_instance.pins.end())
                addStages(m_instance, m_incumbent, pin, stages);
        const int first = stages.empty() ? ranges.front().to : *stages.begin();
        const auto around = [first](const StageRange& range) { return range.from <= first && first <= range.to; };
        const auto range = std::ranges::find_if(ranges, around);
        return range == ranges.end() ? ranges.front().to : range->to;
    }

    // Widens the window until there is a plan of these stages.
    [[nodiscard]] std::optional<Placement> around(const Placement& plan, const StageRange& range) const
    {
        std::optional<StageRange> hopeless;
        for (const auto& [recompute, wider] : attempts) {
            if (m_options.iterations && *m_options.iterations <= 0) break;
            const StageRange window = widened(range, wider);
            if (hopeless == window) continue;
            bool impossible = false;
            if (auto next = ofExcerpt(plan, recompute, window, impossible)) return next;
            if (impossible) hopeless = window;
            if (window == StageRange{firstStage(), m_instance.stages} && recompute < 0) break;
        }
        return std::nullopt;
    }

    [[nodiscard]] int firstStage() const { return m_instance.allowStage0 ? 0 : 1; }
    [[nodiscard]] StageRange widened(const StageRange& range, int by) const
    {
        return {std::max(range.from - by, firstStage()), std::min(range.to + by, m_instance.stages)};
    }

    [[nodiscard]] solver::Limits limits() const
    {
        const std::chrono::duration<double> used = std::chrono::steady_clock::now() - m_began;
        solver::Limits limits;
        limits.seconds = m_options.deadlineSeconds - used.count();
        limits.stop = m_options.stop;
        limits.iterations = m_options.iterations;
        limits.relativeGap = 1e-4;
        return limits;
    }

    // Solves the stages of the window as a small separate problem. `impossible`: whatever is recomputed.
    [[nodiscard]] std::optional<Placement> ofExcerpt(const Placement& plan, int recompute, StageRange window,
                                                     bool& impossible) const
    {
        const std::optional<Excerpt> part = excerptOf(m_instance, plan, window);
        impossible = !part;
        if (!part) return std::nullopt;
        const Neighbours here(part->instance, part->incumbent, keptNodes(part->incumbent, part->instance.pins));
        impossible = here.impossible();
        if (impossible) return std::nullopt;
        const auto best = here.best(recompute, {0, part->instance.stages}, limits());
        if (!best) return std::nullopt;
        return withExcerpt(m_instance, plan, *part, *best);
    }

    // The question is left to the full program.
    [[nodiscard]] base::Result<Answer> solved() const
    {
        Options options;
        options.brief = true;
        options.iterations = m_options.iterations;
        options.stop = m_options.stop;
        options.deadlineSeconds = limits().seconds;
        return solve(m_instance, options);
    }

    const Instance& m_instance;
    const Placement& m_incumbent;
    const std::vector<Pin>& m_pins;
    ReoptimiseOptions m_options;
    std::chrono::steady_clock::time_point m_began;
};

}  // namespace

std::optional<Placement> reoptimiseLocally(const Instance& instance, const Placement& incumbent,
                                           const std::vector<Pin>& changed, const ReoptimiseOptions& options)
{
    if (!solver::available()) return std::nullopt;
    return Reoptimiser(instance, incumbent, changed, options).local();
}

base::Result<Answer> reoptimise(const Instance& instance, const Placement& incumbent, const std::vector<Pin>& changed,
                                const ReoptimiseOptions& options)
{
    if (auto plan = reoptimiseLocally(instance, incumbent, changed, options))
        return found(std::move(*plan), "local re-optimisation");
    return reoptimiseWhole(instance, incumbent, changed, options);
}

base::Result<Answer> reoptimiseWhole(const Instance& instance, const Placement& incumbent,
                                     const std::vector<Pin>& changed, const ReoptimiseOptions& options)
{
    if (solver::available()) return Reoptimiser(instance, incumbent, changed, options).anywhere();
    Options whole;
    whole.strategy = Strategy::LocalSearch;
    whole.stop = options.stop;
    whole.deadlineSeconds = options.deadlineSeconds;
    whole.incumbent = &incumbent;
    return solve(instance, whole);
}

}  // namespace hopscope::optimiser
