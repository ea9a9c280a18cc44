#include "pipeline/planning/planner.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "analysis/stored.h"
#include "base/rules.h"
#include "base/units.h"
#include "executor/executor.h"
#include "pipeline/machine/machine.h"
#include "pipeline/planning/memory_fit.h"
#include "placement/account.h"
#include "placement/pins.h"
#include "schema/inspect.h"

namespace hopscope::pipeline {

namespace {

using Clock = std::chrono::steady_clock;
using base::Objective;
using base::Strategy;

constexpr int mostRounds = 4;
constexpr double deadlineSeconds = 10;
// Plans whose times differ by at most `nearlyAsFast` are compared by the bytes that they move, if these differ more.
constexpr double nearlyAsFast = 0.02;
constexpr double fewerBytes = 0.01;
constexpr std::size_t fewOperators = 500;  // with more, the search is slow, and calls cost little compared with bytes

struct Candidate {
    plan::Plan plan;   // with its cost
    double worth = 0;  // the quantity that plans are compared by: exact bytes, or seconds
    double moved = 0;  // bytes, where the objective is time
    std::shared_ptr<const Basis> basis = nullptr;
    plan::RowCounts rows{};            // of its batches
    placement::Residency residency{};  // the tables that stay on a GPU
    bool everythingStays = true;       // or nothing would cost less if it did
};

// The time in which tables are copied that stay on a GPU from this stage on.
double loadingSeconds(const forecast::PredictedStage& stage, const plan::Machine& machine)
{
    return static_cast<double>(stage.loaded.h2d + stage.loaded.structure) / machine.read;
}

class Planner {
public:
    explicit Planner(const Planning& planning)
        : m_prepared(planning.prepared),
          m_predictor(planning.predictor),
          m_request(planning.request),
          m_machine(machineFor(planning.request.device)),
          m_stop(planning.stop),
          m_began(Clock::now())
    {}

    base::Result<PlanAnswer> rule(Strategy strategy)
    {
        base::Result<plan::Plan> plan = ruledWithinHost(strategy);
        if (!plan) return base::forward(plan);
        if (!m_prepared.hasData()) return PlanAnswer{std::move(*plan), {}};
        base::Result<Candidate> candidate = priced(std::move(*plan));
        if (!candidate) return base::forward(candidate);
        return PlanAnswer{std::move(candidate->plan), {}};
    }

    base::Result<PlanAnswer> best(Strategy strategy)
    {
        const base::Result<Candidate> optimum = optimised(strategy, {.everything = residency()});
        if (!optimum && optimum.error().code != base::ErrorCode::Unsupported) return base::forward(optimum);
        std::vector<Candidate> candidates;
        if (optimum) candidates.push_back(*optimum);
        else m_notes.push_back("using the better rule instead of the optimum: " + base::describe(optimum.error()));
        if (optimum)
            if (std::optional<Candidate> lean = leaner(strategy, *optimum)) candidates.push_back(std::move(*lean));
        if (optimum && !optimum->everythingStays) addPlansFor(strategy, optimum->residency, candidates);
        for (const Strategy other : base::rules) {
            base::Result<plan::Plan> plan = ruledWithinHost(other);
            if (!plan || tooManyStages(*plan)) continue;
            base::Result<Candidate> candidate = priced(std::move(*plan));
            if (!candidate) return base::forward(candidate);
            candidates.push_back(std::move(*candidate));
        }
        if (candidates.empty()) return base::forward(optimum);
        if (const base::Status compared = compareTiles(candidates); !compared) return base::forward(compared);
        Candidate& best = chosen(candidates);
        if (optimum && &best != &candidates.front()) takeBound(best.plan, candidates.front().plan);
        std::shared_ptr<const Basis> basis = best.basis == nullptr && optimum ? optimum->basis : best.basis;
        return PlanAnswer{.plan = std::move(best.plan), .notes = std::move(m_notes), .basis = std::move(basis)};
    }

    base::Result<PlanAnswer> near(Strategy strategy, const Basis& before)
    {
        base::Result<placement::Optimum> optimum =
            placement::optimise(m_prepared.analysis, before.costs, m_request.pins, options(strategy), &before.optimum);
        if (!optimum) return base::forward(optimum);
        if (before.costs.leans())
            optimum->plan.cost =
                sum(placement::stageCosts(m_prepared.analysis, before.costs.leaning(0), optimum->plan));
        fit(optimum->plan);
        PlanAnswer answer{optimum->plan, {}};
        answer.basis = std::make_shared<Basis>(Basis{before.costs, std::move(*optimum)});
        return answer;
    }

