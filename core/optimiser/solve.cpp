#include "optimiser/solve.h"

#include <algorithm>
#include <array>

#include "optimiser/baseline.h"
#include "optimiser/ladder.h"
#include "optimiser/min_cut_relaxation.h"

namespace hopscope::optimiser {

namespace {

constexpr std::array<const char*, 4> names{"optimal", "depth", "source-rule", "local-search"};

base::Result<Answer> fromBaseline(const Instance& instance, const Options& options)
{
    const bool depth = options.strategy == Strategy::Depth;
    base::Result<Placement> placement = baseline(instance, depth ? Baseline::DepthCut : Baseline::SourceRule);
    if (!placement) return base::forward(placement);
    Answer answer{Status::Feasible, std::move(*placement), cutBound(instance), 0, strategyName(options.strategy)};
    const double cost = answer.placement.cost.total();
    answer.lowerBound = std::min(answer.lowerBound, cost);
    answer.gap = cost > 0 ? (cost - answer.lowerBound) / cost : 0;
    if (options.onImprovement) options.onImprovement(answer);
    return answer;
}

}  // namespace

const char* strategyName(Strategy strategy) { return names[static_cast<std::size_t>(strategy)]; }

base::Result<Strategy> parseStrategy(const std::string& name)
{
    const auto* const found = std::ranges::find(names, name);
    if (found != names.end()) return static_cast<Strategy>(found - names.begin());
    return base::fail(base::ErrorCode::Usage, "unknown strategy '" + name + "'",
                      "use optimal, depth, source-rule or local-search");
}

const char* statusName(Status status)
{
    if (status == Status::Infeasible) return "infeasible";
    return status == Status::Optimal ? "optimal" : "feasible";
}

base::Result<Answer> solve(const Instance& instance, const Options& options)
{
    if (options.strategy == Strategy::Depth || options.strategy == Strategy::SourceRule)
        return fromBaseline(instance, options);
    return Ladder(instance, options).run();
}

}  // namespace hopscope::optimiser
