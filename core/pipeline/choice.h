#pragma once

// Chooses the plan to run: reads it from a file, or makes one.

#include "pipeline/planner.h"
#include "pipeline/refine.h"

namespace hopscope::pipeline {

// The limits for predictions of a run with these settings, in batches of `batch` destinations (none: chosen by memory).
forecast::PredictOptions limitsOf(const base::Settings& settings, std::optional<std::int64_t> batch);

// Fits the plan to the device and the batch of the settings. Fails if the device cannot run it, or if its stores need
// too much memory.
base::Status fitPlan(plan::Plan& plan, const base::Settings& settings, std::vector<std::string>& notes);

// The request that a plan is made for, with the resolved device and the given pins or those of the file.
base::Result<PlanRequest> requestFor(const base::Settings& settings, std::vector<plan::Pin> pins);
base::Result<PlanRequest> requestFor(const Prepared& prepared, const PlanSource& source,
                                     const base::Settings& settings);

// Reads or makes the plan, for the resolved device; notes go to the reporter. Expects hashInputs.
base::Result<PlanAnswer> choosePlan(const Prepared& prepared, forecast::Predictor& predictor, const PlanSource& source,
                                    const base::Settings& settings, Reporter& reporter, const std::stop_token& stop);

struct ChosenPlan {
    plan::Plan plan;
    std::optional<WorkSeconds> expected{};  // of a plan that was made here, if the rates of the device were measured
    std::vector<std::string> notes{};       // not yet reported
    std::optional<forecast::Forecast> forecast{};      // where the plan could be forecast
    std::shared_ptr<executor::Structure> structure{};  // the structure of the graph, as far as the choice needed it
};

// Whether the run of a plan refines the rates of the machine. A plan of unknown origin must not.
enum class Learning : std::uint8_t { No, Yes };

// Adds the forecast of the plan and, if the machine was measured and refines its rates, the expected times. Omits both
// if the plan cannot be forecast: a run reports the reason in more detail. Fails like checkMemory().
base::Status lookAhead(ChosenPlan& chosen, const Prepared& prepared, forecast::Predictor& predictor,
                       const base::Settings& settings, Learning learning, const std::stop_token& stop);

// The same with a new predictor, whose structure of the graph the run uses.
base::Result<ChosenPlan> choosePlan(const Prepared& prepared, const std::string& scratchFolder,
                                    const PlanSource& source, const base::Settings& settings, Reporter& reporter,
                                    const std::stop_token& stop);

}  // namespace hopscope::pipeline
