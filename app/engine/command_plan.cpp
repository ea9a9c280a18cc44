#include "commands.h"
#include "describe.h"
#include "outputs.h"
#include "pipeline.h"
#include "schema/documents.h"

namespace hopscope::engine {

base::Result<int> execute(const PlanCommand& command, Session& session)
{
    base::Result<Prepared> prepared = prepare(command.model, false, session);
    if (!prepared) return base::forward(prepared);
    hashInputs(*prepared, session);
    const base::Result<plan::Plan> plan = choosePlan(*prepared, command.plan, command.device);
    if (!plan) return base::forward(plan);
    const std::string text = schema::writePlan(*plan, prepared->analysis);
    if (!command.output.empty())
        if (const base::Status written = writeTextFile(text, command.output); !written) return base::forward(written);
    for (const std::string& note : prepared->notes) session.console.note(note);
    session.console.print(session.console.json() ? text : describeModel(*prepared, &*plan, session.console.style()));
    return 0;
}

}  // namespace hopscope::engine