    base::Result<PlanAnswer> given(plan::Plan plan)
    {
        fit(plan);
        if (const base::Status fits = checkHostMemory(plan, m_request.hostMemory); !fits) return base::forward(fits);
        if (tooManyStages(plan)) return base::fail(base::ErrorCode::Unsupported, "the plan has too many stages");
        plan.strategy = Strategy::LocalSearch;
        plan.objective = m_request.objective;
        plan.cost.reset();
        plan.lowerBound.reset();
        plan.gap.reset();
        base::Result<Candidate> candidate = priced(std::move(plan));
        if (!candidate) return base::forward(candidate);
        return PlanAnswer{std::move(candidate->plan), {}};
    }

private:
    static double sum(const std::vector<double>& numbers)
    {
        return std::accumulate(numbers.begin(), numbers.end(), 0.0);
    }

    [[nodiscard]] bool tooManyStages(const plan::Plan& plan) const
    {
        return m_request.stages && plan.stages.size() > static_cast<std::size_t>(*m_request.stages);
    }

    // Half of the time that is left: there may be another round.
    [[nodiscard]] placement::OptimiseOptions options(Strategy strategy) const
    {
        const std::chrono::duration<double> used = Clock::now() - m_began;
        placement::OptimiseOptions options;
        options.hostMemory = m_request.hostMemory;
        options.localSearch = strategy == Strategy::LocalSearch;
        options.deadlineSeconds = (m_request.deadline.value_or(deadlineSeconds) - used.count()) / 2;
        options.stages = m_request.stages;
        options.stop = m_stop;
        return options;
    }

    base::Result<plan::Plan> ruled(Strategy strategy) const
    {
        base::Result<plan::Plan> plan = placement::makePlan(m_prepared.analysis, strategy, m_request.pins);
        if (!plan) return plan;
        plan->objective = m_request.objective;
        fit(*plan);
        return plan;
    }

    base::Result<plan::Plan> ruledWithinHost(Strategy strategy) const
    {
        base::Result<plan::Plan> plan = ruled(strategy);
        if (!plan) return plan;
        if (const base::Status fits = checkHostMemory(*plan, m_request.hostMemory); !fits) return base::forward(fits);
        return plan;
    }

    void fit(plan::Plan& plan) const
    {
        plan.device = m_request.device;
        plan.batch = m_request.limits.batch;
        plan.hashes = m_prepared.hashes;
        schema::fillBytes(plan, m_prepared.analysis, m_prepared.sizes);
        for (plan::Checkpoint& c : plan.checkpoints)
            if (c.bytesWritten)
                c.bytesWritten =
                    analysis::storedBytes(m_prepared.analysis, c.value, m_request.limits.store, *c.bytesWritten);
    }

    // Whether tables that stay on the device count in prices: for seconds on a GPU.
    [[nodiscard]] bool residency() const
    {
        return m_request.device != "cpu" && m_request.objective == Objective::Time && m_prepared.hasData();
    }

    base::Result<plan::RowCounts> countRows(const plan::Plan& plan)
    {
        const Clock::time_point began = Clock::now();
        base::Result<plan::RowCounts> rows = m_predictor.countRows(plan, m_request.limits, m_stop);
        m_began += Clock::now() - began;  // the search has its time, however long it takes to look at the graph
        return rows;
    }

    placement::CostModel costs(plan::RowCounts rows, Objective objective) const
    {
        return {m_prepared.analysis, objective, m_machine, std::move(rows), m_request.limits.store};
    }

    base::Result<Candidate> priced(plan::Plan plan)
    {
        if (residency()) return pricedOnGpu(std::move(plan));
        base::Result<plan::RowCounts> rows = countRows(plan);
        if (!rows) return base::forward(rows);
        const double cost = sum(placement::stageCosts(m_prepared.analysis, costs(*rows, m_request.objective), plan));
        Candidate candidate{.plan = std::move(plan), .worth = cost, .rows = std::move(*rows)};
        if (!candidate.plan.cost) candidate.plan.cost = candidate.worth;
        if (m_request.objective == Objective::Time) {
            const placement::CostModel bytes = costs(candidate.rows, Objective::Bytes);
            candidate.moved = sum(placement::stageCosts(m_prepared.analysis, bytes, candidate.plan));
            return candidate;
        }
        const auto prediction = m_predictor.predictTraffic(candidate.plan, m_request.limits, m_stop);
        if (!prediction) return base::forward(prediction);
        candidate.worth = 0;
        for (const forecast::PredictedStage& s : prediction->stages)
            candidate.worth += static_cast<double>(s.bytes.d2h + s.bytes.h2d + s.bytes.structure);
        return candidate;
    }

