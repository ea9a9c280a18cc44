#include <QTime>

#include "jobs/workbench_state.h"

namespace hopscope::jobs {

void Workbench::Impl::notified(const QString& method, const json::Value& params)
{
    if (method == u"run/events") events(params);
    else if (method == u"run/finished") finished(params);
}

void Workbench::Impl::events(const json::Value& params)
{
    const auto events = protocol::readEvents(params);
    if (!events) return fail(Workbench::tr("Reading events of the run"), events.error());
    if (!run || events->run != *run) return;
    const auto before = log->state();
    log->apply(*events);
    if (log->state() != before) emit bench.runStateChanged();
}

void Workbench::Impl::finished(const json::Value& params)
{
    const auto finished = protocol::readFinished(params);
    if (!finished) {
        fail(Workbench::tr("Reading the report"), finished.error());
        return runEnded();
    }
    if (!run || finished->run != *run) return;
    runEnded();
    if (finished->report) addRun(*finished);
    else if (finished->error && finished->error->code != base::ErrorCode::Cancelled)
        fail(Workbench::tr("Running"), *finished->error);
    emit bench.runFinished();
}

void Workbench::Impl::runAnswered(const base::Result<json::Value>& result)
{
    if (!starting) return;  // the engine has died meanwhile
    const json::Value* number = result ? result->find("run") : nullptr;
    if (!number || !number->asInt()) {
        runEnded();
        const base::Error unclear = base::makeError(base::ErrorCode::Internal, "the engine did not number the run");
        if (engine.state() == EngineState::Ready) fail(Workbench::tr("Running"), result ? unclear : result.error());
        return;
    }
    starting = false;
    run = lastRun = *number->asInt();
    emit bench.runStateChanged();
    const QString unit = std::exchange(stepWanted, {});
    if (stopWanted) bench.stopRun();
    else if (!unit.isEmpty()) bench.step(unit);
}

void Workbench::Impl::runEnded()
{
    if (!run && !starting) return;
    run.reset();
    starting = false;
    stepWanted.clear();
    if (log) log->finish();
    emit bench.runStateChanged();
}

void Workbench::Impl::addRun(const protocol::RunFinished& finished)
{
    models::FinishedRun entry;
    entry.title = Workbench::tr("run %1, %2").arg(++runCount).arg(QTime::currentTime().toString(u"HH:mm"));
    entry.report = std::make_shared<const schema::Report>(*finished.report);
    entry.log = log;
    entry.reportText = QString::fromStdString(finished.reportText);
    document.addRun(std::move(entry));
}

void Workbench::Impl::control(const QString& method, json::Value params)
{
    if (!run) return;
    params["run"] = *run;
    engine.request(method, std::move(params), &bench, [this, method](const base::Result<json::Value>& result) {
        // A run that has ended meanwhile is no mistake of the user's.
        if (!result && run && engine.state() == EngineState::Ready) fail(method, result.error());
    });
}

}  // namespace hopscope::jobs
