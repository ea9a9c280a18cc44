#include <algorithm>

#include "cli/commands.h"
#include "cli/describe.h"
#include "pipeline/place.h"

namespace hopscope::engine {

namespace {

std::string documentText(const std::vector<pipeline::Placed>& all)
{
    if (all.size() == 1) return json::write(pipeline::placedDocument(all[0]), true);
    json::Value document;
    document["results"] = json::Value::array();
    for (const pipeline::Placed& placed : all) document["results"].push(pipeline::placedDocument(placed));
    return json::write(document, true);
}

bool isInfeasible(const pipeline::Placed& placed) { return placed.answer.status == optimiser::Status::Infeasible; }

}  // namespace

// 4 where an instance has no legal plan.
base::Result<int> execute(const PlaceCommand& command, Session& session)
{
    const base::Result<std::vector<pipeline::Placed>> all =
        pipeline::place(command.options, session.console, session.stop);
    if (!all) return base::forward(all);
    if (session.console.json()) session.console.print(documentText(*all));
    else
        for (const pipeline::Placed& placed : *all)
            session.console.print(describePlaced(placed, session.console.style()));
    return std::ranges::any_of(*all, isInfeasible) ? static_cast<int>(base::ErrorCode::Unsupported) : 0;
}

}  // namespace hopscope::engine
