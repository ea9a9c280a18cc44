#include "commands.h"
#include "describe.h"
#include "outputs.h"
#include "pipeline.h"
#include "prediction.h"
#include "schema/documents.h"
#include "server_home.h"

namespace hopscope::engine {

namespace {

// What the plan will move and hold, from the graph.
base::Result<executor::Prediction> predict(const Prepared& prepared, const plan::Plan& plan,
                                           const DeviceOptions& device, Session& session)
{
    const base::Result<EngineHome> scratch = EngineHome::make();
    if (!scratch) return base::forward(scratch);
    session.console.progress({"looking at the graph", 0, 0});
    executor::Predictor predictor(prepared.walk, prepared.analysis, prepared.inputs, scratch->path());
    base::Result<executor::Prediction> prediction = predictor.predict(plan, {plan.batch, device.memory}, session.stop);
    session.console.clearProgress();
    return prediction;
}

// A plan is a plan without its figures, too.
base::Status addPrediction(Prepared& prepared, plan::Plan& plan, const DeviceOptions& device, Session& session)
{
    const base::Result<executor::Prediction> prediction = predict(prepared, plan, device, session);
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
    base::Result<plan::Plan> plan = choosePlan(*prepared, command.plan, command.device);
    if (!plan) return base::forward(plan);
    if (const base::Status done = addPrediction(*prepared, *plan, command.device, session); !done)
        return base::forward(done);
    const std::string text = schema::writePlan(*plan, prepared->analysis);
    if (!command.output.empty())
        if (const base::Status written = writeTextFile(text, command.output); !written) return base::forward(written);
    for (const std::string& note : prepared->notes) session.console.note(note);
    session.console.print(session.console.json() ? text : describeModel(*prepared, &*plan, session.console.style()));
    return 0;
}

}  // namespace hopscope::engine
