#include "cli/commands.h"
#include "cli/describe.h"
#include "executor/executor.h"
#include "pipeline/files/home.h"
#include "pipeline/files/text_file.h"
#include "pipeline/machine/machine.h"
#include "pipeline/planning/choice.h"
#include "pipeline/planning/memory_fit.h"
#include "pipeline/planning/prediction.h"
#include "pipeline/planning/walkthroughs.h"
#include "schema/documents.h"
#include "schema/walkthrough.h"

namespace hopscope::engine {

namespace {

// The predicted seconds; none on a machine that has not been measured, or if the graph cannot be read, which adds a note.
base::Result<std::optional<double>> addPrediction(pipeline::Prepared& prepared, forecast::Predictor& predictor,
                                                  plan::Plan& plan, const base::Settings& settings, Session& session)
{
    session.console.progress({"counting rows per batch", 0, 0});
    const forecast::PredictOptions limits = pipeline::limitsOf(settings, plan.batch);
    const auto forecast = pipeline::forecastOf(prepared, predictor, plan, limits, session.stop);
    session.console.progressEnded();
    if (!forecast && forecast.error().code == base::ErrorCode::Cancelled) return base::forward(forecast);
    if (!forecast) {
        prepared.notes.push_back("the data movement of the plan is unknown: " + base::describe(forecast.error()));
        return std::nullopt;
    }
    pipeline::fillPlan(plan, forecast->prediction);
    const base::Status fits = pipeline::checkMemory(plan, forecast->prediction, predictor, limits, session.stop);
    if (!fits) return base::forward(fits);
    if (!pipeline::knownMachine(plan.device).measured) return std::nullopt;
    return forecast->seconds();
}

// Returns the explanation as text for the terminal; also writes it to its file.
base::Result<std::string> explained(const pipeline::Prepared& prepared, forecast::Predictor& predictor,
                                    const PlanCommand& command, const pipeline::PlanAnswer& answer, Session& session)
{
    if (command.explain.empty()) return std::string();
    const base::Result<pipeline::PlanRequest> request = pipeline::requestFor(prepared, command.plan, command.settings);
    if (!request) return base::forward(request);
    const base::ProgressFn progress = pipeline::progressOf(session.console);
    const auto explanation = pipeline::explainPlan(
        {.prepared = prepared, .predictor = predictor, .request = *request, .progress = progress, .stop = session.stop},
        answer);
    session.console.progressEnded();
    if (!explanation) return base::forward(explanation);
    const base::Status written =
        pipeline::writeTextFile(json::write(schema::explanationValue(*explanation), true) + "\n", command.explain);
    if (!written) return base::forward(written);
    return "\n" + describeExplanation(*explanation, prepared.analysis, session.console.style());
}

// The same for the steps.
base::Result<std::string> stepByStep(const pipeline::Prepared& prepared, forecast::Predictor& predictor,
                                     const PlanCommand& command, Session& session)
{
    if (command.steps.empty()) return std::string();
    const base::Result<pipeline::PlanRequest> request = pipeline::requestFor(prepared, command.plan, command.settings);
    if (!request) return base::forward(request);
    const base::ProgressFn progress = pipeline::progressOf(session.console);
    const auto all = pipeline::walkthroughs({.prepared = prepared,
                                             .predictor = predictor,
                                             .request = *request,
                                             .progress = progress,
                                             .stop = session.stop});
    session.console.progressEnded();
    if (!all) return base::forward(all);
    const base::Status written =
        pipeline::writeTextFile(json::write(schema::walkthroughsValue(*all), true) + "\n", command.steps);
    if (!written) return base::forward(written);
    return "\n" + describeSteps(*all, prepared.analysis, session.console.style());
}

}  // namespace

base::Result<int> execute(const PlanCommand& command, Session& session)
{
    base::Result<pipeline::Prepared> prepared = pipeline::prepare(command.model, false, session.console);
    if (!prepared) return base::forward(prepared);
    pipeline::hashInputs(*prepared, session.console);
    const executor::Cores cores(command.settings.threads.value_or(0));
    const base::Result<pipeline::EngineHome> scratch = pipeline::EngineHome::make();
    if (!scratch) return base::forward(scratch);
    if (const base::Status settled =
            pipeline::settleBranches(*prepared, scratch->path(), session.console, session.stop);
        !settled)
        return base::forward(settled);
    forecast::Predictor predictor(prepared->walk, prepared->analysis, prepared->inputs, scratch->path());
    base::Result<pipeline::PlanAnswer> answer =
        pipeline::choosePlan(*prepared, predictor, command.plan, command.settings, session.console, session.stop);
    if (!answer) return base::forward(answer);
    PlanCommand settled = command;
    settled.settings.device = answer->plan.device;
    const base::Result<std::string> reasons = explained(*prepared, predictor, settled, *answer, session);
    if (!reasons) return base::forward(reasons);
    const base::Result<std::string> steps = stepByStep(*prepared, predictor, settled, session);
    if (!steps) return base::forward(steps);
    plan::Plan* const plan = &answer->plan;
    const base::Result<std::optional<double>> seconds =
        addPrediction(*prepared, predictor, *plan, command.settings, session);
    if (!seconds) return base::forward(seconds);
    const std::string text = schema::writePlan(*plan, prepared->analysis);
    if (!command.output.empty())
        if (const base::Status written = pipeline::writeTextFile(text, command.output); !written)
            return base::forward(written);
    pipeline::tellNotes(*prepared, session.console);
    const Style& style = session.console.style();
    session.console.print(session.console.json() ? text
                                                 : describeModel(*prepared, plan, style, *seconds) + *reasons + *steps);
    return 0;
}

}  // namespace hopscope::engine
