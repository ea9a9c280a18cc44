// The only code that uses HiGHS: by its C interface, since the library may have been compiled with another std::string. It
// keeps the promises of the interface: nothing is printed, exceptions become errors, and a solve returns soon after its
// deadline or a stop. HiGHS looks for an interrupt between the steps of a search, which take up to seconds in large
// programs: a search that does not end soon is left behind.
#include <interfaces/highs_c_api.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <string>

#include "solver/aside.h"
#include "solver/compact.h"

namespace hopscope::solver {

namespace {

using Clock = std::chrono::steady_clock;

struct Watch {
    explicit Watch(const Limits& limits)
        : stop(limits.stop),
          bounded(limits.seconds < 1e9),
          iterations(limits.iterations),
          allowed(iterations ? *iterations : std::numeric_limits<std::int64_t>::max())
    {
        if (bounded)
            end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(std::max(0.0, limits.seconds)));
    }
    [[nodiscard]] bool over(std::int64_t iterated = 0) const
    {
        return iterated >= allowed || stop.stop_requested() || (bounded && Clock::now() >= end);
    }
    void spend(std::int64_t iterated)
    {
        allowed -= iterated;
        if (iterations) *iterations = allowed;
    }
    [[nodiscard]] double left() const
    {
        return bounded ? std::max(0.0, std::chrono::duration<double>(end - Clock::now()).count()) : infinity;
    }
    std::stop_token stop;
    bool bounded;
    Clock::time_point end = Clock::time_point::max();
    std::shared_ptr<std::int64_t> iterations;
    std::int64_t allowed;  // iterations
};

enum class Columns : std::uint8_t { Continuous, AsGiven };

// One program in HiGHS: a relaxation, or a search for integers.
class Model final : public Task {
public:
    Model(const Problem& p, const Watch& watch, Columns columns) : m_watch(watch)
    {
        option("output_flag", false);
        option("threads", 1);
        option("presolve", "off");  // compact() has done what pays off on these programs
        option("time_limit", watch.left());
        std::vector<HighsInt> kinds(p.cost.size(), kHighsVarTypeContinuous);
        if (columns == Columns::AsGiven)
            std::ranges::transform(p.integer, kinds.begin(), [](std::uint8_t integer) {
                return integer != 0 ? kHighsVarTypeInteger : kHighsVarTypeContinuous;
            });
        Highs_passMip(m_highs, p.columns(), p.rows(), static_cast<HighsInt>(p.termColumn.size()),
                      kHighsMatrixFormatRowwise, kHighsObjSenseMinimize, p.constant, p.cost.data(), p.lower.data(),
                      p.upper.data(), p.rowLower.data(), p.rowUpper.data(), p.rowStart.data(), p.termColumn.data(),
                      p.termValue.data(), kinds.data());
        Highs_setCallback(m_highs, called, this);
        for (const int kind : callbacks) Highs_startCallback(m_highs, kind);
    }
    ~Model() override { Highs_destroy(m_highs); }
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    void option(const char* name, bool value) { Highs_setBoolOptionValue(m_highs, name, value ? 1 : 0); }
    void option(const char* name, int value) { Highs_setIntOptionValue(m_highs, name, value); }
    void option(const char* name, double value) { Highs_setDoubleOptionValue(m_highs, name, value); }
    void option(const char* name, const char* value) { Highs_setStringOptionValue(m_highs, name, value); }

    void run() override { Highs_run(m_highs); }

    // These two may be asked while it runs.
    [[nodiscard]] std::int64_t iterations() const { return m_counted; }
    [[nodiscard]] Solution bestSoFar() const
    {
        const std::lock_guard lock(m_mutex);
        return m_best;
    }

    // These only once it has ended. The status is one of kHighsModelStatus...
    [[nodiscard]] HighsInt status() const { return Highs_getModelStatus(m_highs); }
    [[nodiscard]] bool hasSolution() const
    {
        HighsInt status = 0;
        Highs_getIntInfoValue(m_highs, "primal_solution_status", &status);
        return status == kHighsSolutionStatusFeasible;
    }
    [[nodiscard]] double objective() const { return Highs_getObjectiveValue(m_highs); }
    [[nodiscard]] double bound() const
    {
        double bound = -infinity;
        Highs_getDoubleInfoValue(m_highs, "mip_dual_bound", &bound);
        return bound;
    }
    void copyTo(Solution& s) const
    {
        s.values.resize(static_cast<std::size_t>(Highs_getNumCol(m_highs)));
        s.reducedCosts.resize(s.values.size());
        Highs_getSolution(m_highs, s.values.data(), s.reducedCosts.data(), nullptr, nullptr);
    }

private:
    static constexpr std::array callbacks{kHighsCallbackSimplexInterrupt, kHighsCallbackMipInterrupt,
                                          kHighsCallbackMipImprovingSolution};

    static void called(int kind, const char*, const HighsCallbackDataOut* out, HighsCallbackDataIn* in, void* model)
    {
        Model& self = *static_cast<Model*>(model);
        if (kind == kHighsCallbackMipImprovingSolution) return self.improved(*out);
        if (kind == kHighsCallbackMipInterrupt) self.bounded(out->mip_dual_bound);
        self.m_counted =
            kind == kHighsCallbackMipInterrupt ? out->mip_total_lp_iterations : out->simplex_iteration_count;
        in->user_interrupt = self.interrupted() || self.m_watch.over(self.m_counted) ? 1 : 0;
    }
    void improved(const HighsCallbackDataOut& out)
    {
        const std::lock_guard lock(m_mutex);
        m_best.outcome = Outcome::Feasible;
        m_best.values.assign(out.mip_solution, out.mip_solution + out.mip_solution_size);
    }
    void bounded(double bound)
    {
        const std::lock_guard lock(m_mutex);
        m_best.bound = bound;
    }

