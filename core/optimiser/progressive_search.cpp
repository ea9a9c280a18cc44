#include "optimiser/progressive_search.h"

#include <algorithm>
#include <cmath>

#include "base/rules.h"
#include "optimiser/baseline.h"
#include "optimiser/evaluate.h"
#include "optimiser/local_search.h"
#include "optimiser/min_cut_relaxation.h"

namespace hopscope::optimiser {

namespace {

constexpr double closed = 1e-6;  // a relative gap that counts as none

std::vector<NodeId> keptBy(const Options& options)
{
    return options.incumbent == nullptr ? std::vector<NodeId>() : writtenSet(*options.incumbent);
}

}  // namespace

ProgressiveSearch::ProgressiveSearch(const Instance& instance, const Options& options)
    : m_instance(instance),
      m_options(options),
      m_began(std::chrono::steady_clock::now()),
      m_graph(instance),
      m_reduced(options.reduce ? reduce(instance, keptBy(options)) : unreduced(instance)),
      m_small(m_reduced.instance)
{}

bool ProgressiveSearch::solverAllowed() const
{
    return m_options.solver && m_options.strategy == Strategy::Optimal && solver::available();
}

double ProgressiveSearch::secondsLeft() const
{
    const std::chrono::duration<double> used = std::chrono::steady_clock::now() - m_began;
    return m_options.deadlineSeconds - used.count();
}

bool ProgressiveSearch::over() const { return m_options.stop.stop_requested() || secondsLeft() <= 0; }
bool ProgressiveSearch::proven() const { return m_infeasible || (m_best && m_best->gap <= closed); }

base::Result<Answer> ProgressiveSearch::run()
{
    m_infeasible = m_graph.impossible();
    if (m_infeasible) return finish();
    firstPlans();
    if (solverAllowed() && !over() && !proven()) enlarge();
    return finish();
}

void ProgressiveSearch::firstPlans()
{
    m_bound = cutBound(m_reduced.instance);
    offerIncumbent();
    if (!m_options.search) return;
    offerBaselines();
    if (!m_options.brief && !over() && !proven()) offerLocalSearch();
}

void ProgressiveSearch::offerIncumbent()
{
    if (m_options.incumbent == nullptr || !evaluate(m_instance, *m_options.incumbent)) return;
    const Cells cells = cellsOf(m_small, *m_options.incumbent, m_reduced.image);
    if (realise(m_small, cells)) offerSmall(cells, "previous plan");
}

void ProgressiveSearch::offerBaselines()
{
    for (const Strategy rule : base::rules) {
        const base::Result<Placement> plan = baseline(m_instance, rule);
        if (plan && evaluate(m_instance, *plan)) offer(*plan, base::nameOf(rule));
    }
}

void ProgressiveSearch::offerLocalSearch()
{
    SearchLimits limits;
    limits.stop = m_options.stop;
    limits.seconds = secondsLeft();
    limits.thorough = !solverAllowed();
    if (const auto found = searchLocally(m_small, limits)) offerSmall(cellsOf(m_small, *found), "local search");
}

// Solves programs that allow more and more recomputation, then all of it; only the last one gives a bound.
void ProgressiveSearch::enlarge()
{
    for (const int recompute : {1, 2})
        if (!over() && !proven() && !step(recompute, 0.25)) return;
    if (m_options.brief && m_options.search && !enough()) offerLocalSearch();
    if (!enough()) step(-1, 1);
}

// False where there is no point in continuing.
bool ProgressiveSearch::step(int recompute, double share)
{
    Program program(m_small, {.recompute = recompute, .include = m_incumbent ? &*m_incumbent : nullptr, .from = false});
    solver::Limits limits;
    limits.seconds = secondsLeft() * share;
    limits.stop = m_options.stop;
    if (recompute >= 0) limits.iterations = m_options.iterations;
    if (recompute < 0) limits.onBound = [this](double bound) { raiseBound(bound); };
    if (m_best) limits.cutoff = m_best->placement.cost.total() * (1 + 1e-9);
    const std::vector<double> start = m_incumbent ? program.values(*m_incumbent) : std::vector<double>();
    const base::Result<solver::Solution> found = solver::solveInteger(program.problem(), start, limits);
    if (!found) {
        m_failure = found.error();
        return false;
    }
    if (!found->values.empty())
        offerSmall(program.cells(found->values),
                   recompute < 0 ? "unlimited recomputation" : "recompute " + std::to_string(recompute));
    if (recompute >= 0) return true;
    if (found->outcome == solver::Outcome::Infeasible) {
        if (m_best) raiseBound(m_best->placement.cost.total());
        else m_infeasible = true;
    } else raiseBound(found->bound);
    return true;
}

void ProgressiveSearch::offerSmall(const Cells& cells, const std::string& by)
{
    base::Result<Placement> small = realise(m_small, cells);
    if (!small) return;
    if (!m_incumbent || small->cost.total() < m_incumbentCost) {
        m_incumbent = cellsOf(m_small, *small);
        m_incumbentCost = small->cost.total();
    }
    const base::Result<Placement> plan = realise(m_graph, *m_incumbent, m_reduced.image);
    if (plan && evaluate(m_instance, *plan)) offer(*plan, by);
}

void ProgressiveSearch::offer(const Placement& placement, const std::string& by)
{
    if (m_best && placement.cost.total() >= m_best->placement.cost.total() * (1 - 1e-12)) return;
    m_best = Answer{.status = Status::Feasible, .placement = placement, .lowerBound = 0, .gap = 0, .found = by};
    report();
}

void ProgressiveSearch::raiseBound(double bound)
{
    if (bound <= m_bound * (1 + 1e-12) || std::isinf(bound)) return;
    m_bound = bound;
    if (m_best) report();
}

void ProgressiveSearch::report()
{
    const double cost = m_best->placement.cost.total();
    m_best->lowerBound = std::min(m_bound, cost);
    m_best->gap = cost > 0 ? (cost - m_best->lowerBound) / cost : 0;
    if (m_best->gap <= closed) {
        m_best->status = Status::Optimal;
        m_best->gap = 0;
    }
    if (m_options.onImprovement) m_options.onImprovement(*m_best);
}

base::Result<Answer> ProgressiveSearch::finish()
{
    if (m_best) return *m_best;
    if (m_infeasible) return Answer{};
    if (m_failure) return tl::unexpected<base::Error>(*m_failure);
    if (m_options.stop.stop_requested())
        return base::fail(base::ErrorCode::Cancelled, "cancelled before a plan was found");
    if (over())
        return base::fail(base::ErrorCode::Resources, "deadline reached before a plan was found", "allow more time");
    return base::fail(base::ErrorCode::Unsupported, "local search found no legal plan, but one may exist",
                      "use strategy optimal (requires a solver)");
}

}  // namespace hopscope::optimiser
