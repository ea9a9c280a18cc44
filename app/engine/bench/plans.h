#pragma once

// `bench plans`: what each strategy's plan was predicted to cost and move, and what it did, in one process and one report.

#include <cstdint>
#include <numeric>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "executor/forecast/predict.h"
#include "pipeline/options.h"
#include "pipeline/reporter.h"
#include "plan/plan.h"

namespace hopscope::engine {

struct BenchPlansOptions {
    pipeline::ModelOptions model;
    base::Settings settings;
    int repeat = 3;
};

struct MeasuredPlan {
    std::string name;
    plan::Plan plan;
    std::vector<double> predictedStages{}, stages{};  // seconds
    std::vector<double> coreStages{};                 // seconds of cores: on a busy machine the better measure
    std::vector<forecast::StageTime> bounds{};
    plan::Bytes predictedBytes{}, bytes{};
    std::vector<std::int64_t> predictedPeaks{}, peaks{};            // bytes held at most, by stage
    std::vector<std::vector<std::optional<std::int64_t>>> sizes{};  // of batches, by stage and loop, where predicted
    std::vector<std::int64_t> predictedBatches{};                   // by stage
    bool sameBatches = false;                                       // as predicted: then bytes have to be, too

    [[nodiscard]] double predicted() const { return sum(predictedStages); }
    [[nodiscard]] double seconds() const { return sum(stages); }
    static double sum(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
};

// Makes the plan of every strategy and objective and runs each `options.repeat` times (without verification; in turn, so that
// a machine that slows down slows down all); the best run counts.
base::Result<std::vector<MeasuredPlan>> benchPlans(const BenchPlansOptions& options, pipeline::Reporter& reporter,
                                                   const std::stop_token& stop);

// True if no plan that was predicted to be faster was slower by more than a tenth.
bool rankingHolds(const std::vector<MeasuredPlan>& all);
// True if all runs with the predicted batches moved the predicted bytes.
bool bytesAsPredicted(const std::vector<MeasuredPlan>& all);

std::string benchPlansJson(const std::vector<MeasuredPlan>& all);

}  // namespace hopscope::engine