    // The plan with the tables that it keeps on the device; none if that cannot be forecast.
    base::Result<plan::Plan> keeping(const plan::Plan& plan)
    {
        if (!residency()) return plan;
        const Clock::time_point began = Clock::now();
        base::Result<plan::Plan> kept = m_predictor.keepOnDevice(plan, m_request.limits, m_stop);
        m_began += Clock::now() - began;
        return !kept && survives(kept.error()) ? plan : kept;
    }

    // With the tables that the plan keeps on the device, and the seconds in which they are copied there.
    base::Result<Candidate> pricedOnGpu(plan::Plan plan)
    {
        const base::Result<plan::Plan> kept = keeping(plan);
        if (!kept) return base::forward(kept);
        const Clock::time_point began = Clock::now();
        const auto traffic = m_predictor.predictTraffic(*kept, m_request.limits, m_stop);
        if (!traffic && !survives(traffic.error())) return base::forward(traffic);
        m_began += Clock::now() - began;
        base::Result<plan::RowCounts> rows = countRows(*kept);
        if (!rows) return base::forward(rows);
        const auto costOf = [&](Objective objective, placement::Residency here) {
            const placement::CostModel model = costs(*rows, objective).with(std::move(here));
            return sum(placement::stageCosts(m_prepared.analysis, model, plan));
        };
        const placement::Residency here = placement::residencyOf(*kept);
        const double cost = costOf(Objective::Time, here), moved = costOf(Objective::Bytes, here);
        Candidate candidate{.plan = plan, .worth = cost, .moved = moved, .rows = *rows, .residency = here};
        candidate.everythingStays = cost <= costOf(Objective::Time, {.everything = true});
        if (traffic)
            for (const forecast::PredictedStage& stage : traffic->stages)
                candidate.worth += loadingSeconds(stage, m_machine);
        settleCost(candidate.plan, cost);
        return candidate;
    }

    // Whether a plan that cannot be forecast may still run, with nothing kept on the device.
    static bool survives(const base::Error& error)
    {
        return error.code != base::ErrorCode::Cancelled && !executor::deviceLost();
    }

    // The bound of an optimum for the prices of a device that keeps everything holds for any device.
    static void settleCost(plan::Plan& plan, double cost)
    {
        plan.cost = cost;
        if (!plan.lowerBound) return;
        plan.lowerBound = std::min(*plan.lowerBound, cost);
        plan.gap = cost > 0 ? 1 - *plan.lowerBound / cost : 0;
    }

    // The optima for a device that keeps the tables of the first one, and for one that keeps none.
    void addPlansFor(Strategy strategy, const placement::Residency& kept, std::vector<Candidate>& candidates)
    {
        for (const placement::Residency& assumed : {kept, placement::Residency{}}) {
            base::Result<Candidate> other = optimised(strategy, assumed);
            if (other) candidates.push_back(std::move(*other));
        }
    }

    // Row counts are those of a plan; its optimum has others, and so on. `assumed` stays on the device.
    base::Result<Candidate> optimised(Strategy strategy, const placement::Residency& assumed)
    {
        base::Result<plan::Plan> plan = placement::makePlan(m_prepared.analysis, Strategy::Depth);
        if (plan) fit(*plan);
        const base::Result<plan::Plan> first = plan ? keeping(*plan) : plan;
        base::Result<plan::RowCounts> rows = first ? countRows(*first) : base::forward(first);
        if (plan && !rows) return base::forward(rows);
        std::optional<Candidate> best;
        for (int round = 0; plan && round < mostRounds; ++round) {
            const placement::CostModel model = costs(*rows, m_request.objective).with(assumed);
            if (best && options(strategy).deadlineSeconds <= 0) break;
            base::Result<placement::Optimum> optimum =
                placement::optimise(m_prepared.analysis, model, m_request.pins, options(strategy));
            if (!optimum && best && optimum.error().code == base::ErrorCode::Resources) break;
            if (!optimum) return base::forward(optimum);
            fit(optimum->plan);
            const bool settled = optimum->plan.stages == plan->stages;
            *plan = optimum->plan;
            base::Result<Candidate> candidate = priced(*plan);
            if (!candidate) return base::forward(candidate);
            candidate->basis = std::make_shared<Basis>(Basis{model, std::move(*optimum)});
            *rows = candidate->rows;
            if (!best || candidate->worth <= best->worth) best = std::move(*candidate);
            if (settled) break;
        }
        if (!best) return base::forward(plan);
        return std::move(*best);
    }

