#include "jobs/front_search.h"

#include "models/labels.h"

namespace hopscope::jobs {

namespace {

constexpr double step = 0.6;  // the ratio of successive limits
constexpr std::size_t mostPoints = 12;

// The settings for the fastest plan, without cuts and limits.
models::Settings searchedFrom(models::Settings settings)
{
    settings.strategy = base::Strategy::Optimal;
    settings.pins.clear();
    settings.stages.reset();
    settings.batch.reset();
    settings.memory.reset();
    settings.objective = base::Objective::Time;
    return settings;
}

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
    const bool others = base::renewedBy(searchedFrom(document.settings()), m_settings) != base::Renews::Nothing;
    if (m_model != document.model().get() || others) begin();
    askNext();
}

void FrontSearch::begin()
{
    m_model = m_state.document.model().get();
    m_settings = searchedFrom(m_state.document.settings());
    m_next = m_settings;
    m_least = false;
    m_state.document.setFront({});
}

void FrontSearch::askNext()
{
    if (!m_next || m_request != 0 || !m_wanted || !m_state.canPlan()) return;
    const models::Settings settings = *m_next;
    m_request = m_state.engine.ask(forPlan<protocol::MakePlan>(m_state, settings), &m_state.bench,
                                   readingPlan(m_state, &m_state.bench,
                                               [this, settings, model = m_model,
                                                number = m_number](const base::Result<protocol::PlanRecord>& plan) {
                                                   if (number != m_number || model != m_state.document.model().get())
                                                       return;
                                                   m_request = 0;
                                                   answered(settings, plan);
                                               }));
}

void FrontSearch::answered(const models::Settings& settings, const base::Result<protocol::PlanRecord>& plan)
{
    if (!plan && (isCancelled(plan.error()) || m_state.engine.state() != EngineState::Ready)) return;
    m_next.reset();
    models::Front front = m_state.document.front();
    if (plan && plan->predicted) {
        front.points.push_back({std::make_shared<const protocol::PlanRecord>(*plan), settings.memory});
        if (front.points.size() < mostPoints && !m_least) askBelow(settings, *plan->predicted);
    } else if (!plan && !m_least) {
        askLeast(settings, plan.error());
    }
    front.complete = !m_next;
    m_state.document.setFront(front);
    askNext();
}

void FrontSearch::askBelow(const models::Settings& settings, const protocol::Prediction& predicted)
{
    const auto peak = static_cast<double>(predicted.peakMemory);
    const double before = settings.memory ? std::min(peak, static_cast<double>(*settings.memory)) : peak;
    m_next = m_settings;
    m_next->memory = std::max<qint64>(static_cast<qint64>(step * before), 1);
}

// The refusal of a limit names the smallest sufficient one.
void FrontSearch::askLeast(const models::Settings& settings, const base::Error& refusal)
{
    const std::optional<qint64> least = models::memoryHint(models::text(refusal.hint));
    if (!least || !settings.memory) return;
    m_least = true;
    m_next = m_settings;
    m_next->memory = *least;
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
    settings.batch.reset();
    settings.memory = point.memory;
    m_state.bench.setRunSettings(settings);
    m_state.bench.setStrategy(m_settings.strategy, m_settings.objective);  // as in the request
}

}  // namespace hopscope::jobs
