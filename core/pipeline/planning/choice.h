#pragma once

// Chooses the plan of a run, which it reads from a file or makes.

#include "pipeline/planning/planner.h"
#include "pipeline/planning/refine.h"

namespace hopscope::pipeline {

// Returns the limits for predictions of a run with these settings, in batches of `batch` destinations (nullopt: chosen
// to fit into memory).
forecast::PredictOptions limitsOf(const base::Settings& settings, std::optional<std::int64_t> batch);

// Sets the device and the batch of the plan to those of the settings, as far as these state them. Fails if the device
// cannot be used, or if the plan's stores need too much memory.
base::Status fitPlan(plan::Plan& plan, const base::Settings& settings, std::vector<std::string>& notes);

// Returns the device that a run with these options uses: a plan in a file names one, in case the settings do not.
base::Result<std::string> deviceOf(const Prepared& prepared, const PlanSource& source, const base::Settings& settings);

// Return the request for a plan with these settings, a resolved device, and the given pins or those of the file.
base::Result<PlanRequest> requestFor(const base::Settings& settings, std::vector<plan::Pin> pins);
base::Result<PlanRequest> requestFor(const Prepared& prepared, const PlanSource& source,
                                     const base::Settings& settings);

// Reads or makes the plan for the resolved device, and reports notes. Call hashInputs() first.
base::Result<PlanAnswer> choosePlan(const Prepared& prepared, forecast::Predictor& predictor, const PlanSource& source,
                                    const base::Settings& settings, Reporter& reporter, const std::stop_token& stop);

struct ChosenPlan {
    plan::Plan plan;
    std::optional<WorkSeconds> expected{};  // if the plan was made here and the rates of the device were measured
    std::vector<std::string> notes{};       // not yet reported
    std::optional<forecast::Forecast> forecast{};      // if there could be one
    std::shared_ptr<executor::Structure> structure{};  // the structure of the graph, as far as the choice needed it
};

// Whether the run of a plan refines the rates of the machine. Plans of unknown origin must not refine them.
enum class Learning : std::uint8_t { No, Yes };

// Adds the forecast of the plan, the expected times if the run refines measured rates, and a note if measured rates
// cannot be used. Omits the forecast and the times if there can be no forecast; the run then reports the reason in more
// detail. Fails as checkMemory() does.
base::Status lookAhead(ChosenPlan& chosen, const Prepared& prepared, forecast::Predictor& predictor,
                       const base::Settings& settings, Learning learning, const std::stop_token& stop);

// Chooses the plan with a new predictor, and adds the forecast. The run can use the predictor's structure of the graph.
base::Result<ChosenPlan> choosePlan(const Prepared& prepared, const std::string& scratchFolder,
                                    const PlanSource& source, const base::Settings& settings, Reporter& reporter,
                                    const std::stop_token& stop);

}  // namespace hopscope::pipeline
