#include "jobs/front_search.h"

namespace hopscope::jobs {

namespace {

constexpr double secondsEach = 2;
constexpr int steps = 4, stepFactor = 4;  // batches down to 1/256 of the first

}  // namespace

void FrontSearch::want(bool wanted)
{
    m_wanted = wanted;
    resume();
}

void FrontSearch::resume()
{
    if (m_wanted) explore();
}

void FrontSearch::explore()
{
    const models::Document& document = m_state.document;
    if (m_request != 0 || !m_state.canPlan() || isPlanning(m_state.plan)) return;
    if (!document.plan() || !document.plan()->predicted) return;
    const models::Settings& settings = document.settings();
    const bool same = m_model == document.model().get() && settings.device == m_settings.device &&
                      settings.memory == m_settings.memory;
    if (!same) begin();
    askNext();
}

void FrontSearch::begin()
{
    m_model = m_state.document.model().get();
    m_settings = m_state.document.settings();
    m_settings.strategy = base::Strategy::Optimal;
    m_settings.pins.clear();
    m_settings.stages.reset();
    m_settings.batch.reset();
    m_open.clear();
    m_state.document.setFront({});
    for (const base::Objective objective : {base::Objective::Bytes, base::Objective::Time}) {
        m_open.push_back(m_settings);
        m_open.back().objective = objective;
    }
}

void FrontSearch::askNext()
{
    if (m_open.empty() || m_request != 0 || !m_wanted || !m_state.canPlan()) return;
    const models::Settings settings = m_open.back();
    json::Value params = planParams(m_state, settings);
    params["deadline"] = secondsEach;
    m_request = requestPlan(
        m_state, "plan/make", std::move(params), &m_state.bench,
        [this, settings, model = m_model, number = m_number](const base::Result<protocol::PlanRecord>& plan) {
            if (number != m_number || model != m_state.document.model().get()) return;
            m_request = 0;
            answered(settings, plan);
        });
}

void FrontSearch::answered(const models::Settings& settings, const base::Result<protocol::PlanRecord>& plan)
{
    if (!plan && (isCancelled(plan.error()) || m_state.engine.state() != EngineState::Ready)) return;
    m_open.pop_back();
    models::Front front = m_state.document.front();
    if (plan && plan->predicted) {
        if (!settings.batch && settings.objective == base::Objective::Time) addSmaller(plan->predicted->batch);
        front.points.push_back({std::make_shared<const protocol::PlanRecord>(*plan), settings.batch});
    }
    front.complete = m_open.empty();
    m_state.document.setFront(front);
    askNext();
}

// Behind what is open already: the smallest come last.
void FrontSearch::addSmaller(std::int64_t batch)
{
    std::vector<models::Settings> smaller;
    for (int step = 0; step < steps && batch > stepFactor; ++step) {
        batch /= stepFactor;
        for (const base::Objective objective : {base::Objective::Time, base::Objective::Bytes}) {
            smaller.push_back(m_settings);
            smaller.back().objective = objective;
            smaller.back().batch = batch;
        }
    }
    m_open.insert(m_open.begin(), smaller.rbegin(), smaller.rend());
}

void FrontSearch::giveUp()
{
    ++m_number;
    if (const std::int64_t request = std::exchange(m_request, 0); request != 0) m_state.engine.cancel(request);
}

void FrontSearch::forget()
{
    giveUp();
    m_model = nullptr;
}

void FrontSearch::use(const models::FrontPoint& point) const
{
    models::Settings settings = m_state.document.settings();
    settings.batch = point.batch;
    m_state.bench.setRunSettings(settings);
    m_state.bench.setStrategy(point.plan->strategy, point.plan->objective);
}

}  // namespace hopscope::jobs
