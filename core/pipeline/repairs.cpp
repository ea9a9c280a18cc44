#include "pipeline/repairs.h"

#include <algorithm>

namespace hopscope::pipeline {

namespace {

constexpr std::size_t mostDrops = 32;
constexpr int mostMoreStages = 3;

class Repairs {
public:
    Repairs(const Prepared& prepared, forecast::Predictor& predictor, const PlanRequest& request,
            const base::ProgressFn& progress, std::stop_token stop)
        : m_prepared(prepared),
          m_predictor(predictor),
          m_request(request),
          m_progress(progress),
          m_stop(std::move(stop))
    {}

    base::Result<std::vector<Repair>> run()
    {
        if (const base::Status done = offerStages(); !done) return base::forward(done);
        if (const base::Status done = offerDrops(); !done) return base::forward(done);
        return std::move(m_found);
    }

private:
    // Empty if there is no plan.
    base::Result<std::optional<plan::Plan>> planned(const PlanRequest& request)
    {
        base::Result<PlanAnswer> made = planFor(m_prepared, m_predictor, request, m_progress, m_stop);
        if (made) return std::optional(std::move(made->plan));
        if (made.error().code == base::ErrorCode::Cancelled) return base::forward(made);
        return std::optional<plan::Plan>();
    }

    base::Status offerStages()
    {
        for (int more = 1; m_request.stages && more <= mostMoreStages; ++more) {
            PlanRequest longer = m_request;
            longer.stages = *m_request.stages + more;
            base::Result<std::optional<plan::Plan>> plan = planned(longer);
            if (!plan) return base::forward(plan);
            if (!*plan) continue;
            m_found.push_back({longer.stages, std::nullopt, std::move(**plan)});
            break;
        }
        return {};
    }

    base::Status offerDrops()
    {
        const std::size_t most = std::min(m_request.pins.size(), mostDrops);
        for (std::size_t i = 0; i < most; ++i) {
            PlanRequest without = m_request;
            without.pins.erase(without.pins.begin() + static_cast<std::ptrdiff_t>(i));
            base::Result<std::optional<plan::Plan>> plan = planned(without);
            if (!plan) return base::forward(plan);
            if (*plan) m_found.push_back({std::nullopt, m_request.pins[i], std::move(**plan)});
        }
        return {};
    }

    const Prepared& m_prepared;
    forecast::Predictor& m_predictor;
    const PlanRequest& m_request;
    const base::ProgressFn& m_progress;
    std::stop_token m_stop;
    std::vector<Repair> m_found;
};

}  // namespace

base::Result<std::vector<Repair>> findRepairs(const Prepared& prepared, forecast::Predictor& predictor,
                                              const PlanRequest& request, const base::ProgressFn& progress,
                                              const std::stop_token& stop)
{
    return Repairs(prepared, predictor, request, progress, stop).run();
}

}  // namespace hopscope::pipeline
