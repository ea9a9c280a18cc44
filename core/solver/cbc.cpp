// The only code that uses CBC and its libraries (Clp, Osi, Cgl). It keeps the promises of the interface: nothing is
// printed, exceptions become errors, deadline and stop token are checked in every iteration.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <coin/CbcConfig.h>
#include <coin/CbcModel.hpp>

#include <coin/CbcCutGenerator.hpp>
#include <coin/CbcEventHandler.hpp>
#include <coin/CbcHeuristic.hpp>
#include <coin/CbcHeuristicDiveCoefficient.hpp>
#include <coin/CbcHeuristicRINS.hpp>
#include <coin/CglClique.hpp>
#include <coin/CglGomory.hpp>
#include <coin/CglKnapsackCover.hpp>
#include <coin/CglPreProcess.hpp>
#include <coin/CglProbing.hpp>
#include <coin/CglTwomir.hpp>
#include <coin/CglZeroHalf.hpp>
#include <coin/ClpEventHandler.hpp>
#include <coin/ClpSimplex.hpp>
#include <coin/CoinError.hpp>
#include <coin/OsiClpSolverInterface.hpp>
#include <exception>
#include <string>

#include "solver/compact.h"

namespace hopscope::solver {

namespace {

using Clock = std::chrono::steady_clock;

struct Watch {
    explicit Watch(const Limits& limits)
        : stop(limits.stop),
          bounded(limits.seconds < 1e9),
          iterations(limits.iterations)
    {
        if (bounded)
            end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(std::max(0.0, limits.seconds)));
    }
    [[nodiscard]] bool over() const
    {
        return (iterations && *iterations <= 0) || stop.stop_requested() || (bounded && Clock::now() >= end);
    }
    void iterated() const
    {
        if (iterations) --*iterations;
    }
    [[nodiscard]] double left() const
    {
        return bounded ? std::max(0.0, std::chrono::duration<double>(end - Clock::now()).count()) : 1e9;
    }
    std::stop_token stop;
    bool bounded;
    Clock::time_point end;
    std::shared_ptr<std::int64_t> iterations;
};

// Stops the simplex. CBC copies its solvers with their handlers.
class SimplexWatch final : public ClpEventHandler {
public:
    explicit SimplexWatch(const Watch& watch) : m_watch(watch) {}
    int event(Event what) override
    {
        if (what != endOfIteration) return -1;
        m_watch.iterated();
        return m_watch.over() ? 3 : -1;
    }
    [[nodiscard]] ClpEventHandler* clone() const override { return new SimplexWatch(*this); }

private:
    Watch m_watch;
};

// Stops the search between nodes.
class SearchWatch final : public CbcEventHandler {
public:
    explicit SearchWatch(const Watch& watch) : m_watch(watch) {}
    CbcAction event(CbcEvent) override { return m_watch.over() ? stop : noAction; }
    [[nodiscard]] CbcEventHandler* clone() const override { return new SearchWatch(*this); }

private:
    Watch m_watch;
};

double clip(double value) { return std::clamp(value, -COIN_DBL_MAX, COIN_DBL_MAX); }

void load(OsiClpSolverInterface& solver, const Problem& p)
{
    solver.setHintParam(OsiDoReducePrint, true);
    solver.messageHandler()->setLogLevel(0);
    solver.setLogLevel(0);
    std::vector<double> rowLower(p.rowLower), rowUpper(p.rowUpper), lower(p.lower), upper(p.upper);
    for (auto* const list : {&rowLower, &rowUpper, &lower, &upper}) std::ranges::transform(*list, list->begin(), clip);
    const std::vector<CoinBigIndex> starts(p.rowStart.begin(), p.rowStart.end());
    const CoinPackedMatrix byRows(false, p.columns(), p.rows(), static_cast<CoinBigIndex>(p.termColumn.size()),
                                  p.termValue.data(), p.termColumn.data(), starts.data(), nullptr);
    solver.loadProblem(byRows, lower.data(), upper.data(), p.cost.data(), rowLower.data(), rowUpper.data());
}

Solution ended(Outcome outcome)
{
    Solution s;
    s.outcome = outcome;
    if (outcome == Outcome::Infeasible) s.bound = infinity;
    return s;
}

// The relaxation of p; `solver` then holds the optimal basis.
Solution relax(OsiClpSolverInterface& solver, const Problem& p, const Watch& watch)
{
    if (p.columns() == 0) {  // rows without columns do not outlive compact()
        Solution s = ended(Outcome::Optimal);
        s.objective = s.bound = p.constant;
        return s;
    }
    load(solver, p);
    SimplexWatch handler(watch);
    solver.getModelPtr()->passInEventHandler(&handler);
    solver.initialSolve();
    if (solver.isProvenPrimalInfeasible()) return ended(Outcome::Infeasible);
    if (solver.isProvenDualInfeasible()) return ended(Outcome::Unbounded);
    if (!solver.isProvenOptimal()) return ended(Outcome::Unknown);
    Solution s = ended(Outcome::Optimal);
    s.values.assign(solver.getColSolution(), solver.getColSolution() + p.columns());
    s.reducedCosts.assign(solver.getReducedCost(), solver.getReducedCost() + p.columns());
    s.objective = s.bound = solver.getObjValue() + p.constant;
    return s;
}

bool hasSolution(const Solution& s) { return s.outcome == Outcome::Optimal || s.outcome == Outcome::Feasible; }

bool integral(const Problem& p, const std::vector<double>& values)
{
    for (int c = 0; c < p.columns(); ++c)
        if (p.integer[c] && std::abs(values[c] - std::round(values[c])) > 1e-7) return false;
    return true;
}

// Columns that cannot move from the bound they are at without exceeding `slack`, fixed there.
Problem fixByReducedCost(Problem p, const Solution& relaxation, double slack)
{
    for (int c = 0; c < p.columns(); ++c) {
        if (!p.integer[c]) continue;
        const double reduced = relaxation.reducedCosts[c];
        if (reduced > slack && relaxation.values[c] < p.lower[c] + 1e-7) p.upper[c] = p.lower[c];
        if (-reduced > slack && relaxation.values[c] > p.upper[c] - 1e-7) p.lower[c] = p.upper[c];
    }
    return p;
}

void addGenerators(CbcModel& model)
{
    CglProbing probing;
    probing.setUsingObjective(1);
    probing.setMaxPass(1);
    probing.setMaxPassRoot(1);
    probing.setMaxProbe(10);
    probing.setMaxProbeRoot(50);
    probing.setMaxLook(10);
    probing.setMaxLookRoot(50);
    probing.setMaxElements(200);
    probing.setRowCuts(3);
    model.addCutGenerator(&probing, -1, "probing");
    CglGomory gomory;
    gomory.setLimitAtRoot(300);
    model.addCutGenerator(&gomory, -98, "gomory");
    const CglKnapsackCover knapsack;
    CglKnapsackCover cover(knapsack);
    model.addCutGenerator(&cover, -98, "knapsack");
    CglClique clique;
    clique.setStarCliqueReport(false);
    clique.setRowCliqueReport(false);
    model.addCutGenerator(&clique, -98, "clique");
    CglZeroHalf zeroHalf;
    model.addCutGenerator(&zeroHalf, -98, "zerohalf");
    CglTwomir twomir;
    model.addCutGenerator(&twomir, -98, "twomir");
}

void addHeuristics(CbcModel& model)
{
    CbcRounding rounding(model);
    model.addHeuristic(&rounding);
    CbcHeuristicDiveCoefficient dive(model);
    model.addHeuristic(&dive);
    CbcHeuristicRINS rins(model);
    rins.setHowOften(100);
    model.addHeuristic(&rins);
}

void setUp(CbcModel& model, const Limits& limits, const Watch& watch, double cutoff)
{
    model.messageHandler()->setLogLevel(0);
    model.setLogLevel(0);
    model.solver()->messageHandler()->setLogLevel(0);
    model.setPrintFrequency(0);
    model.setUseElapsedTime(true);
    model.setMaximumSeconds(watch.left());
    model.setAllowableFractionGap(limits.relativeGap);
    if (cutoff < 1e100) model.setCutoff(cutoff);
    addGenerators(model);
    addHeuristics(model);
    model.setMinimumDrop(std::min(5e-2, std::abs(model.getMinimizationObjValue()) * 1e-3 + 1e-4));
    model.setMaximumCutPassesAtRoot(20);
    model.setMaximumCutPasses(2);
    model.setNumberBeforeTrust(10);
    model.setNumberStrong(10);
    SearchWatch handler(watch);
    model.passInEventHandler(&handler);
}

// Branch and cut on the remaining program; `cutoff` without the constant. Values are those of p's columns.
Solution search(OsiClpSolverInterface& solver, const Problem& p, const Limits& limits, const Watch& watch,
                double cutoff)
{
    for (int c = 0; c < p.columns(); ++c)
        if (p.integer[c]) solver.setInteger(c);
    CbcModel model(solver);
    setUp(model, limits, watch, cutoff - p.constant);
    model.branchAndBound();
    const bool finished = model.status() == 0 && !model.isSecondsLimitReached() && !watch.over();
    const double* const best = model.bestSolution();
    if (best == nullptr || model.getMinimizationObjValue() > 1e40) {
        Solution s = ended(finished ? Outcome::Infeasible : Outcome::Unknown);
        s.bound = finished ? cutoff : model.getBestPossibleObjValue() + p.constant;
        return s;
    }
    Solution s = ended(finished ? Outcome::Optimal : Outcome::Feasible);
    s.values.assign(best, best + p.columns());
    for (int c = 0; c < p.columns(); ++c)
        if (p.integer[c]) s.values[c] = std::round(s.values[c]);
    s.objective = objective(p, s.values);
    s.bound = finished ? s.objective : model.getBestPossibleObjValue() + p.constant;
    return s;
}

// Solutions must cost less than this to be of interest.
double cutoffOf(double best, double gap) { return best - std::max(1e-9, gap * std::abs(best)); }

Solution branch(const Problem& p, const Solution& relaxation, const Limits& limits, const Watch& watch)
{
    Problem fixed = p;
    if (limits.cutoff < 1e100) fixed = fixByReducedCost(p, relaxation, limits.cutoff - relaxation.bound);
    const Compacted small = compact(fixed);
    if (small.infeasible) {
        Solution s = ended(Outcome::Infeasible);
        s.bound = limits.cutoff;
        return s;
    }
    OsiClpSolverInterface solver;
    Solution s = relax(solver, small.problem, watch);
    if (s.outcome == Outcome::Optimal && !integral(small.problem, s.values))
        s = search(solver, small.problem, limits, watch, limits.cutoff);
    if (hasSolution(s)) s.values = expand(small, s.values);
    s.reducedCosts.clear();
    s.bound = std::max(s.bound, relaxation.bound);
    return s;
}

// A solution that is not cheaper than the cutoff is none.
Solution cheaperThan(double cutoff, Solution s)
{
    if (!hasSolution(s) || cutoff > 1e100 || s.objective < cutoff - 1e-9 * std::max(1.0, std::abs(cutoff))) return s;
    Solution none = ended(s.outcome == Outcome::Optimal ? Outcome::Infeasible : Outcome::Unknown);
    none.bound = s.outcome == Outcome::Optimal ? cutoff : std::min(s.bound, cutoff);
    return none;
}

Solution integerSolution(const Problem& original, const Limits& limits)
{
    const Watch watch(limits);
    const Compacted small = compact(original);
    if (small.infeasible) return ended(Outcome::Infeasible);
    OsiClpSolverInterface solver;
    Solution s = relax(solver, small.problem, watch);
    if (s.outcome == Outcome::Optimal && limits.onBound) limits.onBound(std::min(s.bound, limits.cutoff));
    if (s.outcome == Outcome::Optimal && s.bound >= limits.cutoff) s = ended(Outcome::Infeasible);
    else if (s.outcome == Outcome::Optimal && !integral(small.problem, s.values))
        s = branch(small.problem, s, limits, watch);
    s = cheaperThan(limits.cutoff, std::move(s));
    if (hasSolution(s)) s.values = expand(small, s.values);
    s.reducedCosts.clear();
    return s;
}

template <class Function>
base::Result<Solution> guarded(const Function& function)
{
    try {
        return function();
    } catch (const CoinError& error) {
        return base::fail(base::ErrorCode::Internal, "the solver failed: " + error.message());
    } catch (const std::exception& error) {
        return base::fail(base::ErrorCode::Internal, std::string("the solver failed: ") + error.what());
    }
}

}  // namespace

