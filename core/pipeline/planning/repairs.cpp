#include "pipeline/planning/repairs.h"

#include <algorithm>

namespace hopscope::pipeline {

namespace {

constexpr std::size_t mostDrops = 32;
constexpr int mostMoreStages = 3;

class Repairs {
public:
    explicit Repairs(Planning planning) : m_with(std::move(planning)) {}

    base::Result<schema::Repairs> run()
    {
        if (const base::Status done = offerStages(); !done) return base::forward(done);
        if (const base::Status done = offerDrops(); !done) return base::forward(done);
        return std::move(m_found);
    }

private:
    // Empty if there is no plan.
    base::Result<std::optional<plan::Plan>> planned(const PlanRequest& request)
    {
        base::Result<PlanAnswer> made =
            planFor(m_with.prepared, m_with.predictor, request, m_with.progress, m_with.stop);
        if (made) return std::optional(std::move(made->plan));
        if (made.error().code == base::ErrorCode::Cancelled) return base::forward(made);
        return std::optional<plan::Plan>();
    }

    base::Status offerStages()
    {
        for (int more = 1; m_with.request.stages && more <= mostMoreStages; ++more) {
            PlanRequest longer = m_with.request;
            longer.stages = *m_with.request.stages + more;
            base::Result<std::optional<plan::Plan>> plan = planned(longer);
            if (!plan) return base::forward(plan);
            if (!*plan) continue;
            offer({.stages = longer.stages}, **plan);
            break;
        }
        return {};
    }

    base::Status offerDrops()
    {
        const std::size_t most = std::min(m_with.request.pins.size(), mostDrops);
        for (std::size_t i = 0; i < most; ++i) {
            PlanRequest without = m_with.request;
            without.pins.erase(without.pins.begin() + static_cast<std::ptrdiff_t>(i));
            base::Result<std::optional<plan::Plan>> plan = planned(without);
            if (!plan) return base::forward(plan);
            if (*plan) offer({.drop = m_with.request.pins[i]}, **plan);
        }
        return {};
    }

    void offer(schema::RepairRecord repair, const plan::Plan& plan)
    {
        repair.cost = plan.cost;
        repair.unit = base::unitOf(plan.objective);
        m_found.repairs.push_back(repair);
    }

    Planning m_with;
    schema::Repairs m_found;
};

}  // namespace

base::Result<schema::Repairs> findRepairs(const Planning& planning) { return Repairs(planning).run(); }

}  // namespace hopscope::pipeline
