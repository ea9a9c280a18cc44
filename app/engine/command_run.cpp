#include "commands.h"
#include "describe.h"
#include "execute.h"
#include "observers.h"
#include "output_folder.h"
#include "publish.h"
#include "records.h"

namespace hopscope::engine {

namespace {

// The progress line, and the trace if one was asked for.
struct Watchers {
    explicit Watchers(Console& console) : progress(console) { all.add(progress); }

    base::Status openTrace(const std::string& path)
    {
        if (path.empty()) return {};
        base::Result<std::unique_ptr<TraceObserver>> opened = TraceObserver::create(path);
        if (!opened) return base::forward(opened);
        trace = std::move(*opened);
        all.add(*trace);
        return {};
    }

    ProgressObserver progress;
    std::unique_ptr<TraceObserver> trace;
    Observers all;
};

}  // namespace

base::Result<int> execute(const RunCommand& command, Session& session)
{
    base::Result<OutputFolder> folder = OutputFolder::open(command.output);
    if (!folder) return base::forward(folder);
    Watchers watchers(session.console);
    if (const base::Status traced = watchers.openTrace(command.trace); !traced) return base::forward(traced);
    base::Result<Prepared> prepared = prepare(command.model, false, session);
    if (!prepared) return base::forward(prepared);
    if (const base::Status finite = checkFinite(*prepared, command.nan); !finite) return base::forward(finite);
    hashInputs(*prepared, session);
    for (const std::string& note : prepared->notes) session.console.note(note);

    const ExecutionRequest request{command.plan, command.device, command.verify, folder->journal()};
    const base::Result<Execution> execution = execute(*prepared, request, watchers.all, session);
    if (!execution) return base::forward(execution);
    const base::Result<schema::Report> report =
        publish(*execution, toReport(*prepared, execution->plan, execution->run), *folder);
    if (!report) return base::forward(report);
    if (watchers.trace)
        if (const base::Status traced = watchers.trace->publish(); !traced) return base::forward(traced);
    if (session.console.json()) session.console.print(schema::writeReport(*report));
    else if (!session.console.quiet()) session.console.print(describeRun(*report, session.console.style()));
    return exitCodeOf(execution->verdict);
}

}  // namespace hopscope::engine
