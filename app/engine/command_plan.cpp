#include "commands.h"
#include "describe.h"
#include "explanation.h"
#include "outputs.h"
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

// The explanation for people; written to its file for everybody else.
base::Result<std::string> explained(const Prepared& prepared, executor::Predictor& predictor,
                                    const PlanCommand& command, const PlanAnswer& answer, Session& session)
{
    if (command.explain.empty()) return std::string();
    const base::Result<PlanRequest> request = requestFor(prepared, command.plan, command.device);
    if (!request) return base::forward(request);
    const auto explanation =
        explainPlan(prepared, predictor, *request, answer, session.console.progressFn(), session.stop);
    session.console.clearProgress();
    if (!explanation) return base::forward(explanation);
    const base::Status written =
        writeTextFile(json::write(explanationValue(*explanation), true) + "\n", command.explain);
    if (!written) return base::forward(written);
    return "\n" + describeExplanation(*explanation, prepared.analysis, session.console.style());
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
    base::Result<PlanAnswer> answer = choosePlan(*prepared, predictor, command.plan, command.device, session);
    if (!answer) return base::forward(answer);
    const base::Result<std::string> reasons = explained(*prepared, predictor, command, *answer, session);
    if (!reasons) return base::forward(reasons);
    plan::Plan* const plan = &answer->plan;
    if (const base::Status done = addPrediction(*prepared, predictor, *plan, command.device, session); !done)
        return base::forward(done);
    const std::string text = schema::writePlan(*plan, prepared->analysis);
    if (!command.output.empty())
        if (const base::Status written = writeTextFile(text, command.output); !written) return base::forward(written);
    for (const std::string& note : prepared->notes) session.console.note(note);
    session.console.print(session.console.json() ? text
                                                 : describeModel(*prepared, plan, session.console.style()) + *reasons);
    return 0;
}

}  // namespace hopscope::engine
