#include "pipeline/planning/memory_fit.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/units.h"
#include "executor/memory.h"
#include "pipeline/planning/prediction.h"
#include "placement/pins.h"

namespace hopscope::pipeline {

namespace {

// Larger values of the prologue lie in files; where there are many of them, the rest of the graph does so as well.
constexpr std::int64_t plentyForPrologue = 64 << 20;

// The bytes that the limit leaves for tensors.
std::int64_t allowedBy(std::int64_t limit, const std::string& device)
{
    return device == "cpu" ? executor::tensorLimit(limit) : limit;
}

// Processes hold other memory as well, and the largest batch is not known exactly: a twentieth and a few small tensors.
std::int64_t withMargin(std::int64_t bytes) { return bytes / 20 * 21 + 1536; }

// Adds the memory of the operators in batches of one destination to that of the program's tensors: on a CPU a dry run measures it.
base::Result<forecast::LeastMemory> withOperators(base::Result<forecast::LeastMemory> least, const plan::Plan& plan,
                                                  forecast::Predictor& predictor, forecast::PredictOptions limits,
                                                  const std::stop_token& stop)
{
    if (!least || plan.device != "cpu") return least;
    limits.batch = 1;
    const base::Result<forecast::Prediction> smallest = predictor.predict(plan, limits, stop);
    if (!smallest) return base::forward(smallest);
    for (const forecast::PredictedStage& stage : smallest->stages)
        if (!stage.estimated && stage.peakMemory > least->bytes)
            least->stage = stage.index, least->bytes = stage.peakMemory;
    return least;
}

std::int64_t enoughFor(const forecast::LeastMemory& need) { return withMargin(std::max(need.bytes, need.prologue)); }

// The amount as text, in bytes where rounding would make it look equal to the other amount.
std::string besides(std::int64_t bytes, std::int64_t other)
{
    const std::string text = base::formatBytes(static_cast<double>(bytes));
    if (text != base::formatBytes(static_cast<double>(other))) return text;
    return std::to_string(bytes) + " B";
}

// The beginning of a sentence.
std::string holding(const forecast::LeastMemory& need, std::int64_t limit)
{
    const std::string bytes = "holds up to " + besides(enoughFor(need), limit);
    if (need.bytes < need.prologue) return "the computation before the first stage " + bytes;
    return "stage " + std::to_string(need.stage.number) + " " + bytes + " for a single destination node";
}

std::string limitText(std::int64_t limit, std::int64_t allowed, std::int64_t enough)
{
    const std::string text = besides(limit, enough);
    if (allowed == limit) return text;
    return text + ", which leaves " + base::formatBytes(static_cast<double>(allowed)) + " for tensors";
}

// A plan, and the search for the least limit that it fits into.
class Checking {
public:
    Checking(const plan::Plan& plan, forecast::Predictor& predictor, forecast::PredictOptions limits,
             std::stop_token stop)
        : m_plan(plan),
          m_predictor(predictor),
          m_limits(std::move(limits)),
          m_stop(std::move(stop))
    {}

    using Need = std::optional<forecast::LeastMemory>;  // that the limit does not leave

    base::Result<Need> unmet(const forecast::Prediction& prediction)
    {
        const std::int64_t allowed = allowedBy(*m_limits.memory, m_plan.device);
        const bool asPlanned = withMargin(peakOf(prediction)) <= allowed;
        if (asPlanned && allowed > plentyForPrologue) return Need();
        const base::Result<forecast::LeastMemory> least = m_predictor.leastMemory(m_plan, m_limits, m_stop);
        if (!least) return base::forward(least);
        if (asPlanned && enoughFor(*least) <= allowed) return Need();  // smaller batches need no look
        const base::Result<forecast::LeastMemory> need = withOperators(least, m_plan, m_predictor, m_limits, m_stop);
        if (!need) return base::forward(need);
        return enoughFor(*need) <= allowed ? Need() : Need(*need);
    }

