#include "optimiser/reoptimise.h"

#include <algorithm>
#include <chrono>

#include "optimiser/evaluate.h"
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

struct StageRange {
    int from = 1, to = 1;
    void include(int stage) { from = std::min(from, stage), to = std::max(to, stage); }
};

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

class Reoptimiser {
public:
    Reoptimiser(const Instance& instance, const Placement& incumbent, const std::vector<Pin>& pins,
                const ReoptimiseOptions& options)
        : m_instance(instance),
          m_options(options),
          m_began(std::chrono::steady_clock::now()),
          m_reduced(reduce(instance, keptNodes(incumbent, pins))),
          m_small(m_reduced.instance),
          m_cells(cellsOf(m_small, incumbent, m_reduced.image)),
          m_range(stagesOf(instance, incumbent, pins))
    {}

    base::Result<Answer> run()
    {
        if (m_small.impossible()) return Answer{};
        for (const auto& [recompute, wider] : attempts)
            if (const auto answer = attempt(recompute, wider)) return *answer;
        return whole();
    }

private:
    solver::Limits limits() const
    {
        const std::chrono::duration<double> used = std::chrono::steady_clock::now() - m_began;
        solver::Limits limits;
        limits.seconds = m_options.deadlineSeconds - used.count();
        limits.stop = m_options.stop;
        limits.relativeGap = 1e-4;
        return limits;
    }

    [[nodiscard]] std::optional<Answer> attempt(int recompute, int wider) const
    {
        ProgramOptions options;
        options.recompute = recompute;
        options.include = &m_cells;
        options.from = m_range.from - wider;
        options.to = m_range.to + wider;
        const Program program(m_small, options);
        const base::Result<solver::Solution> found = solver::solveInteger(program.problem(), {}, limits());
        if (!found || found->values.empty()) return std::nullopt;
        return answer(program.cells(found->values), "local re-optimisation");
    }

    [[nodiscard]] std::optional<Answer> answer(const Cells& cells, const std::string& by) const
    {
        const Graph original(m_instance);
        base::Result<Placement> plan = realise(original, cells, m_reduced.image);
        if (!plan || !evaluate(m_instance, *plan)) return std::nullopt;
        return Answer{Status::Feasible, std::move(*plan), 0, 1, by};
    }

    // The question is left to the full program.
    base::Result<Answer> whole() const
    {
        Options options;
        options.stop = m_options.stop;
        options.deadlineSeconds = limits().seconds;
        return solve(m_instance, options);
    }

    const Instance& m_instance;
    ReoptimiseOptions m_options;
    std::chrono::steady_clock::time_point m_began;
    Reduced m_reduced;
    Graph m_small;
    Cells m_cells;
    StageRange m_range;
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
