#include "pipeline/planning/explanation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/rules.h"
#include "pipeline/machine/machine.h"
#include "placement/account.h"
#include "placement/pins.h"

namespace hopscope::pipeline {

namespace {

using placement::Account;
using placement::ValueAccount;
using plan::ValueId;
using schema::Decision, schema::Explanation, schema::PlanComparison, schema::ValueDifference;

constexpr double deadlineSeconds = 10;
constexpr double tie = 1e-6;  // the relative tolerance of a proven optimum
constexpr std::size_t mostValues = 200;

// A plan with its figures.
struct Priced {
    Account account;
    std::map<ValueId, std::int64_t> written, read;  // bytes
    plan::Bytes bytes;
    double seconds = 0;
    int tiledLoops = 0;
};

Priced pricedWith(Account account, const plan::Plan& plan, const forecast::Prediction& prediction)
{
    Priced priced{.account = std::move(account), .written = {}, .read = {}, .bytes = {}};
    for (const plan::Checkpoint& c : plan.checkpoints) priced.written[c.value] = c.bytesWritten.value_or(0);
    for (const forecast::PredictedStage& s : prediction.stages) {
        for (const auto& [value, bytes] : s.read) priced.read[value] += bytes;
        priced.bytes += s.bytes;
    }
    return priced;
}

template <class T>
T of(const std::map<ValueId, T>& table, ValueId value)
{
    const auto it = table.find(value);
    return it == table.end() ? T() : it->second;
}

class Explainer {
public:
    explicit Explainer(Planning planning) : m_with(std::move(planning)) {}

    base::Result<Explanation> run(const PlanAnswer& answer)
    {
        if (m_with.progress) m_with.progress({"evaluating alternatives", 0, 0});
        const base::Result<Priced> own = priced(answer.plan);
        if (!own) return base::forward(own);
        Explanation explanation{.unit = base::unitOf(answer.plan.objective),
                                .cost = answer.plan.cost.value_or(0),
                                .decisions = {},
                                .against = {}};
        if (const base::Status done = decide(answer, explanation.decisions); !done) return base::forward(done);
        for (const base::Strategy rule : base::rules)
            if (const base::Status done = compare(*own, rule, explanation.against); !done) return base::forward(done);
        return explanation;
    }

private:
    base::Result<Priced> priced(const plan::Plan& plan)
    {
        base::Result<plan::RowCounts> rows = m_with.predictor.countRows(plan, m_with.request.limits, m_with.stop);
        if (!rows) return base::forward(rows);
        const auto forecast = forecastOf(m_with.prepared, m_with.predictor, plan, m_with.request.limits, m_with.stop);
        if (!forecast) return base::forward(forecast);
        const int tiledLoops = rows->tiledLoops;
        const placement::CostModel costs(m_with.prepared.analysis, m_with.request.objective,
                                         machineFor(m_with.request.device), std::move(*rows));
        placement::Account account =
            placement::accountOf(m_with.prepared.analysis, costs.with(placement::residencyOf(plan)), plan);
        Priced priced = pricedWith(std::move(account), plan, forecast->prediction);
        priced.seconds = forecast->seconds();
        priced.tiledLoops = tiledLoops;
        return priced;
    }

    // In proportion to the predicted seconds where planFor() compares these.
    [[nodiscard]] double costOf(const Priced& other, const Priced& own) const
    {
        const bool differ = other.tiledLoops != own.tiledLoops && own.seconds > 0;
        const bool timed = m_with.request.objective == base::Objective::Time && differ;
        return timed ? own.account.total() * other.seconds / own.seconds : other.account.total();
    }

    // Only of the optimum itself: a rule decides nothing.
    base::Status decide(const PlanAnswer& answer, std::vector<Decision>& decisions) const
    {
        if (answer.basis == nullptr || answer.basis->optimum.plan.stages != answer.plan.stages) return {};
        const placement::Optimum& optimum = answer.basis->optimum;
        if (optimum.model.instance.nodes.empty()) return {};  // found without an instance: no decision has a price
        const double seconds = m_with.request.deadline.value_or(deadlineSeconds);
        const auto found = optimiser::explain(optimum.model.instance, optimum.placement, {seconds, m_with.stop});
        if (!found) return base::forward(found);
        for (const optimiser::Explanation& e : *found) decisions.push_back(decisionOf(e, optimum));
        return {};
    }

    static Decision decisionOf(const optimiser::Explanation& e, const placement::Optimum& optimum)
    {
        Decision decision{.kind = e.kind,
                          .value = optimum.model.origins[e.node.at()].value,
                          .stages = {},
                          .write = e.write,
                          .read = e.read,
                          .compute = e.compute,
                          .possible = e.possible,
                          .alternative = e.alternative,
                          .saves = std::nullopt};
        const std::vector<optimiser::StagePlacement>& all = optimum.placement.stages;
        for (const int stage : e.stages) {
            const auto at = std::ranges::find(all, stage, &optimiser::StagePlacement::stage);
            decision.stages.push_back(plan::StageId::at(static_cast<std::size_t>(at - all.begin())));
        }
        const double cost = optimum.placement.cost.total();
        if (e.alternative) decision.saves = std::abs(e.saves) <= tie * cost ? 0 : e.saves;
        return decision;
    }

    base::Status compare(const Priced& own, base::Strategy rule, std::vector<PlanComparison>& against)
    {
        PlanRequest request = m_with.request;
        request.strategy = rule;
        std::erase_if(request.pins, [](const plan::Pin& pin) { return !base::isStoring(pin.kind); });
        const base::Result<PlanAnswer> made = planFor(m_with.prepared, m_with.predictor, request, {}, m_with.stop);
        if (!made && made.error().code == base::ErrorCode::Unsupported) return {};
        if (!made) return base::forward(made);
        const base::Result<Priced> other = priced(made->plan);
        if (!other) return base::forward(other);
        against.push_back({.strategy = rule,
                           .cost = costOf(*other, own),
                           .seconds = other->seconds,
                           .bytes = other->bytes,
                           .values = differences(own, *other)});
        return {};
    }

    static std::vector<ValueDifference> differences(const Priced& own, const Priced& other)
    {
        std::set<ValueId> values;
        for (const Priced* priced : {&own, &other})
            for (const auto& [value, account] : priced->account.values) values.insert(value);
        std::vector<ValueDifference> found;
        for (const ValueId value : values) {
            const ValueAccount here = of(own.account.values, value), there = of(other.account.values, value);
            if (here == there) continue;
            found.push_back({.value = value,
                             .cost = {here.total(), there.total()},
                             .written = {of(own.written, value), of(other.written, value)},
                             .read = {of(own.read, value), of(other.read, value)},
                             .stages = {here.stages, there.stages}});
        }
        std::ranges::stable_sort(found, std::ranges::greater(),
                                 [](const ValueDifference& d) { return std::abs(d.cost.own - d.cost.other); });
        if (found.size() > mostValues) found.resize(mostValues);
        return found;
    }

    Planning m_with;
};

}  // namespace

base::Result<schema::Explanation> explainPlan(const Planning& planning, const PlanAnswer& answer)
{
    if (!planning.prepared.hasData())
        return base::fail(base::ErrorCode::Unsupported, "the cost of a plan is unknown without data",
                          "open the model with --data");
    return Explainer(planning).run(answer);
}

}  // namespace hopscope::pipeline