    // Between a limit that does not suffice for the need and one that does. Stages that run in tiles need less memory
    // than a batch of one destination with many edges, but only a larger limit leaves enough for tiles.
    std::int64_t sufficient(std::int64_t limit, const forecast::LeastMemory& need)
    {
        std::int64_t low = limit, high = limitFor(need);
        for (int step = 0; step < steps; ++step) {
            const std::int64_t middle = low + (high - low) / 2;
            const std::optional<Need> found = unmetWithin(step == 0 ? high : middle);
            if (!found) break;
            if (step == 0) high = *found ? limitFor(**found) : high;
            else (*found ? low : high) = middle;
        }
        return high;
    }

    [[nodiscard]] std::int64_t limitFor(const forecast::LeastMemory& need) const
    {
        return m_plan.device == "cpu" ? executor::processLimit(enoughFor(need)) : enoughFor(need);
    }

private:
    static constexpr int steps = 6;

    // nullopt if it is unknown
    std::optional<Need> unmetWithin(std::int64_t limit)
    {
        m_limits.memory = limit;
        const base::Result<forecast::Prediction> prediction = m_predictor.predict(m_plan, m_limits, m_stop);
        if (!prediction) return std::nullopt;
        base::Result<Need> need = unmet(*prediction);
        return need ? std::optional(std::move(*need)) : std::nullopt;
    }

    const plan::Plan& m_plan;
    forecast::Predictor& m_predictor;
    forecast::PredictOptions m_limits;
    std::stop_token m_stop;
};

enum class Fits : std::uint8_t { AsPlanned, InSmallerBatches, No };

struct Candidate {
    PlanAnswer answer;
    Fits fits = Fits::No;
    double worth = 0;  // seconds of the forecast; a sufficient limit, where it does not fit
    [[nodiscard]] std::pair<Fits, double> rank() const { return {fits, worth}; }
};

class Fitting {
public:
    explicit Fitting(const Planning& planning)
        : m_with(planning),
          m_limits(planning.request.limits),
          m_allowed(allowedBy(*m_limits.memory, planning.request.device))
    {}

    // Whether a run without the limit would stay below it.
    base::Result<bool> keeps(const plan::Plan& plan)
    {
        forecast::PredictOptions limits = m_limits;
        limits.memory.reset();
        const auto prediction = m_with.predictor.predict(plan, limits, m_with.stop);
        if (!prediction) return base::forward(prediction);
        return withMargin(peakOf(*prediction)) <= m_allowed;
    }

    base::Result<PlanAnswer> best(PlanAnswer found)
    {
        base::Result<Candidate> best = ranked(std::move(found));
        if (best) best = better(std::move(*best), fewestBytes());
        if (!best) return base::forward(best);
        if (best->fits != Fits::No) return std::move(best->answer);
        // These do not depend on the limit: one of them is found again within the limit that a refusal names.
        m_naming = true;
        for (const auto make : {&Fitting::unlimited, &Fitting::storingAll})
            if (best) best = better(std::move(*best), (this->*make)());
        if (!best) return base::forward(best);
        return std::move(best->answer);
    }

private:
    // Fails only with Cancelled: otherwise, a plan that cannot be ranked is not better.
    base::Result<Candidate> better(Candidate best, base::Result<PlanAnswer> other)
    {
        base::Result<Candidate> ranking = other ? ranked(std::move(*other)) : base::forward(other);
        if (!ranking && ranking.error().code == base::ErrorCode::Cancelled) return base::forward(ranking);
        return ranking && ranking->rank() < best.rank() ? std::move(*ranking) : std::move(best);
    }

