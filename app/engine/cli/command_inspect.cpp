#include "cli/commands.h"
#include "cli/describe.h"
#include "pipeline/opening/inspection.h"

namespace hopscope::engine {

base::Result<int> execute(const InspectCommand& command, Session& session)
{
    base::Result<pipeline::Prepared> prepared = pipeline::prepare(command.model, true, session.console);
    if (!prepared) return base::forward(prepared);
    const base::Result<std::optional<plan::Plan>> plan = pipeline::depthPlan(*prepared);
    if (!plan) return base::forward(plan);
    const plan::Plan* const chosen = plan->has_value() ? &**plan : nullptr;
    for (const std::string& note : prepared->notes) session.console.note(note);  // here also the minor ones
    session.console.print(session.console.json() ? schema::writeInspect(pipeline::subjectOf(*prepared, chosen))
                                                 : describeModel(*prepared, chosen, session.console.style()));
    return 0;
}

}  // namespace hopscope::engine
