#include <algorithm>

#include "optimiser/program.h"
#include "optimiser/reduce.h"
#include "optimiser/solve.h"

namespace hopscope::optimiser {

base::Result<double> minimalHostPeak(const Instance& instance, double deadlineSeconds, const std::stop_token& stop)
{
    Instance budgeted = instance;
    budgeted.hostBudget = 0;  // any budget makes the reductions keep sizes as well
    const Reduced reduced = reduce(budgeted);
    const Graph g(reduced.instance);
    ProgramOptions options;
    options.minimisePeak = true;
    const Program program(g, options);
    solver::Limits limits;
    limits.seconds = deadlineSeconds;
    limits.stop = stop;
    const base::Result<solver::Solution> found = solver::solveInteger(program.problem(), {}, limits);
    if (!found) return base::forward(found);
    if (found->outcome == solver::Outcome::Optimal) return std::max(0.0, found->objective);
    if (found->outcome == solver::Outcome::Infeasible)
        return base::fail(base::ErrorCode::Unsupported, "there is no legal plan, regardless of host memory");
    if (stop.stop_requested())
        return base::fail(base::ErrorCode::Cancelled, "cancelled before the smallest peak was found");
    return base::fail(base::ErrorCode::Resources, "deadline reached before the smallest peak was found",
                      "allow more time");
}

}  // namespace hopscope::optimiser
