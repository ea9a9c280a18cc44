#include <filesystem>

#include "cli/commands.h"
#include "cli/describe.h"
#include "pipeline/home.h"

namespace hopscope::engine {

namespace {

template <class Report>
base::Result<int> shown(const base::Result<Report>& found, Session& session)
{
    if (!found) return base::forward(found);
    session.console.print(session.console.json() ? schema::writeFindings(*found)
                                                 : describeFindings(*found, session.console.style()));
    return 0;
}

base::Status makeFolder(const std::string& path)
{
    std::error_code problem;
    if (!path.empty()) std::filesystem::create_directories(path, problem);
    if (!problem) return {};
    return base::fail(base::ErrorCode::Input, path + ": " + problem.message());
}

}  // namespace

base::Result<int> execute(const DebugCommand& command, Session& session)
{
    base::Result<pipeline::Prepared> prepared = pipeline::prepare(command.model, false, session.console);
    if (!prepared) return base::forward(prepared);
    pipeline::tellNotes(*prepared, session.console);
    const base::Result<pipeline::EngineHome> scratch = pipeline::EngineHome::make();
    if (!scratch) return base::forward(scratch);
    const std::string& folder = scratch->path();
    Console& console = session.console;
    const base::Status settled = pipeline::settleBranches(*prepared, folder, console, session.stop);
    if (!settled) return base::forward(settled);
    const pipeline::DebugOptions& options = command.options;
    if (!options.against.empty())
        return shown(pipeline::compareModels(*prepared, command.model, options, folder, console, session.stop),
                     session);
    const base::Result<plan::Plan> plan = pipeline::debugPlan(*prepared, options, folder, console, session.stop);
    if (!plan) return base::forward(plan);
    if (command.nan)
        return shown(pipeline::findNonFinite(*prepared, *plan, options, folder, console, session.stop), session);
    if (command.request.breakpoints.empty() && command.request.values.empty() && command.request.aggregations.empty())
        return shown(pipeline::compareStaged(*prepared, *plan, options, folder, console, session.stop), session);
    if (const base::Status made = makeFolder(command.request.output); !made) return base::forward(made);
    return shown(pipeline::watchValues(*prepared, *plan, command.request, options, folder, console, session.stop),
                 session);
}

}  // namespace hopscope::engine