    // The optimum where each byte costs a little more: so much that a plan which takes longer by nearlyAsFast and moves
    // nothing would cost the same. None where the search is not quick, or finds the same plan.
    std::optional<Candidate> leaner(Strategy strategy, const Candidate& optimum)
    {
        const bool quick = m_prepared.analysis.program.ops.size() <= fewOperators && optimum.plan.gap == 0;
        const bool wanted = m_request.objective == Objective::Time && optimum.basis != nullptr && optimum.moved > 0;
        if (!wanted || !quick || options(strategy).deadlineSeconds <= 0) return std::nullopt;
        const placement::CostModel costs = optimum.basis->costs.leaning(nearlyAsFast * optimum.worth / optimum.moved);
        base::Result<placement::Optimum> lean =
            placement::optimise(m_prepared.analysis, costs, m_request.pins, options(strategy));
        if (!lean || lean->plan.stages == optimum.plan.stages) return std::nullopt;
        fit(lean->plan);
        plan::Plan plan = lean->plan;
        plan.cost.reset();
        base::Result<Candidate> candidate = priced(std::move(plan));
        if (!candidate) return std::nullopt;
        candidate->basis = std::make_shared<Basis>(Basis{costs, std::move(*lean)});
        return std::move(*candidate);
    }

    // The costs do not tell how much slower all of a loop's work is in batches that exceed the caches of a CPU. Where
    // plans differ in the number of their loops in tiles, they are compared by the times of the compiled loops.
    base::Status compareTiles(std::vector<Candidate>& candidates)
    {
        const auto differs = [&](const Candidate& c) {
            return c.rows.tiledLoops != candidates.front().rows.tiledLoops;
        };
        if (m_request.objective != Objective::Time || std::ranges::none_of(candidates, differs)) return {};
        for (Candidate& c : candidates) {
            const auto seconds = m_predictor.seconds(c.plan, m_request.limits, m_machine, m_stop);
            if (!seconds) return base::forward(seconds);
            c.worth = *seconds;
        }
        return {};
    }

    // Among the cheapest candidates, the one that moves the fewest bytes; the first of equals.
    static Candidate& chosen(std::vector<Candidate>& candidates)
    {
        const auto cheapest = std::ranges::min_element(candidates, {}, &Candidate::worth);
        auto best = cheapest;
        for (auto it = candidates.begin(); it != candidates.end(); ++it) {
            const bool near = it->moved > 0 && it->worth <= cheapest->worth * (1 + nearlyAsFast);
            if (near && it->moved < best->moved * (1 - fewerBytes)) best = it;
        }
        return *best;
    }

    // Sets the bound of a plan that replaces the optimum: the optimum's bound still holds.
    static void takeBound(plan::Plan& plan, const plan::Plan& optimum)
    {
        if (!optimum.lowerBound) return;
        plan.strategy = optimum.strategy;
        plan.lowerBound = std::min(*optimum.lowerBound, *plan.cost);
        plan.gap = *plan.cost > 0 ? 1 - *plan.lowerBound / *plan.cost : 0;
    }