    const Watch m_watch;
    std::atomic<std::int64_t> m_counted = 0;
    mutable std::mutex m_mutex;
    Solution m_best;
    void* m_highs = Highs_create();
};

// Smaller programs look for an interrupt often enough, and would spend much of their time on changing threads.
bool looksOften(const Problem& p) { return p.termColumn.size() < 4000; }

// True: the model has ended by itself, or been made to.
bool finished(const std::shared_ptr<Model>& model, const Problem& p, Watch& watch)
{
    bool ended = true;
    if (looksOften(p)) model->run();
    else ended = runAside(model, watch.stop, watch.end);
    watch.spend(model->iterations());
    return ended;
}

Solution ended(Outcome outcome)
{
    Solution s;
    s.outcome = outcome;
    if (outcome == Outcome::Infeasible) s.bound = infinity;
    return s;
}

Solution relax(const Problem& p, Watch& watch)
{
    if (p.columns() == 0) {  // rows without columns do not outlive compact()
        Solution s = ended(Outcome::Optimal);
        s.objective = s.bound = p.constant;
        return s;
    }
    if (watch.over()) return ended(Outcome::Unknown);
    const auto model = std::make_shared<Model>(p, watch, Columns::Continuous);
    if (!finished(model, p, watch)) return ended(Outcome::Unknown);
    const HighsInt status = model->status();
    if (status == kHighsModelStatusInfeasible) return ended(Outcome::Infeasible);
    if (status == kHighsModelStatusUnbounded) return ended(Outcome::Unbounded);
    if (status != kHighsModelStatusOptimal) return ended(Outcome::Unknown);
    Solution s = ended(Outcome::Optimal);
    model->copyTo(s);
    s.objective = s.bound = model->objective();
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

Solution rounded(const Problem& p, Solution s)
{
    for (int c = 0; c < p.columns(); ++c)
        if (p.integer[c]) s.values[c] = std::round(s.values[c]);
    s.objective = objective(p, s.values);
    return s;
}

std::shared_ptr<Model> searchFor(const Problem& p, const Limits& limits, const Watch& watch)
{
    auto model = std::make_shared<Model>(p, watch, Columns::AsGiven);
    model->option("mip_rel_gap", limits.relativeGap);
    model->option("objective_bound", limits.cutoff);
    model->option("mip_heuristic_run_feasibility_jump",
                  false);  // a third of the time of small programs, and finds nothing here
    return model;
}

// Branches and cuts; the values are those of p's columns.
Solution search(const Problem& p, const Limits& limits, Watch& watch)
{
    const auto model = searchFor(p, limits, watch);
    if (!finished(model, p, watch)) {
        Solution s = model->bestSoFar();
        return hasSolution(s) ? rounded(p, std::move(s)) : s;
    }
    const HighsInt status = model->status();
    const bool proven = status == kHighsModelStatusOptimal || status == kHighsModelStatusInfeasible;
    if (!model->hasSolution()) {
        Solution s = ended(proven ? Outcome::Infeasible : Outcome::Unknown);
        s.bound = proven ? limits.cutoff : model->bound();
        return s;
    }
    Solution s = ended(proven ? Outcome::Optimal : Outcome::Feasible);
    model->copyTo(s);
    s = rounded(p, std::move(s));
    s.bound = proven ? s.objective : model->bound();
    return s;
}

// Solutions must cost less than this to be of interest.
double cutoffOf(double best, double gap) { return best - std::max(1e-9, gap * std::abs(best)); }

Solution branch(const Problem& p, const Solution& relaxation, const Limits& limits, Watch& watch)
{
    Problem fixed = p;
    if (limits.cutoff < 1e100) fixed = fixByReducedCost(p, relaxation, limits.cutoff - relaxation.bound);
    const Compacted small = compact(fixed);
    if (small.infeasible) {
        Solution s = ended(Outcome::Infeasible);
        s.bound = limits.cutoff;
        return s;
    }
    Solution s = relax(small.problem, watch);
    if (s.outcome == Outcome::Optimal && !integral(small.problem, s.values)) s = search(small.problem, limits, watch);
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
    Watch watch(limits);
    const Compacted small = compact(original);
    if (small.infeasible) return ended(Outcome::Infeasible);
    Solution s = relax(small.problem, watch);
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
    } catch (const std::exception& error) {
        return base::fail(base::ErrorCode::Internal, std::string("the solver failed: ") + error.what());
    }
}

}  // namespace

bool available() { return true; }

const char* solverName()
{
    static const std::string name = std::string("HiGHS ") + Highs_version();
    return name.c_str();
}

base::Result<Solution> solveRelaxation(const Problem& problem, const Limits& limits)
{
    return guarded([&] {
        Watch watch(limits);
        const Compacted small = compact(problem);
        if (small.infeasible) return ended(Outcome::Infeasible);
        Solution s = relax(small.problem, watch);
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
