#include "commands.h"
#include "describe.h"
#include "pipeline.h"
#include "placement/strategy.h"
#include "schema/inspect.h"

namespace hopscope::engine {

namespace {

// No plan where the model cannot be split; the reason is among the lints.
base::Result<std::optional<plan::Plan>> depthPlan(Prepared& prepared)
{
    if (prepared.analysis.refusal) return std::nullopt;
    base::Result<plan::Plan> plan = placement::makePlan(prepared.analysis, placement::Strategy::Depth);
    if (!plan && plan.error().code != base::ErrorCode::Unsupported) return base::forward(plan);
    if (!plan) {
        prepared.analysis.refusal = plan.error();
        prepared.analysis.lints.push_back({"no-split", base::describe(plan.error()), {}, true});
        return std::nullopt;
    }
    schema::fillBytes(*plan, prepared.analysis, prepared.sizes);
    return std::optional(std::move(*plan));
}

schema::InspectSubject subjectOf(const Prepared& prepared, const plan::Plan* plan)
{
    const loader::ModelInfo& info = prepared.model.info();
    return {&prepared.analysis, plan,        &prepared.schema,      prepared.sizes,  info.path,
            info.className,     info.traced, !info.repairs.empty(), prepared.hashes, prepared.notes};
}

}  // namespace

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
