#pragma once

// A plan for several workers that share no folder: what each computes, keeps and gets of others, and how long that takes,
// before a run.

#include "executor/owners.h"
#include "forecast/predict.h"
#include "pipeline/options.h"
#include "pipeline/prepare.h"
#include "json/json.h"

namespace hopscope::pipeline {

struct WorkersRequest {
    int workers = 1;
    double network = 2.8e9;  // bytes per second into a machine: 25 Gbit/s, less what protocols take
    int replicas = 1;        // of what is computed; 2: the next worker keeps a copy
};

struct StageSeconds {
    double alone = 0;              // of one process
    double compute = 0, halo = 0;  // of the slowest worker
    double copy = 0;               // likewise, of rows of the stage before, while it computes
};

struct WorkersForecast {
    WorkersRequest request;
    std::vector<std::vector<executor::OwnedStage>> workers;  // exact
    std::vector<StageSeconds> stages;
    double gather = 0;        // seconds for the results to reach one machine
    double alone = 0;         // of the stages of one process
    std::int64_t memory = 0;  // of each worker, while it computes; stores come on top, as files
    [[nodiscard]] double seconds() const;
    // What a worker (from 0) takes in as a copy when the stage is finished: rows and bytes; nothing of the last one.
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> copies(std::size_t worker, std::size_t stage) const;
};

// Computing takes the seconds of `forecast` times the worker's share of the work: all machines are taken to be like this one.
// Loading and the prologue are left out, since every worker and a single process alike have them. Fails like
// executor::shareOut(), and with Usage for a plan for a GPU.
base::Result<WorkersForecast> forecastWorkers(const Prepared& prepared, const plan::Plan& plan,
                                              const forecast::Forecast& forecast, const DeviceOptions& device,
                                              const WorkersRequest& request,
                                              const std::shared_ptr<executor::Structure>& structure,
                                              const std::stop_token& stop);

// "4 workers are predicted to take 12 s for the stages, one machine 30 s".
std::string sentenceOf(const WorkersForecast& forecast);

// The member `workers` of what `plan --json` prints.
json::Value workersValue(const WorkersForecast& forecast);

}  // namespace hopscope::pipeline
