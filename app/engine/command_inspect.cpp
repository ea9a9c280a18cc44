#include "commands.h"
#include "describe.h"
#include "inspection.h"

namespace hopscope::engine {

base::Result<int> execute(const InspectCommand& command, Session& session)
{
    base::Result<Prepared> prepared = prepare(command.model, true, session);
    if (!prepared) return base::forward(prepared);
    const base::Result<std::optional<plan::Plan>> plan = depthPlan(*prepared);
    if (!plan) return base::forward(plan);
    const plan::Plan* const chosen = plan->has_value() ? &**plan : nullptr;
    for (const std::string& note : prepared->notes) session.console.note(note);
    session.console.print(session.console.json() ? schema::writeInspect(subjectOf(*prepared, chosen))
                                                 : describeModel(*prepared, chosen, session.console.style()));
    return 0;
}

}  // namespace hopscope::engine
