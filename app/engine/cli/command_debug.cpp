#include <filesystem>

#include "cli/commands.h"
#include "cli/describe.h"
#include "pipeline/files/home.h"
#include "pipeline/planning/stage_memory.h"

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

constexpr std::int64_t rowsAtFirst = 20;  // the number shown by default

base::Result<int> show(const DebugCommand& command, const pipeline::Prepared& prepared, const plan::Plan& plan,
                       const std::string& folder, Session& session)
{
    Console& console = session.console;
    base::Result<debugger::SeenTensor> seen =
        pipeline::seeTensor(prepared, plan, command.show, command.options, folder, console, session.stop);
    if (!seen) return base::forward(seen);
    const std::string& file = command.request.output;
    if (const base::Status saved = file.empty() ? base::Status() : debugger::saveTensor(*seen, file); !saved)
        return base::forward(saved);
    schema::TensorSummary& record = seen->record;
    record.file = file;
    const bool chosen = command.show.rows || !command.show.nodes.empty();
    const std::int64_t rows = std::min(record.count, chosen ? schema::mostRowsOfTensor : rowsAtFirst);
    base::Result<executor::UnsplitValues> tables = pipeline::tablesOf(prepared, folder);
    if (!tables) return base::forward(tables);
    auto shown = debugger::shownRows(prepared.analysis, *seen, 0, rows, schema::mostNumbersOfRow, *tables);
    if (!shown) return base::forward(shown);
    record.shown = std::move(*shown);
    console.print(console.json() ? schema::writeTensor(record) : describeTensor(record, console.style()));
    return 0;
}

base::Result<int> showMemory(const DebugCommand& command, const pipeline::Prepared& prepared, const plan::Plan& plan,
                             const std::string& folder, Session& session)
{
    forecast::Predictor predictor(prepared.walk, prepared.analysis, prepared.inputs, folder);
    forecast::PredictOptions limits;
    limits.batch = command.options.batch;
    const auto memory =
        pipeline::stageMemory(prepared, predictor, plan, plan::StageId(*command.memoryOf), limits, session.stop);
    if (!memory) return base::forward(memory);
    session.console.print(session.console.json() ? json::write(schema::stageMemoryValue(*memory), true) + "\n"
                                                 : describeStageMemory(*memory, session.console.style()));
    return 0;
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
    if (command.memoryOf) return showMemory(command, *prepared, *plan, folder, session);
    if (command.nan)
        return shown(pipeline::findNonFinite(*prepared, *plan, options, folder, console, session.stop), session);
    if (!command.show.place.empty()) return show(command, *prepared, *plan, folder, session);
    if (command.request.breakpoints.empty() && command.request.values.empty() && command.request.aggregations.empty())
        return shown(pipeline::compareStaged(*prepared, *plan, options, folder, console, session.stop), session);
    return shown(pipeline::watchValues(*prepared, *plan, command.request, options, folder, console, session.stop),
                 session);
}

}  // namespace hopscope::engine
