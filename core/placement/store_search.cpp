#include "placement/store_search.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "base/rules.h"
#include "base/units.h"
#include "placement/account.h"
#include "placement/pins.h"

namespace hopscope::placement {

namespace {

using analysis::Analysis;
using ir::ValueId;
using Stores = std::set<ValueId>;
using Neighbours = std::map<ValueId, std::vector<ValueId>>;

constexpr std::size_t fewValues = 8;  // so few that all sets are tried
constexpr double noticeable = 1e-9;   // part of the cost by which a plan has to be cheaper

std::vector<ValueId> storable(const Analysis& a)
{
    std::vector<ValueId> found;
    for (const ir::Op& op : a.program.ops)
        for (const ValueId v : op.outputs)
            if (!a.available(v) && isStorable(a, v)) found.push_back(v);
    return found;
}

// The operands and the consumers of each value.
Neighbours neighboursIn(const Analysis& a)
{
    Neighbours found;
    for (const ir::Op& op : a.program.ops)
        ir::forEachOperand(op, [&](ir::Slot, ValueId u) {
            for (const ValueId v : op.outputs) {
                found[v].push_back(u);
                found[u].push_back(v);
            }
        });
    return found;
}

Stores storesOf(const plan::Plan& plan)
{
    Stores stores;
    for (const plan::Checkpoint& c : plan.checkpoints) stores.insert(c.value);
    return stores;
}

class Search {
public:
    Search(const Analysis& a, const CostModel& costs, const SearchLimits& limits)
        : m_a(a),
          m_costs(costs),
          m_limits(limits),
          m_began(std::chrono::steady_clock::now()),
          m_values(storable(a)),
          m_neighbours(neighboursIn(a))
    {}

    base::Result<plan::Plan> run()
    {
        if (const base::Status ok = begin(); !ok) return base::forward(ok);
        if (m_values.size() <= fewValues) tryAll();
        else
            while (descend() && !ended()) {}
        if (m_limits.stop.stop_requested()) return base::fail(base::ErrorCode::Cancelled, "cancelled");
        m_best.cost = m_cost;
        return std::move(m_best);
    }

private:
    base::Status begin()
    {
        base::Status ok;
        for (const Strategy rule : base::rules) {
            const base::Result<Stores> stores = strategyStores(m_a, rule);
            if (!stores) ok = base::forward(stores);
            else take(*stores);
        }
        if (m_cost < none || !ok) return m_cost < none ? base::Status{} : ok;
        if (!m_limits.stages) return base::fail(base::ErrorCode::Unsupported, "no plan was found");
        return base::fail(base::ErrorCode::Unsupported,
                          "no plan of at most " + base::counted(*m_limits.stages, "stage") + " was found",
                          "allow more stages");
    }

    [[nodiscard]] bool ended() const
    {
        const std::chrono::duration<double> used = std::chrono::steady_clock::now() - m_began;
        return m_limits.stop.stop_requested() || used.count() > m_limits.deadlineSeconds;
    }

    // True if these stores give the cheapest plan so far, which is kept.
    bool take(const Stores& stores)
    {
        base::Result<plan::Plan> plan = evaluate(m_a, stores);
        if (!plan) return false;
        if (m_limits.stages && plan->stages.size() > static_cast<std::size_t>(*m_limits.stages)) return false;
        const std::vector<double> stages = stageCosts(m_a, m_costs, *plan);
        const double cost = std::accumulate(stages.begin(), stages.end(), 0.0);
        if (cost >= m_cost * (1 - noticeable)) return false;
        m_cost = cost;
        m_best = std::move(*plan);
        return true;
    }

    void tryAll()
    {
        for (unsigned bits = 0; bits < (1U << m_values.size()) && !ended(); ++bits) {
            Stores stores;
            for (std::size_t i = 0; i < m_values.size(); ++i)
                if ((bits >> i & 1U) != 0) stores.insert(m_values[i]);
            take(stores);
        }
    }

    // One round over all values; false if it found nothing cheaper.
    bool descend()
    {
        bool cheaper = false;
        for (const ValueId v : m_values) {
            if (ended()) break;
            cheaper = toggle(v) || move(v) || cheaper;
        }
        return cheaper;
    }

    bool toggle(ValueId v)
    {
        Stores stores = storesOf(m_best);
        if (stores.erase(v) == 0) stores.insert(v);
        return take(stores);
    }

    // The store of a neighbour becomes one of `v`.
    bool move(ValueId v)
    {
        const Stores now = storesOf(m_best);
        if (now.contains(v)) return false;
        return std::ranges::any_of(m_neighbours[v], [&](ValueId u) {
            Stores stores = now;
            if (stores.erase(u) == 0) return false;
            stores.insert(v);
            return take(stores);
        });
    }

    static constexpr double none = 1e300;

    const Analysis& m_a;
    const CostModel& m_costs;
    const SearchLimits& m_limits;
    std::chrono::steady_clock::time_point m_began;
    std::vector<ValueId> m_values;
    Neighbours m_neighbours;
    plan::Plan m_best;
    double m_cost = none;
};

}  // namespace

base::Result<plan::Plan> searchStores(const Analysis& analysis, const CostModel& costs, const SearchLimits& limits)
{
    return Search(analysis, costs, limits).run();
}

}  // namespace hopscope::placement
