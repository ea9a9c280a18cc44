#include "optimiser/solve.h"

#include <algorithm>

#include "optimiser/baseline.h"
#include "optimiser/min_cut_relaxation.h"
#include "optimiser/progressive_search.h"

namespace hopscope::optimiser {

namespace {

base::Result<Answer> fromBaseline(const Instance& instance, const Options& options)
{
    base::Result<Placement> placement = baseline(instance, options.strategy);
    if (!placement) return base::forward(placement);
    Answer answer{.status = Status::Feasible,
                  .placement = std::move(*placement),
                  .lowerBound = cutBound(instance),
                  .gap = 0,
                  .found = base::nameOf(options.strategy)};
    const double cost = answer.placement.cost.total();
    answer.lowerBound = std::min(answer.lowerBound, cost);
    answer.gap = cost > 0 ? (cost - answer.lowerBound) / cost : 0;
    if (options.onImprovement) options.onImprovement(answer);
    return answer;
}

}  // namespace

const char* statusName(Status status)
{
    if (status == Status::Infeasible) return "infeasible";
    return status == Status::Optimal ? "optimal" : "feasible";
}

base::Result<Answer> solve(const Instance& instance, const Options& options)
{
    if (base::isRule(options.strategy)) return fromBaseline(instance, options);
    return ProgressiveSearch(instance, options).run();
}

}  // namespace hopscope::optimiser
