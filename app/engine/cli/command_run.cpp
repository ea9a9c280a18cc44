#include "base/ending.h"
#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/observers.h"
#include "pipeline/machine/machine.h"

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

// --quiet keeps the verdict and the sentence about results that are not finite.
std::string textOf(const schema::Report& report, const Console& console)
{
    if (console.json()) return schema::writeReport(report);
    if (console.quiet()) return describeOutcome(report, console.style());
    return describeRun(report, console.style(),
                       {.rates = pipeline::knownMachine(report.device).measured, .phases = console.verbose()});
}

}  // namespace

base::Result<int> execute(const RunCommand& command, Session& session)
{
    pipeline::OutputFolder& folder = *session.outputs.run;
    const base::BeforeEnding abandon([&] { folder.abandon(); });
    Watchers watchers(session.console);
    if (const base::Status traced = watchers.openTrace(command.trace); !traced) return base::forward(traced);
    const base::Result<pipeline::Evaluation> done =
        pipeline::evaluate(command, folder, watchers.all, session.console, session.stop);
    if (!done) return base::forward(done);
    if (watchers.trace)
        if (const base::Status traced = watchers.trace->publish(); !traced) return base::forward(traced);
    session.console.print(textOf(done->report, session.console));
    return pipeline::exitCodeOf(done->verdict);
}

}  // namespace hopscope::engine
