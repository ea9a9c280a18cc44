#include "optimiser/infeasible_subset.h"

#include <algorithm>

#include "base/units.h"
#include "optimiser/cells.h"
#include "optimiser/local_search.h"
#include "optimiser/program.h"
#include "optimiser/reduce.h"

namespace hopscope::optimiser {

namespace {

using base::ErrorCode;

constexpr double longestRepair = 10;  // seconds

base::Result<bool> decide(const Instance& instance, const Options& options)
{
    if (Graph(instance).impossible()) return false;
    const Reduced reduced = reduce(instance);
    const Graph g(reduced.instance);
    if (searchLocally(g, {.seconds = options.deadlineSeconds, .stop = options.stop, .thorough = false})) return true;
    Program program(g);
    std::ranges::fill(program.problem().cost, 0.0);
    solver::Limits limits;
    limits.seconds = options.deadlineSeconds;
    limits.stop = options.stop;
    const base::Result<solver::Solution> found = solver::solveInteger(program.problem(), {}, limits);
    if (!found) return base::forward(found);
    if (found->outcome == solver::Outcome::Infeasible) return false;
    if (!found->values.empty()) return true;
    if (options.stop.stop_requested())
        return base::fail(ErrorCode::Cancelled, "cancelled while searching for the conflicting pins");
    return base::fail(ErrorCode::Resources, "deadline reached before the conflicting pins were found",
                      "allow more time");
}

// The possible causes of infeasibility: the pins and, as the last item, the budget.
class Blame {
public:
    Blame(const Instance& instance, const Options& options)
        : m_in(instance),
          m_options(options),
          m_active(instance.pins.size() + 1, 1)
    {
        m_active.back() = instance.hostBudget.has_value();
    }

    // Whether the instance with the active pins has a legal plan.
    base::Result<bool> feasible() const { return decide(active(), m_options); }

    [[nodiscard]] Instance active() const
    {
        Instance in = m_in;
        in.pins.clear();
        for (std::size_t i = 0; i < m_in.pins.size(); ++i)
            if (m_active[i]) in.pins.push_back(m_in.pins[i]);
        if (!m_active.back()) in.hostBudget.reset();
        return in;
    }

    // Leaves a minimal infeasible subset active. Without a conflict, all items stay active.
    base::Status filter()
    {
        for (std::uint8_t& item : m_active) {
            if (!item) continue;
            item = 0;
            const base::Result<bool> answer = feasible();
            if (!answer) return base::forward(answer);
            item = *answer;
        }
        return {};
    }

    void drop(std::size_t pin) { m_active[pin] = 0; }
    [[nodiscard]] bool budget() const { return m_active.back(); }
    [[nodiscard]] std::vector<std::size_t> pins() const
    {
        std::vector<std::size_t> list;
        for (std::size_t i = 0; i + 1 < m_active.size(); ++i)
            if (m_active[i]) list.push_back(i);
        return list;
    }

private:
    const Instance& m_in;
    const Options& m_options;
    std::vector<std::uint8_t> m_active;
};

class Repairer {
public:
    Repairer(const Instance& instance, const Options& options, const RepairQuestions& asked)
        : m_in(instance),
          m_options(options),
          m_asked(asked)
    {
        m_options.incumbent = nullptr;
        m_options.onImprovement = nullptr;
        m_options.strategy = Strategy::Optimal;
        m_options.deadlineSeconds = std::min(m_options.deadlineSeconds, longestRepair);
    }

    std::vector<Repair> run(const InfeasibleSubset& conflict)
    {
        if (m_asked.moreStages) moreStages();
        for (const std::size_t pin : conflict.pins) dropPin(pin);
        if (conflict.budget) raiseBudget();
        std::ranges::stable_sort(m_repairs, {}, [](const Repair& r) { return r.answer.placement.cost.total(); });
        return std::move(m_repairs);
    }

private:
    bool offer(Repair repair)
    {
        if (!m_asked.prices) return offerUnpriced(std::move(repair));
        base::Result<Answer> answer = solve(repaired(m_in, repair), m_options);
        if (!answer || answer->status == Status::Infeasible) return false;
        repair.answer = std::move(*answer);
        m_repairs.push_back(std::move(repair));
        return true;
    }

