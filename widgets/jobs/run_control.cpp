#include "jobs/run_control.h"

#include <algorithm>

#include "models/labels.h"
#include "models/run_model.h"

namespace hopscope::jobs {

namespace {

protocol::Breakpoint breakpointOf(const protocol::ModelRecord& model, const models::Breakpoint& breakpoint)
{
    protocol::Breakpoint sent{.place = models::placeId(model, breakpoint.place).toStdString()};
    sent.notFinite = breakpoint.condition == models::BreakOn::NotFinite;
    if (breakpoint.condition == models::BreakOn::Node) sent.node = breakpoint.node;
    if (breakpoint.condition == models::BreakOn::OutsideRange) sent.outside = {breakpoint.least, breakpoint.most};
    return sent;
}

std::vector<protocol::Breakpoint> breakpointsOf(const models::Document& document)
{
    std::vector<protocol::Breakpoint> sent;
    for (const models::Breakpoint& breakpoint : document.settings().breakpoints)
        sent.push_back(breakpointOf(*document.model(), breakpoint));
    return sent;
}

protocol::StartRun startOf(const WorkbenchState& state, bool paused, bool steppable)
{
    auto query = ofPlan<protocol::StartRun>(state);
    query.settings = state.document.settings();
    query.output = state.document.settings().output.toStdString();
    query.paused = paused;
    if (!steppable) return query;
    query.breakpoints = breakpointsOf(state.document);
    query.settings.device = "cpu";  // which stopping at operators needs
    return query;
}

models::RunEnd endOf(const protocol::RunFinished& finished)
{
    if (finished.report) return models::RunEnd::Completed;
    const bool stopped = finished.error && finished.error->code == base::ErrorCode::Cancelled;
    return stopped ? models::RunEnd::Stopped : models::RunEnd::Failed;
}

}  // namespace

template <class Members>
void RunControl::control(Members query)
{
    if (!m_run) return;
    query.run = *m_run;
    m_state.engine.ask(query, &m_state.bench, [this](const base::Result<json::Value>& result) {
        // The user is not to blame if the run has ended meanwhile.
        if (!result && m_run && m_state.engine.state() == EngineState::Ready)
            m_state.fail(runningTopic(), result.error());
    });
}

void RunControl::start(bool paused, bool stepping)
{
    if (running() || !m_state.engineDocument || !m_state.document.plan()) return;
    m_steppable = stepping || !m_state.document.settings().breakpoints.empty();
    m_sent = m_state.document.settings().breakpoints;
    m_phase = after(m_phase, RunEvent::Started);
    m_latest.reset();
    m_log = std::make_shared<models::RunLog>();
    m_state.document.setRunLog(m_log);
    emit m_state.bench.runStateChanged();
    m_state.engine.ask(startOf(m_state, paused, m_steppable), &m_state.bench,
                       [this](const base::Result<json::Value>& result) { answered(result); });
}

void RunControl::pause() { control(protocol::PauseRun()); }

void RunControl::resume() { control(protocol::ResumeRun()); }

void RunControl::step(protocol::RunStep unit)
{
    const bool fine = unit == protocol::RunStep::Operator;
    if (!m_run) {
        start(true, fine);
        if (running()) m_stepWanted = unit;
        return;
    }
    if (fine && !m_steppable)
        return m_state.fail(runningTopic(),
                            base::makeError(base::ErrorCode::Usage, "this run was started without breakpoints",
                                            "stop it, then set a breakpoint or step by operators from the start"));
    protocol::StepRun query;
    query.unit = unit;
    control(query);
}

void RunControl::settingsChanged()
{
    const auto& wanted = m_state.document.settings().breakpoints;
    if (!m_steppable || !m_run || wanted == m_sent) return;
    m_sent = wanted;
    protocol::SetBreakpoints query;
    query.breakpoints = breakpointsOf(m_state.document);
    control(query);
}

void RunControl::stop()
{
    m_phase = after(m_phase, RunEvent::StopWanted);
    control(protocol::CancelRun());
}

void RunControl::answered(const base::Result<json::Value>& result)
{
    if (!running() || m_run) return;  // the engine has died meanwhile
    const base::Result<protocol::StartedRun> started =
        result ? protocol::readAnswer<protocol::StartedRun>(*result) : base::forward(result);
    if (!started) {
        end(models::RunEnd::Failed, models::text(started.error().message));
        if (m_state.engine.state() == EngineState::Ready) m_state.fail(runningTopic(), started.error());
        return;
    }
    const RunPhase before = std::exchange(m_phase, after(m_phase, RunEvent::Numbered));
    m_run = m_latest = started->run;
    emit m_state.bench.runStateChanged();
    const std::optional<protocol::RunStep> unit = std::exchange(m_stepWanted, {});
    if (before == RunPhase::Stopping) stop();
    else if (unit) step(*unit);
}

void RunControl::notified(const QString& method, const json::Value& params)
{
    if (method == u"run/events") eventsCame(params);
    else if (method == u"run/finished") finished(params);
}

void RunControl::eventsCame(const json::Value& params)
{
    const auto events = protocol::readEvents(params);
    if (!events) return m_state.fail(Workbench::tr("Reading events of the run"), events.error());
    if (!m_run || events->run != *m_run) return;
    const auto before = m_log->state();
    m_log->apply(*events);
    if (m_log->state() != before) emit m_state.bench.runStateChanged();
}

void RunControl::finished(const json::Value& params)
{
    const auto finished = protocol::readFinished(params);
    if (!finished) {
        m_state.fail(Workbench::tr("Reading the report"), finished.error());
        return end(models::RunEnd::Failed, models::text(finished.error().message));
    }
    if (!m_run || finished->run != *m_run) return;
    const models::RunEnd how = endOf(*finished);
    end(how, finished->error
                 ? models::text(how == models::RunEnd::Stopped ? finished->error->hint : finished->error->message)
                 : QString());
    if (finished->report) keep(*finished);
    else if (finished->error && finished->error->code != base::ErrorCode::Cancelled)
        m_state.fail(runningTopic(), *finished->error);
    emit m_state.bench.runFinished();
}

void RunControl::end(models::RunEnd how, const QString& remark)
{
    if (!running()) return;
    m_phase = after(m_phase, RunEvent::Ended);
    m_run.reset();
    m_stepWanted.reset();
    if (m_log) m_log->finish(how, remark);
    emit m_state.bench.runStateChanged();
}

// One more than the numbered runs of this document, those of its session file included.
int RunControl::nextNumber() const
{
    const QString begin = models::runTitleBegin();
    const auto named = [&](const models::FinishedRun& run) { return run.title.startsWith(begin); };
    return 1 + static_cast<int>(std::ranges::count_if(m_state.document.runs(), named));
}

void RunControl::keep(const protocol::RunFinished& finished)
{
    models::FinishedRun entry;
    entry.title = models::runTitle(nextNumber(), *finished.report);
    entry.report = std::make_shared<const schema::Report>(*finished.report);
    entry.log = m_log;
    entry.reportText = QString::fromStdString(finished.reportText);
    m_state.document.addRun(std::move(entry));
}

}  // namespace hopscope::jobs