    const Prepared& m_prepared;
    forecast::Predictor& m_predictor;
    const PlanRequest& m_request;
    plan::Machine m_machine;
    std::stop_token m_stop;
    Clock::time_point m_began;
    std::vector<std::string> m_notes;
};

}  // namespace

base::Status checkHostMemory(const plan::Plan& plan, std::optional<std::int64_t> limit)
{
    const std::int64_t peak = placement::hostPeak(plan);
    if (!limit || peak <= *limit) return {};
    return base::fail(base::ErrorCode::Unsupported,
                      "the plan stores up to " + base::formatBytes(static_cast<double>(peak)) +
                          " at a time, which exceeds the host memory limit of " +
                          base::formatBytes(static_cast<double>(*limit)),
                      "raise --host-memory, or use --strategy optimal to find a plan that fits");
}

base::Result<PlanAnswer> searchPlan(const Planning& planning)
{
    const Strategy strategy = planning.request.strategy;
    Planner planner(planning);
    if (!planning.prepared.hasData()) return planner.rule(base::isRule(strategy) ? strategy : Strategy::Depth);
    if (planning.progress) planning.progress({"optimising the plan", 0, 0});
    return base::isRule(strategy) ? planner.rule(strategy) : planner.best(strategy);
}

base::Result<PlanAnswer> pricedPlan(const Planning& planning, plan::Plan plan)
{
    return Planner(planning).given(std::move(plan));
}

base::Result<PlanAnswer> planFor(const Prepared& prepared, forecast::Predictor& predictor, const PlanRequest& request,
                                 const base::ProgressFn& progress, std::stop_token stop)
{
    if (prepared.analysis.refusal) return tl::unexpected<base::Error>(*prepared.analysis.refusal);
    const Planning planning{prepared, predictor, request, progress, std::move(stop)};
    base::Result<PlanAnswer> answer = searchPlan(planning);
    if (!answer || !prepared.hasData()) return answer;
    if (!base::isRule(request.strategy)) answer = fitMemory(planning, std::move(*answer));
    if (!answer) return answer;
    base::Result<plan::Plan> kept = predictor.keepOnDevice(answer->plan, request.limits, planning.stop);
    if (kept) answer->plan = std::move(*kept);
    else if (kept.error().code == base::ErrorCode::Cancelled || executor::deviceLost()) return base::forward(kept);
    return answer;  // a plan that cannot be forecast keeps nothing on the device
}

base::Result<PlanAnswer> planNear(const Prepared& prepared, forecast::Predictor& predictor, const PlanRequest& request,
                                  const Basis& before, std::stop_token stop)
{
    return Planner({prepared, predictor, request, {}, std::move(stop)}).near(request.strategy, before);
}

namespace {

// The cost model's time of each operator of a stage, scaled so that they add up to `seconds`.
std::map<ir::OpId, double> operatorSeconds(const analysis::Analysis& analysis, const placement::CostModel& costs,
                                           const plan::Stage& stage, double seconds)
{
    plan::Plan alone;
    alone.stages.push_back(stage);
    const placement::Account account = placement::accountOf(analysis, costs, alone);
    const double all = account.total();
    std::map<ir::OpId, double> found;
    for (const auto& [value, of] : account.values)
        if (const ir::OpId op = analysis.program.value(value).producer; op.valid() && !of.stages.empty() && all > 0)
            found[op] += (of.compute + of.write) / all * seconds;
    return found;
}

// The times of operators by the cost model. On a GPU, where nothing else is known, it also gives the times of stages, which
// several GPUs share.
base::Status priceStages(const Prepared& prepared, forecast::Predictor& predictor, const plan::Plan& plan,
                         const forecast::PredictOptions& limits, forecast::Forecast& forecast, std::stop_token stop)
{
    base::Result<plan::RowCounts> rows = predictor.countRows(plan, limits, std::move(stop));
    if (!rows) return base::forward(rows);
    const plan::Machine machine = machineFor(plan.device);
    const auto model = placement::CostModel(prepared.analysis, Objective::Time, machine, std::move(*rows))
                           .with(placement::residencyOf(plan));
    const bool known = plan.device == "cpu";
    const auto devices = static_cast<double>(executor::devicesOf(plan.device).size());
    const auto costs = known ? std::vector<double>() : placement::stageCosts(prepared.analysis, model, plan);
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
        forecast::StageTime& time = forecast.times.at(s);
        if (!known) time.seconds = (costs[s] + loadingSeconds(forecast.prediction.stages.at(s), machine)) / devices;
        time.boundSeconds /= devices;
        time.operators = operatorSeconds(prepared.analysis, model, plan.stages[s], time.seconds);
    }
    return {};
}

}  // namespace

base::Result<forecast::Forecast> forecastOf(const Prepared& prepared, forecast::Predictor& predictor,
                                            const plan::Plan& plan, const forecast::PredictOptions& limits,
                                            std::stop_token stop)
{
    auto forecast = predictor.forecast(plan, limits, machineFor(plan.device), stop);
    if (!forecast) return forecast;
    if (const base::Status ok = priceStages(prepared, predictor, plan, limits, *forecast, std::move(stop)); !ok)
        return base::forward(ok);
    return forecast;
}

}  // namespace hopscope::pipeline
