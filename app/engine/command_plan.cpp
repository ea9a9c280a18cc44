#include "commands.h"
#include "describe.h"
#include "outputs.h"
#include "planner.h"
#include "prediction.h"
#include "schema/documents.h"
#include "server_home.h"

namespace hopscope::engine {

namespace {

// A plan is a plan without its figures, too.
base::Status addPrediction(Prepared& prepared, executor::Predictor& predictor, plan::Plan& plan,
                           const DeviceOptions& device, Session& session)
{
    session.console.progress({"looking at the graph", 0, 0});
    const auto prediction = predictor.predict(plan, {plan.batch, device.memory}, session.stop);
    session.console.clearProgress();
    if (prediction) fillPlan(plan, *prediction);
    else if (prediction.error().code == base::ErrorCode::Cancelled) return base::forward(prediction);
    else prepared.notes.push_back("what the plan moves is not known: " + base::describe(prediction.error()));
    return {};
}

}  // namespace

base::Result<int> execute(const PlanCommand& command, Session& session)
{
    base::Result<Prepared> prepared = prepare(command.model, false, session);
    if (!prepared) return base::forward(prepared);
    hashInputs(*prepared, session);
    const base::Result<EngineHome> scratch = EngineHome::make();
    if (!scratch) return base::forward(scratch);
    if (const base::Status settled = settleBranches(*prepared, scratch->path(), session); !settled)
        return base::forward(settled);
    executor::Predictor predictor(prepared->walk, prepared->analysis, prepared->inputs, scratch->path());
    base::Result<plan::Plan> plan = choosePlan(*prepared, predictor, command.plan, command.device, session);
    if (!plan) return base::forward(plan);
    if (const base::Status done = addPrediction(*prepared, predictor, *plan, command.device, session); !done)
        return base::forward(done);
    const std::string text = schema::writePlan(*plan, prepared->analysis);
    if (!command.output.empty())
        if (const base::Status written = writeTextFile(text, command.output); !written) return base::forward(written);
    for (const std::string& note : prepared->notes) session.console.note(note);
    session.console.print(session.console.json() ? text : describeModel(*prepared, &*plan, session.console.style()));
    return 0;
}

}  // namespace hopscope::engine
