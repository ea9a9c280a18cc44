#include "cli/commands.h"
#include "cli/describe.h"
#include "pipeline/debugging/receptive_field.h"
#include "pipeline/files/home.h"

namespace hopscope::engine {

base::Result<int> execute(const ReceptiveFieldCommand& command, Session& session)
{
    base::Result<pipeline::Prepared> prepared = pipeline::prepare(command.model, false, session.console);
    if (!prepared) return base::forward(prepared);
    pipeline::tellNotes(*prepared, session.console);
    const base::Result<pipeline::EngineHome> scratch = pipeline::EngineHome::make();
    if (!scratch) return base::forward(scratch);
    const base::Status settled = pipeline::settleBranches(*prepared, scratch->path(), session.console, session.stop);
    if (!settled) return base::forward(settled);
    const base::Result<schema::ReceptiveField> field =
        pipeline::receptiveField(*prepared, command.request, scratch->path(), session.console, session.stop);
    if (!field) return base::forward(field);
    session.console.print(session.console.json() ? schema::writeReceptiveField(*field)
                                                 : describeReceptiveField(*field, session.console.style()));
    return 0;
}

}  // namespace hopscope::engine
