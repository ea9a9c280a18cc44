#include "jobs/planner.h"

#include <algorithm>
#include <array>

#include "base/rules.h"
#include "models/runner.h"

namespace hopscope::jobs {

namespace {

// Time limits of successive searches while the optimum is not proven: each starts over, which costs
// little, as each takes several times as long as all before.
constexpr std::array searchSeconds{0.4, 2.0, 10.0};

// The time limit of a search step; no longer than the user allows.
double secondsOf(const models::Settings& settings, std::size_t step)
{
    return std::min(searchSeconds[step], settings.deadline.value_or(searchSeconds[step]));
}

// Whether the plan for these settings is a reference for others.
bool isReference(const models::Settings& settings)
{
    return settings.pins.empty() && !settings.stages &&
           std::ranges::find(base::references, settings.strategy) != base::references.end();
}

models::PlanPtr shared(protocol::PlanRecord&& plan)
{
    return models::releasedAside(std::make_shared<const protocol::PlanRecord>(std::move(plan)));
}

// Leaves out pins that the refused change itself added: dropping them fixes nothing. Repairs that keep all pins come
// first, and the cheapest first among these and the others.
std::vector<models::Repair> suggestedFixes(std::vector<schema::RepairRecord> repairs, const models::Settings& refused,
                                           const std::vector<plan::Pin>& accepted)
{
    std::vector<models::Repair> ways;
    std::ranges::stable_sort(repairs, {}, &schema::RepairRecord::cost);
    for (const schema::RepairRecord& repair : repairs) {
        models::Repair way{repair.drop, refused};
        if (!repair.drop) way.wanted.stages = repair.stages;
        else if (std::ranges::find(accepted, *repair.drop) != accepted.end()) std::erase(way.wanted.pins, *repair.drop);
        else continue;
        ways.push_back(std::move(way));
    }
    std::stable_partition(ways.begin(), ways.end(), [](const models::Repair& way) { return !way.dropped; });
    return ways;
}

}  // namespace

Cuts Planner::cuts() const
{
    const models::Settings& settings = m_state.document.settings();
    return {.strategy = settings.strategy,
            .objective = settings.objective,
            .pins = settings.pins,
            .stages = settings.stages,
            .exact = m_state.exact};
}

void Planner::begin(const models::Settings& settings)
{
    m_state.undo.clear();
    m_newest = nullptr;
    m_state.exact.reset();
    m_accepted = settings;
}

void Planner::setRunSettings(const models::Settings& settings)
{
    models::Settings next = settings;
    const models::Settings before = m_state.document.settings();
    next.strategy = before.strategy;
    next.objective = before.objective;
    next.pins = before.pins;
    next.stages = before.stages;
    m_state.document.setSettings(next);
    const base::Renews renews = base::renewedBy(before, next);
    if (renews == base::Renews::Nothing) return accept(next);
    if (renews == base::Renews::Model) return;  // planning starts once it is open again
    m_state.exact.reset();
    m_newest = nullptr;
    m_state.document.setRefusal({});
    planAgain();
}

// Accepts settings that do not affect the plan.
void Planner::accept(const models::Settings& settings)
{
    base::forEachField<base::Settings>([&](const auto& setting) {
        if (setting.renews == base::Renews::Nothing) m_accepted.*setting.member = settings.*setting.member;
    });
    m_accepted.output = settings.output;
    m_accepted.breakpoints = settings.breakpoints;
}

void Planner::restore(const models::Settings& settings)
{
    m_state.document.setSettings(settings);
    m_state.undo.clear();
    m_newest = nullptr;
    m_state.exact.reset();
    planAgain();
}

void Planner::engineDied()
{
    giveUp();  // answers being read belong to a closed document
    m_newest = nullptr;
}

void Planner::recover()
{
    if (!m_state.exact || m_state.document.settings() != m_accepted) planAgain();
}

void Planner::planAgain()
{
    plan();
    references();
}

bool Planner::progressed(std::int64_t request)
{
    if (!planning() || request != m_request) return false;
    m_state.plan = after(m_state.plan, PlanEvent::Progressed);
    return true;
}

void Planner::push(const QString& text, Cuts after)
{
    if (!m_state.engineDocument || after == cuts()) return;
    auto command = std::make_unique<CutCommand>(text, cuts(), std::move(after), [this](const Cuts& to) { apply(to); });
    m_newest = nullptr;
    CutCommand* added = command.get();
    m_state.undo.push(command.release());
    m_newest = added;
}

void Planner::apply(const Cuts& to)
{
    m_newest = nullptr;
    models::Settings settings = m_state.document.settings();
    settings.strategy = to.strategy;
    settings.objective = to.objective;
    settings.pins = to.pins;
    settings.stages = to.stages;
    m_state.exact = to.exact;
    m_state.document.setSettings(settings);
    if (m_state.plan == PlanPhase::Refusing) return;
    m_state.document.setRefusal({});
    if (comparedBatch() != m_comparedBatch) references();
    if (!m_state.exact) return plan();
    giveUp();
    m_accepted = settings;
    m_shown = Shown::Final;
    m_state.document.setPlan(m_state.exact);
}

void Planner::plan()
{
    if (!m_state.canPlan()) return;
    giveUp();
    m_state.plan = after(m_state.plan, PlanEvent::Asked);
    const models::Settings settings = m_plannedFor = m_state.document.settings();
    planQuickly(settings);
    search(settings, 0);
}

void Planner::search(const models::Settings& settings, std::size_t step)
{
    m_step = step;
    auto query = forPlan<protocol::MakePlan>(m_state, settings);
    if (!base::isRule(settings.strategy)) query.settings.deadline = secondsOf(settings, step);
    m_request = m_state.engine.ask(
        query, &m_state.bench,
        readingPlan(m_state, &m_state.bench,
                    [this, settings, step, number = m_number,
                     expected = m_state.engineDocument](base::Result<protocol::PlanRecord> plan) {
                        if (number == m_number) {
                            if (plan && showBetter(settings, *plan, step)) return;
                            return planAnswered(settings, std::move(plan));
                        }
                        // Too late to be shown, but still a reference for other plans.
                        if (plan && m_state.engineDocument == expected && isReference(settings))
                            m_state.document.setReference(settings.strategy, shared(std::move(*plan)));
                    }));
}

// Shows a plan with an open gap if there is time to improve it; comparisons with the optimum use it meanwhile.
bool Planner::showBetter(const models::Settings& settings, const protocol::PlanRecord& plan, std::size_t step)
{
    const bool last = step + 1 >= searchSeconds.size() || secondsOf(settings, step) < searchSeconds[step];
    if (!plan.gap || *plan.gap < models::provenGap || last) return false;
    m_shown = Shown::Final;
    m_newest = nullptr;
    m_accepted = settings;
    m_state.document.setPlan(shared(protocol::PlanRecord(plan)), models::Search::GoesOn);
    if (isReference(settings)) m_state.document.setReference(settings.strategy, m_state.document.plan());
    m_step = step + 1;
    if (!m_held) search(settings, m_step);
    return true;
}

void Planner::holdSearch()
{
    m_held = true;
    if (!planning() || m_step == 0 || m_request == 0) return;
    m_state.engine.cancel(m_request);
    m_request = 0;
    ++m_number;
}

void Planner::resumeSearch()
{
    if (!std::exchange(m_held, false)) return;
    if (planning() && m_step > 0 && m_request == 0) search(m_plannedFor, m_step);
}

// Pending answers belong to old cuts and are dropped, except those for references.
void Planner::giveUp()
{
    // During a search, a reference is available already.
    if (planning() && (m_step > 0 || !isReference(m_plannedFor))) m_state.engine.cancel(m_request);
    m_step = 0;
    if (m_quick != 0) m_state.engine.cancel(m_quick);
    m_quick = 0;
    ++m_number;
    const PlanPhase before = std::exchange(m_state.plan, after(m_state.plan, PlanEvent::Ended));
    if (before == PlanPhase::Reporting) emit m_state.bench.progressed({}, 1);
    m_questions.giveUp();
}

bool Planner::onlyPinsDiffer(const models::Settings& settings) const
{
    models::Settings same = settings;
    same.pins = m_accepted.pins;
    return same == m_accepted && m_state.document.plan() && !base::isRule(settings.strategy);
}

// Shows a plan for changed pins at once: the one that a drag has previewed, or the best one near the current plan. The
// global optimum follows and decides.
void Planner::planQuickly(const models::Settings& settings)
{
    if (const models::PlanPtr seen = m_questions.previewed(cuts())) {
        m_shown = Shown::Quick;
        return m_state.document.setPlan(seen);
    }
    if (!onlyPinsDiffer(settings) || settings == m_accepted) return;
    m_quick = m_state.engine.ask(
        forPlan<protocol::MakePlan>(m_state, settings, true), &m_state.bench,
        readingPlan(m_state, &m_state.bench, [this, number = m_number](base::Result<protocol::PlanRecord> plan) {
            if (number != m_number) return;
            m_quick = 0;
            if (!plan || !planning()) return;
            m_shown = Shown::Quick;
            m_state.document.setPlan(shared(std::move(*plan)));
        }));
}

void Planner::planAnswered(const models::Settings& settings, base::Result<protocol::PlanRecord> plan)
{
    giveUp();
    if (!plan) return refuse(plan.error());
    m_shown = Shown::Final;
    m_newest = nullptr;
    m_accepted = settings;
    m_state.document.setPlan(shared(std::move(*plan)));
    if (isReference(settings)) m_state.document.setReference(settings.strategy, m_state.document.plan());
}

// Undoes the change that was refused; if changes before it have not been answered, they are tried once more.
void Planner::refuse(const base::Error& error)
{
    if (m_state.engine.state() != EngineState::Ready) return;  // no answer at all: the engine has died
    const models::Settings refused = m_state.document.settings();
    m_state.plan = after(m_state.plan, PlanEvent::Refused);
    if (m_newest) {
        m_newest->refuse();
        m_state.undo.undo();
    } else m_state.document.setSettings(m_accepted);
    m_state.plan = after(m_state.plan, PlanEvent::Ended);
    m_state.document.setRefusal(QString::fromStdString(base::describe(error)));
    if (m_state.document.settings() != m_accepted || std::exchange(m_shown, Shown::Final) == Shown::Quick) plan();
    else if (m_state.exact) m_state.document.setPlan(m_state.exact);
    askForRepairs(refused);
}

// Asks for pins without which the change would be possible, or for a higher number of stages.
void Planner::askForRepairs(const models::Settings& refused)
{
    if (refused.pins.empty()) return;
    const QString sentence = m_state.document.refusal();
    m_state.engine.ask(forPlan<protocol::FindRepairs>(m_state, refused), &m_state.bench,
                       [this, refused, sentence](const base::Result<json::Value>& result) {
                           if (!result || m_state.document.refusal() != sentence) return;
                           const auto repairs = schema::readRepairs(*result);
                           if (repairs)
                               m_state.document.setRepairs(suggestedFixes(repairs->repairs, refused, m_accepted.pins));
                       });
}

std::optional<qint64> Planner::comparedBatch() const
{
    if (m_state.exact && m_state.exact->batch) return m_state.exact->batch;
    return m_state.document.settings().batch;
}

void Planner::references()
{
    if (!m_state.canPlan()) return;
    m_comparedBatch = comparedBatch();
    const bool planned = isReference(m_state.document.settings()) && planning();  // its plan is pending already
    for (const base::Strategy strategy : base::references)
        if (!planned || m_state.document.settings().strategy != strategy) reference(strategy);
}

void Planner::reference(base::Strategy strategy)
{
    models::Settings settings = m_state.document.settings();
    settings.strategy = strategy;
    settings.pins.clear();
    settings.stages.reset();
    settings.batch = comparedBatch();
    const auto expected = m_state.engineDocument;
    m_state.engine.ask(
        forPlan<protocol::MakePlan>(m_state, settings), &m_state.bench,
        readingPlan(m_state, &m_state.bench, [this, strategy, expected](base::Result<protocol::PlanRecord> plan) {
            if (m_state.engineDocument != expected) return;
            m_state.document.setReference(strategy, plan ? shared(std::move(*plan)) : nullptr);
        }));
}

}  // namespace hopscope::jobs