    bool offerUnpriced(Repair repair)
    {
        const base::Result<bool> legal = decide(repaired(m_in, repair), m_options);
        if (!legal || !*legal) return false;
        m_repairs.push_back(std::move(repair));
        return true;
    }

    void moreStages()
    {
        int most = m_in.stages + 3;
        for (const Pin& pin : m_in.pins)
            if (pin.stage > 0) most = std::max(most, std::min(pin.stage, m_in.stages + 50));
        for (int stages = m_in.stages + 1; stages <= most; ++stages) {
            Repair repair{.kind = RepairKind::MoreStages, .stages = stages, .pins = {}, .budget = 0, .answer = {}};
            if (offer(std::move(repair))) return;
        }
    }

    // Where other conflicts remain, one pin of each is dropped as well.
    void dropPin(std::size_t pin)
    {
        Blame rest(m_in, m_options);
        std::vector<std::size_t> dropped{pin};
        rest.drop(pin);
        for (base::Result<bool> good = rest.feasible(); good && !*good; good = rest.feasible()) {
            Blame next = rest;
            if (!next.filter() || next.pins().empty()) return;
            dropped.push_back(next.pins().front());
            rest.drop(dropped.back());
        }
        std::ranges::sort(dropped);
        offer({.kind = RepairKind::DropPins, .stages = 0, .pins = dropped, .budget = 0, .answer = {}});
    }

    void raiseBudget()
    {
        const base::Result<double> peak = minimalHostPeak(m_in, m_options.deadlineSeconds, m_options.stop);
        if (peak) offer({.kind = RepairKind::RaiseBudget, .stages = 0, .pins = {}, .budget = *peak, .answer = {}});
    }

    const Instance& m_in;
    Options m_options;
    RepairQuestions m_asked;
    std::vector<Repair> m_repairs;
};

}  // namespace

base::Result<InfeasibleSubset> explainInfeasibility(const Instance& instance, const Options& options,
                                                    const RepairQuestions& asked)
{
    if (!solver::available())
        return base::fail(ErrorCode::Unsupported, "conflicts cannot be proven without a solver",
                          "run packaging/setup.sh and rebuild");
    Blame blame(instance, options);
    const base::Result<bool> feasible = blame.feasible();
    if (!feasible) return base::forward(feasible);
    if (*feasible) return base::fail(ErrorCode::Input, "no conflict: the instance has a legal plan");
    if (const base::Status done = blame.filter(); !done) return base::forward(done);
    InfeasibleSubset conflict{.pins = blame.pins(), .budget = blame.budget(), .repairs = {}};
    conflict.repairs = Repairer(instance, options, asked).run(conflict);
    return conflict;
}

Instance repaired(const Instance& instance, const Repair& repair)
{
    Instance in = instance;
    if (repair.kind == RepairKind::MoreStages) in.stages = repair.stages;
    if (repair.kind == RepairKind::RaiseBudget) in.hostBudget = repair.budget;
    if (repair.kind != RepairKind::DropPins) return in;
    in.pins.clear();
    for (std::size_t i = 0; i < instance.pins.size(); ++i)
        if (std::ranges::find(repair.pins, i) == repair.pins.end()) in.pins.push_back(instance.pins[i]);
    return in;
}

std::string describeRepair(const Instance& instance, const Repair& repair)
{
    if (repair.kind == RepairKind::MoreStages) return "use " + std::to_string(repair.stages) + " stages";
    if (repair.kind == RepairKind::RaiseBudget) return "raise the host budget to " + base::formatNumber(repair.budget);
    std::string text;
    for (const std::size_t pin : repair.pins)
        text +=
            (text.empty() ? "remove the pin '" : " and the pin '") + describePin(instance, instance.pins[pin]) + "'";
    return text;
}

}  // namespace hopscope::optimiser