bool available() { return true; }
const char* solverName() { return "CBC " CBC_VERSION; }

base::Result<Solution> solveRelaxation(const Problem& problem, const Limits& limits)
{
    return guarded([&] {
        const Watch watch(limits);
        const Compacted small = compact(problem);
        if (small.infeasible) return ended(Outcome::Infeasible);
        OsiClpSolverInterface solver;
        Solution s = relax(solver, small.problem, watch);
        if (!hasSolution(s)) return s;
        s.values = expand(small, s.values);
        std::vector<double> reduced(problem.cost.size(), 0);
        for (std::size_t i = 0; i < small.kept.size(); ++i) reduced[small.kept[i]] = s.reducedCosts[i];
        s.reducedCosts = std::move(reduced);
        return s;
    });
}

base::Result<Solution> solveInteger(const Problem& problem, const std::vector<double>& start, const Limits& limits)
{
    const bool usable = !start.empty() && feasible(problem, start);
    const double best = usable ? objective(problem, start) : infinity;
    Limits tightened = limits;
    if (usable) tightened.cutoff = std::min(limits.cutoff, cutoffOf(best, limits.relativeGap));
    base::Result<Solution> found = guarded([&] { return integerSolution(problem, tightened); });
    if (!found || !usable || best >= limits.cutoff || hasSolution(*found)) return found;
    // Nothing cheaper than the start: it is optimal, or the best so far.
    const bool proven = found->outcome == Outcome::Infeasible;
    found->values = start;
    found->objective = best;
    found->bound = proven ? best : std::min(found->bound, best);
    found->outcome = proven ? Outcome::Optimal : Outcome::Feasible;
    return found;
}

}  // namespace hopscope::solver
