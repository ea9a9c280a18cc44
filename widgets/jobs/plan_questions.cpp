#include "jobs/plan_questions.h"

#include <QThreadPool>

#include "models/runner.h"

namespace hopscope::jobs {

namespace {

constexpr int previewPauseMilliseconds = 40;

}  // namespace

PlanQuestions::PlanQuestions(WorkbenchState& state) : m_state(state)
{
    m_pause.setSingleShot(true);
    m_pause.setInterval(previewPauseMilliseconds);
    QObject::connect(&m_pause, &QTimer::timeout, &state.bench, [this] { askPreview(); });
}

void PlanQuestions::whatIf(const std::vector<plan::Pin>& pins, QObject* context, Workbench::WhatIf answer)
{
    if (!m_state.canPlan()) return;
    models::Settings settings = m_state.document.settings();
    settings.pins = pins;
    m_state.engine.cancel(m_whatIf);
    postponeExplanation();
    m_whatIf = m_state.engine.ask(
        forPlan<protocol::MakePlan>(m_state, settings), context,
        readingPlan(m_state, context, [this, answer = std::move(answer)](base::Result<protocol::PlanRecord> plan) {
            if (!plan && isCancelled(plan.error())) return;
            resumeExplanation();
            answer(std::move(plan));
        }));
}

void PlanQuestions::preview(Cuts wanted)
{
    m_wanted = std::move(wanted);
    askPreview();
}

// At most one question is pending: its answer, or the end of the pause, asks the next.
void PlanQuestions::askPreview()
{
    if (!m_wanted || m_wanted == m_asked || !m_state.engineDocument) return;
    if (m_preview != 0) return m_state.engine.cancel(m_preview);
    if (m_pause.isActive()) return;
    m_pause.start();
    postponeExplanation();
    m_asked = m_wanted;
    models::Settings settings = m_state.document.settings();
    settings.strategy = m_asked->strategy;
    settings.pins = m_asked->pins;
    m_preview =
        m_state.engine.ask(forPlan<protocol::MakePlan>(m_state, settings, true), &m_state.bench,
                           readingPlan(m_state, &m_state.bench, [this](const base::Result<protocol::PlanRecord>& plan) {
                               previewAnswered(plan);
                           }));
}

void PlanQuestions::previewAnswered(const base::Result<protocol::PlanRecord>& plan)
{
    m_preview = 0;
    if (!plan && isCancelled(plan.error())) m_asked.reset();
    if (!m_wanted || m_wanted != m_asked) return askPreview();
    if (plan) m_state.document.setPreview({std::make_shared<const protocol::PlanRecord>(*plan), {}});
    else m_state.document.setPreview({nullptr, QString::fromStdString(plan.error().message)});
}

void PlanQuestions::endPreview()
{
    m_wanted.reset();
    m_asked.reset();
    if (m_preview != 0) m_state.engine.cancel(m_preview);
    m_state.document.setPreview({});
    resumeExplanation();
}

models::PlanPtr PlanQuestions::previewed(const Cuts& cuts) const
{
    return m_asked && *m_asked == cuts ? m_state.document.preview().plan : nullptr;
}

void PlanQuestions::explain()
{
    models::Document& document = m_state.document;
    const models::Explained& known = document.explained();
    if (!document.plan() || !m_state.engineDocument || isPlanning(m_state.plan)) return;
    if (m_explaining == ExplainPhase::Asked || known.explanation || !known.problem.isEmpty()) return;
    if (m_state.exact)
        return document.setExplained({nullptr, Workbench::tr("Plans loaded from a file cannot be explained.")});
    m_explaining = after(m_explaining, ExplainEvent::Asked);
    m_explanation =
        m_state.engine.ask(forPlan<protocol::ExplainPlan>(m_state, document.settings()), &m_state.bench,
                           [this, model = document.model(), plan = document.plan()](base::Result<json::Value> result) {
                               const bool cancelled = !result && isCancelled(result.error());
                               if (cancelled || plan != m_state.document.plan()) return;
                               if (!result) return explanationRead(base::forward(result));
                               models::runAside(
                                   *QThreadPool::globalInstance(), &m_state.bench,
                                   [result = std::move(*result), model] {
                                       return schema::readExplanation(result, protocol::modelNames(*model));
                                   },
                                   [this, plan](const base::Result<schema::Explanation>& read) {
                                       if (plan == m_state.document.plan()) explanationRead(read);
                                   });
                           });
}

void PlanQuestions::explanationRead(const base::Result<schema::Explanation>& explanation)
{
    models::Document& document = m_state.document;
    m_explaining = after(m_explaining, ExplainEvent::Ended);
    if (explanation) return document.setExplained({std::make_shared<const schema::Explanation>(*explanation), {}});
    if (m_state.engine.state() != EngineState::Ready) return;
    document.setExplained({nullptr, QString::fromStdString(explanation.error().message)});
}

void PlanQuestions::giveUp()
{
    m_state.engine.cancel(m_whatIf);
    m_front.giveUp();
    forgetExplanation();
}

void PlanQuestions::forgetExplanation()
{
    if (m_explaining == ExplainPhase::Asked) m_state.engine.cancel(m_explanation);
    m_explaining = after(m_explaining, ExplainEvent::Ended);
}

void PlanQuestions::postponeExplanation()
{
    m_front.giveUp();
    if (m_explaining == ExplainPhase::Asked) m_state.engine.cancel(m_explanation);
    m_explaining = after(m_explaining, ExplainEvent::Postponed);
}

void PlanQuestions::resumeExplanation()
{
    m_front.resume();
    if (m_explaining != ExplainPhase::Postponed) return;
    m_explaining = after(m_explaining, ExplainEvent::Ended);
    explain();
}

}  // namespace hopscope::jobs
