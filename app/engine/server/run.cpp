#include <filesystem>

#include "base/units.h"
#include "graph/dataset.h"
#include "graph/file.h"
#include "pipeline/publishing/evaluate.h"
#include "pipeline/publishing/publish.h"
#include "pipeline/running/records.h"
#include "schema/documents.h"
#include "server/last_net.h"
#include "server/run_observer.h"
#include "server/runs.h"

namespace hopscope::engine {

namespace {

void leaveOutPauses(schema::Report& report, const ServedRun& run)
{
    report.seconds -= run.pausedSeconds();
    for (schema::StageRecord& stage : report.stages)
        if (const auto paused = run.pausedIn().find(stage.index); paused != run.pausedIn().end())
            stage.seconds -= paused->second;
    report.notes.push_back("the run was paused for " + base::formatSeconds(run.pausedSeconds()) +
                           ", which the times do not include");
}

base::Error withWayOn(base::Error error, const pipeline::OutputFolder& folder)
{
    if (folder.keepsJournal() && error.hint.empty())
        error.hint = "finished work stays in the folder, and the next run into it resumes from there";
    return error;
}

}  // namespace

Run::Run(std::int64_t id, Document& document, RunRequest request, pipeline::OutputFolder folder, Notify notify,
         base::ProgressFn progress)
    : m_id(id),
      m_document(document),
      m_request(std::move(request)),
      m_output(std::move(folder)),
      m_folder(m_output.path()),
      m_notify(std::move(notify)),
      m_progress(std::move(progress)),
      m_gate(m_request.paused)
{}

Run::~Run()
{
    cancel();
    if (m_thread.joinable()) m_thread.join();
}

void Run::begin()
{
    if (!m_thread.joinable()) m_thread = std::thread([this] { body(); });
}

base::Error startedWithout()
{
    return base::makeError(base::ErrorCode::Usage, "this run was started without breakpoints",
                           "stop it and start it again with breakpoints");
}

std::shared_ptr<const debugger::Stopped> Run::stopped()
{
    const std::lock_guard lock(m_mutex);
    return m_stopped;
}

base::Status Run::setBreakpoints(const std::vector<debugger::Breakpoint>& breakpoints)
{
    const std::lock_guard lock(m_mutex);
    if (!m_request.breakpoints) return tl::unexpected(startedWithout());
    if (m_stepping) return m_stepping->setBreakpoints(breakpoints);
    m_request.breakpoints = breakpoints;
    return {};
}

// Includes breakpoints that were set while the run was being prepared.
base::Status Run::prepareStepping(ServedRun& observer)
{
    const std::lock_guard lock(m_mutex);
    if (!m_request.breakpoints) return {};
    auto stepping = debugger::Stepping::make(
        m_document.prepared.analysis, m_request.plan.plan, *m_request.breakpoints,
        [this] { return m_gate.ended(protocol::RunStep::Operator); },
        [this, &observer](debugger::Stopped stopped) { stop(std::move(stopped), observer); });
    if (!stepping) return base::forward(stepping);
    m_stepping = std::move(*stepping);
    m_request.execution.probe = &m_stepping->probe();
    return {};
}

void Run::stop(debugger::Stopped stopped, ServedRun& observer)
{
    m_gate.pause();
    const auto kept = std::make_shared<const debugger::Stopped>(std::move(stopped));
    {
        const std::lock_guard lock(m_mutex);
        m_stopped = kept;
    }
    const schema::TensorSummary& record = kept->tensor.record;
    observer.stoppedAt({.op = ir::opName(record.place.op),
                        .value = ir::valueName(record.place.value),
                        .stage = record.stage.value_or(plan::StageId(1)),
                        .batch = record.batch->number,
                        .breakpoint = kept->breakpoint});
    const std::lock_guard lock(m_mutex);
    m_stopped.reset();
}

// The folder is removed, or has its results, before the client hears of the end.
void Run::body()
{
    EventFeed feed(m_id, [this](const protocol::RunEvents& e) { m_notify("run/events", protocol::writeEvents(e)); });
    base::Result<schema::Report> report = caught([&] { return carryOut(std::move(m_output), feed); });
    feed.finish();
    protocol::RunFinished finished;
    finished.run = m_id;
    finished.folder = m_folder;
    if (report) finished.report = std::move(*report);
    else finished.error = report.error();
    m_finished = true;
    m_notify("run/finished", protocol::writeFinished(finished));
}

base::Result<std::vector<std::string>> Run::prepareNotes()
{
    m_progress({"hashing the data", 0, 0});
    const graph::DataFacts facts = graph::examine(m_document.prepared.inputs);
    m_dataHash = facts.hash;
    for (const auto& [name, count] : facts.notFinite) m_request.execution.notFinite.push_back(name);
    return pipeline::finiteNotes(m_document.prepared, facts.notFinite, m_request.execution.settings.nan);
}

// The journal of a run that can be resumed; none for others. A journal of another plan is refused.
base::Result<std::unique_ptr<pipeline::RunJournal>> Run::journalIn(pipeline::OutputFolder& folder)
{
    if (!m_request.execution.settings.resume) return nullptr;
    const pipeline::Prepared& prepared = m_document.prepared;
    base::Result<pipeline::Conditions> conditions =
        pipeline::conditionsOf(prepared, {}, m_request.execution.settings, m_request.plan.plan.device);
    if (!conditions) return base::forward(conditions);
    const std::string plan = schema::writePlan(m_request.plan.plan, prepared.analysis);
    conditions->insert_or_assign("plan", graph::digestOf(plan.data(), plan.size()).hex());
    conditions->insert_or_assign("data", m_dataHash);
    return pipeline::RunJournal::open(folder, *conditions);
}

base::Result<schema::Report> Run::carryOut(pipeline::OutputFolder folder, EventFeed& feed)
{
    base::Result<std::vector<std::string>> notes = prepareNotes();
    if (!notes) return base::forward(notes);
    ServedRun observer(feed, m_gate, m_stop.get_token(), m_request.execution.settings.verify != verify::Mode::None);
    RequestReporter reporter(m_progress, [&](const std::string& sentence) { observer.note(sentence); });
    if (folder.completed()) return pipeline::reportIn(folder);
    const base::Result<std::unique_ptr<pipeline::RunJournal>> journal = journalIn(folder);
    if (!journal) return base::forward(journal);
    m_request.execution.journal = journal->get();
    m_request.execution.folder = folder.journal();
    m_request.execution.given = &m_request.plan;
    if (const base::Status prepared = prepareStepping(observer); !prepared) return base::forward(prepared);
    const base::Result<pipeline::Execution> execution =
        pipeline::execute(m_document.prepared, m_request.execution, observer, reporter, m_stop.get_token());
    if (!execution) return tl::unexpected(withWayOn(execution.error(), folder));
    return pipeline::publish(*execution, describe(*execution, std::move(*notes), observer), folder);
}

schema::Report Run::describe(const pipeline::Execution& execution, std::vector<std::string> notes, const ServedRun& run)
{
    schema::Report report = pipeline::toReport(m_document.prepared, execution.plan, execution.run,
                                               m_request.execution.settings, execution.forecast);
    report.hashes["data"] = m_dataHash;
    report.notes.insert(report.notes.end(), notes.begin(), notes.end());
    if (run.pausedSeconds() > 0) leaveOutPauses(report, run);
    return report;
}

}  // namespace hopscope::engine
