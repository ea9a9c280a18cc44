#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/observers.h"
#include "pipeline/files/home.h"
#include "pipeline/publishing/against.h"
#include "pipeline/publishing/export_folder.h"
#include "pipeline/running/execute.h"

namespace hopscope::engine {

namespace {

std::string verdictText(const pipeline::Execution& execution, Console& console)
{
    if (console.json()) return schema::writeVerification(*execution.verdict, execution.check);
    return describeVerdict(*execution.verdict, console.style());
}

base::Result<int> compareFiles(const VerifyCommand& command, Session& session)
{
    const base::Result<pipeline::EngineHome> scratch = pipeline::EngineHome::make();
    if (!scratch) return base::forward(scratch);
    Console& console = session.console;
    ProgressObserver progress(console);
    const pipeline::AgainstRequest request{
        .model = command.model, .against = command.against, .settings = command.settings, .folder = scratch->path()};
    const auto comparison = pipeline::compareAgainst(request, progress, console, session.stop);
    if (!comparison) return base::forward(comparison);
    console.print(console.json() ? schema::writeComparison(*comparison)
                                 : describeComparison(*comparison, console.style()));
    return pipeline::exitCodeOf(*comparison);
}

}  // namespace

base::Result<int> execute(const VerifyCommand& command, Session& session)
{
    if (!command.against.empty()) return compareFiles(command, session);
    base::Result<pipeline::Prepared> prepared = pipeline::prepare(command.model, false, session.console);
    if (!prepared) return base::forward(prepared);
    pipeline::hashInputs(*prepared, session.console);
    pipeline::noteReassociations(*prepared);
    pipeline::tellNotes(*prepared, session.console);
    const base::Result<pipeline::EngineHome> scratch = pipeline::EngineHome::make();
    if (!scratch) return base::forward(scratch);
    pipeline::PlanSource plan = command.plan;
    if (!command.schema.empty()) {
        const base::Status holds =
            pipeline::checkExported(*prepared, command.schema, scratch->path(), session.console, session.stop);
        if (!holds) return base::forward(holds);
        plan.file = command.schema + "/plan.json";
    }
    ProgressObserver progress(session.console);
    const pipeline::ExecutionRequest request{.plan = plan, .settings = command.settings, .folder = scratch->path()};
    const base::Result<pipeline::Execution> execution =
        pipeline::execute(*prepared, request, progress, session.console, session.stop);
    if (!execution) return base::forward(execution);
    session.console.print(verdictText(*execution, session.console));
    return pipeline::exitCodeOf(execution->verdict);
}

}  // namespace hopscope::engine
