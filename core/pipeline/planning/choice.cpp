#include "pipeline/planning/choice.h"

#include <span>

#include "base/sha256.h"
#include "graph/file.h"
#include "pipeline/files/text_file.h"
#include "pipeline/machine/devices.h"
#include "pipeline/machine/machine.h"
#include "pipeline/planning/best_device.h"
#include "pipeline/planning/memory_fit.h"
#include "schema/documents.h"
#include "schema/pins.h"

namespace hopscope::pipeline {

namespace {

base::Result<plan::Plan> readPlanFile(const Prepared& prepared, const std::string& file)
{
    const base::Result<std::string> text = readText(file);
    if (!text) return base::forward(text);
    return schema::readPlan(*text, prepared.analysis, file, prepared.hashes);
}

base::Result<std::vector<plan::Pin>> readPinsFile(const Prepared& prepared, const std::string& file)
{
    if (file.empty()) return std::vector<plan::Pin>();
    const base::Result<std::string> text = readText(file);
    if (!text) return base::forward(text);
    const base::Result<graph::MappedFile> model = graph::mapFile(prepared.model.info().path);
    if (!model) return base::forward(model);
    const std::span bytes(model->data, static_cast<std::size_t>(model->size));
    return schema::readPinsFile(*text, prepared.analysis, file, base::sha256(bytes));
}

base::Result<PlanAnswer> planFromFile(const Prepared& prepared, const std::string& file, const base::Settings& settings)
{
    base::Result<plan::Plan> plan = readPlanFile(prepared, file);
    if (!plan) return base::forward(plan);
    std::vector<std::string> notes;
    if (const base::Status fits = fitPlan(*plan, settings, notes); !fits) return base::forward(fits);
    return PlanAnswer{std::move(*plan), std::move(notes)};
}

base::Result<PlanAnswer> makePlan(const Prepared& prepared, forecast::Predictor& predictor, const PlanSource& source,
                                  const base::Settings& settings, Reporter& reporter, const std::stop_token& stop)
{
    const base::Result<PlanRequest> request = requestFor(prepared, source, settings);
    if (!request) return base::forward(request);
    const base::ProgressFn progress = progressOf(reporter);
    if (!choosesDevice(prepared, settings.device, *request))
        return planFor(prepared, predictor, *request, progress, stop);
    base::Result<DeviceChoice> choice =
        chooseDevice({prepared, predictor, *request, progress, stop}, startSeconds(request->device));
    if (!choice) return base::forward(choice);
    choice->answer.notes.push_back(choice->note);
    return std::move(choice->answer);
}

}  // namespace

forecast::PredictOptions limitsOf(const base::Settings& settings, std::optional<std::int64_t> batch)
{
    return {.batch = batch,
            .memory = settings.memory,
            .fuse = settings.fuse,
            .store = settings.store,
            .journal = settings.resume};
}

base::Status fitPlan(plan::Plan& plan, const base::Settings& settings, std::vector<std::string>& notes)
{
    if (base::Status placed = placePlan(plan, settings.device, notes); !placed) return placed;
    if (settings.batch) plan.batch = settings.batch;
    return checkHostMemory(plan, settings.hostMemory);
}

base::Result<std::string> deviceOf(const Prepared& prepared, const PlanSource& source, const base::Settings& settings)
{
    const bool free = settings.device == "auto" && !source.file.empty();
    // A file that is no plan of this model is refused where the plan is used.
    base::Result<plan::Plan> plan = free ? readPlanFile(prepared, source.file) : plan::Plan();
    if (!free || !plan) return executor::resolveDevice(settings.device);
    std::vector<std::string> notes;
    if (const base::Status placed = placePlan(*plan, settings.device, notes); !placed) return base::forward(placed);
    return plan->device;
}

base::Result<PlanRequest> requestFor(const base::Settings& settings, std::vector<plan::Pin> pins)
{
    const base::Result<std::string> resolved = executor::resolveDevice(settings.device);
    if (!resolved) return base::forward(resolved);
    return PlanRequest{.strategy = settings.strategy,
                       .objective = settings.objective,
                       .pins = std::move(pins),
                       .device = *resolved,
                       .limits = limitsOf(settings, settings.batch),
                       .hostMemory = settings.hostMemory,
                       .stages = settings.stages,
                       .deadline = settings.deadline};
}

base::Result<PlanRequest> requestFor(const Prepared& prepared, const PlanSource& source, const base::Settings& settings)
{
    base::Result<std::vector<plan::Pin>> pins = readPinsFile(prepared, source.pins);
    if (!pins) return base::forward(pins);
    return requestFor(settings, std::move(*pins));
}

base::Result<PlanAnswer> choosePlan(const Prepared& prepared, forecast::Predictor& predictor, const PlanSource& source,
                                    const base::Settings& settings, Reporter& reporter, const std::stop_token& stop)
{
    if (prepared.analysis.refusal) return tl::unexpected<base::Error>(*prepared.analysis.refusal);
    base::Result<PlanAnswer> answer = source.file.empty()
                                          ? makePlan(prepared, predictor, source, settings, reporter, stop)
                                          : planFromFile(prepared, source.file, settings);
    reporter.progressEnded();
    if (answer)
        for (const std::string& note : answer->notes) reporter.note(note);
    return answer;
}

base::Status lookAhead(ChosenPlan& chosen, const Prepared& prepared, forecast::Predictor& predictor,
                       const base::Settings& settings, Learning learning, const std::stop_token& stop)
{
    const KnownMachine machine = knownMachine(chosen.plan.device);
    if (const std::string note = noteOf(machine); !note.empty()) chosen.notes.push_back(note);
    const forecast::PredictOptions limits = limitsOf(settings, chosen.plan.batch);
    base::Result<forecast::Forecast> forecast = forecastOf(prepared, predictor, chosen.plan, limits, stop);
    if (!forecast) return {};
    chosen.forecast = std::move(*forecast);
    if (auto fits = checkMemory(chosen.plan, chosen.forecast->prediction, predictor, limits, stop); !fits) return fits;
    if (!machine.measured || learning == Learning::No) return {};
    auto expected = expectedSeconds(prepared, predictor, chosen.plan, machine.rates, limits, stop);
    if (!expected) return {};
    expected->stages = chosen.forecast->seconds();
    chosen.expected = *expected;
    return {};
}

base::Result<ChosenPlan> choosePlan(const Prepared& prepared, const std::string& scratchFolder,
                                    const PlanSource& source, const base::Settings& settings, Reporter& reporter,
                                    const std::stop_token& stop)
{
    std::optional<graph::ScratchScope> scratch;  // without a limit, the run reuses memory that the predictor frees
    if (settings.memory) scratch.emplace(true);
    forecast::Predictor predictor(prepared.walk, prepared.analysis, prepared.inputs, scratchFolder, settings.cache);
    base::Result<PlanAnswer> answer = choosePlan(prepared, predictor, source, settings, reporter, stop);
    if (!answer) return base::forward(answer);
    ChosenPlan chosen{.plan = std::move(answer->plan)};
    const Learning learning = source.file.empty() ? Learning::Yes : Learning::No;
    if (const base::Status fits = lookAhead(chosen, prepared, predictor, settings, learning, stop); !fits)
        return base::forward(fits);
    chosen.structure = predictor.takeStructure();
    return chosen;
}

}  // namespace hopscope::pipeline