    base::Result<Candidate> ranked(PlanAnswer answer)
    {
        const plan::Plan& plan = answer.plan;
        const auto forecast = forecastOf(m_with.prepared, m_with.predictor, plan, m_limits, m_with.stop);
        if (!forecast) return base::forward(forecast);
        Checking checking(plan, m_with.predictor, m_limits, m_with.stop);
        const auto need = checking.unmet(forecast->prediction);
        if (!need) return base::forward(need);
        if (*need) {
            const double limit = m_naming ? static_cast<double>(checking.sufficient(*m_limits.memory, **need))
                                          : std::numeric_limits<double>::infinity();
            return Candidate{std::move(answer), Fits::No, limit};
        }
        const bool asPlanned = withMargin(peakOf(forecast->prediction)) <= m_allowed;
        return Candidate{std::move(answer), asPlanned ? Fits::AsPlanned : Fits::InSmallerBatches, forecast->seconds()};
    }

    base::Result<PlanAnswer> fewestBytes()
    {
        PlanRequest request = m_with.request;
        request.objective = base::Objective::Bytes;
        return foundFor(request);
    }

    base::Result<PlanAnswer> unlimited()
    {
        PlanRequest request = m_with.request;
        request.limits.memory.reset();
        return foundFor(request);
    }

    base::Result<PlanAnswer> foundFor(const PlanRequest& request)
    {
        base::Result<PlanAnswer> found =
            searchPlan({m_with.prepared, m_with.predictor, request, m_with.progress, m_with.stop});
        if (!found) return found;
        return pricedPlan(m_with, std::move(found->plan));
    }

    // Every operand is read from a store, where pins leave the choice.
    base::Result<PlanAnswer> storingAll()
    {
        const analysis::Analysis& analysis = m_with.prepared.analysis;
        std::set<ir::ValueId> stored;
        for (const ir::Value& v : analysis.program.values)
            if (placement::whyNotStorable(analysis, v.id).empty()) stored.insert(v.id);
        for (const plan::Pin& pin : placement::settled(m_with.request.pins)) {
            if (base::storesOf(pin.kind) == base::PinStores::Never) stored.erase(pin.value);
            else if (!base::isStoring(pin.kind))
                return base::fail(base::ErrorCode::Unsupported, "pins of this kind leave no other plan");
        }
        base::Result<plan::Plan> plan = placement::evaluate(analysis, stored, stored);
        if (!plan) return base::forward(plan);
        return pricedPlan(m_with, std::move(*plan));
    }

    const Planning& m_with;
    const forecast::PredictOptions& m_limits;
    std::int64_t m_allowed;
    bool m_naming = false;  // a limit for a refusal
};

}  // namespace

base::Result<PlanAnswer> fitMemory(const Planning& planning, PlanAnswer found)
{
    if (!planning.request.limits.memory) return found;
    Fitting fitting(planning);
    const base::Result<bool> keeps = fitting.keeps(found.plan);
    if (!keeps && keeps.error().code == base::ErrorCode::Cancelled) return base::forward(keeps);
    if (!keeps || *keeps) return found;  // the run reports the error
    return fitting.best(std::move(found));
}

base::Status checkMemory(const plan::Plan& plan, const forecast::Prediction& prediction, forecast::Predictor& predictor,
                         const forecast::PredictOptions& limits, const std::stop_token& stop)
{
    if (!limits.memory) return {};
    Checking checking(plan, predictor, limits, stop);
    const auto need = checking.unmet(prediction);
    if (!need) return base::forward(need);
    if (!*need) return {};
    const std::int64_t limit = *limits.memory, sufficient = checking.sufficient(limit, **need);
    const std::string less =
        sufficient < checking.limitFor(**need) ? "stages that run in tiles need less, but a larger limit: " : "";
    return base::fail(base::ErrorCode::Resources,
                      holding(**need, limit) + ", which does not fit into the limit of " +
                          limitText(limit, allowedBy(limit, plan.device), enoughFor(**need)),
                      less + "raise it to --memory " + std::to_string(sufficient));
}

}  // namespace hopscope::pipeline
