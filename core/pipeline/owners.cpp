#include "pipeline/owners.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/units.h"

namespace hopscope::pipeline {

namespace {

executor::Options optionsOf(const plan::Plan& plan, const DeviceOptions& device, const std::string& folder)
{
    executor::Options options;
    options.batch = plan.batch;
    options.memoryLimit = device.memory;
    options.folder = folder;
    options.threads = device.threads;
    options.fuse = device.fuse;
    options.reorder = device.reorder == base::Reorder::Auto ? base::Reorder::None : device.reorder;
    options.store = device.store;
    return options;
}

// The slowest worker decides about a stage: nobody goes on before it has what it reads of others.
StageSeconds secondsOf(const WorkersForecast& forecast, std::size_t stage, double alone)
{
    StageSeconds seconds{.alone = alone};
    for (const std::vector<executor::OwnedStage>& worker : forecast.workers) {
        seconds.compute = std::max(seconds.compute, worker[stage].share * alone);
        seconds.halo = std::max(seconds.halo, static_cast<double>(worker[stage].haloBytes) / forecast.request.network);
    }
    return seconds;
}

std::int64_t outputBytes(const WorkersForecast& forecast)
{
    std::int64_t bytes = 0;
    for (const std::vector<executor::OwnedStage>& worker : forecast.workers)
        for (const executor::OwnedStage& stage : worker) bytes += stage.outputBytes;
    return bytes;
}

// "2.8".
std::string gigabytes(double bytes)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g", bytes / 1e9);
    return text.data();
}

json::Value rangeValue(const executor::OwnedRange& range)
{
    json::Value item;
    item["destination"] = range.nodes;
    item["first"] = range.first;
    item["count"] = range.count;
    return item;
}

json::Value stageValue(const executor::OwnedStage& stage, const WorkersRequest& request, double alone)
{
    json::Value item;
    item["stage"] = stage.index.number;
    item["ranges"] = json::Value::array();
    for (const executor::OwnedRange& range : stage.ranges) item["ranges"].push(rangeValue(range));
    item["destinations"] = stage.destinations;
    item["edges"] = stage.edges;
    item["stored_bytes"] = stage.storedBytes;
    item["halo_rows"] = stage.haloRows;
    item["halo_bytes"] = stage.haloBytes;
    item["output_bytes"] = stage.outputBytes;
    item["seconds"] = stage.share * alone;
    item["halo_seconds"] = static_cast<double>(stage.haloBytes) / request.network;
    return item;
}

}  // namespace

double WorkersForecast::seconds() const
{
    double sum = gather;
    for (const StageSeconds& stage : stages) sum += stage.compute + stage.halo;
    return sum;
}

base::Result<WorkersForecast> forecastWorkers(const Prepared& prepared, const plan::Plan& plan,
                                              const forecast::Forecast& forecast, const DeviceOptions& device,
                                              const WorkersRequest& request,
                                              const std::shared_ptr<executor::Structure>& structure,
                                              const std::stop_token& stop)
{
    if (plan.device != "cpu")
        return base::fail(base::ErrorCode::Usage,
                          "workers that keep their own rows compute on a CPU, not on " + plan.device,
                          "use --device cpu with --workers");
    auto shares =
        executor::shareOut(structure, prepared.analysis, plan, optionsOf(plan, device, {}), request.workers, stop);
    if (!shares) return base::forward(shares);
    WorkersForecast made{.request = request, .workers = std::move(*shares), .stages = {}};
    for (std::size_t s = 0; s < forecast.times.size(); ++s)
        made.stages.push_back(secondsOf(made, s, forecast.times[s].seconds));
    made.gather = static_cast<double>(outputBytes(made)) / request.network;
    made.alone = forecast.seconds();
    for (const forecast::PredictedStage& stage : forecast.prediction.stages)
        made.memory = std::max(made.memory, stage.peakMemory);
    return made;
}

std::string sentenceOf(const WorkersForecast& forecast)
{
    const int workers = forecast.request.workers;
    const double together = forecast.seconds();
    const std::string who = workers == 1 ? "1 worker is" : std::to_string(workers) + " workers are";
    const std::string figures = who + " predicted to take " + base::formatSeconds(together) + " for the stages at " +
                                gigabytes(forecast.request.network) + " GB/s, one machine " +
                                base::formatSeconds(forecast.alone);
    return figures + (together < forecast.alone ? ": several machines are predicted to be faster"
                                                : ": one machine is predicted to be faster");
}

json::Value workersValue(const WorkersForecast& forecast)
{
    json::Value document;
    document["network"] = forecast.request.network;
    document["seconds"] = forecast.seconds();
    document["seconds_alone"] = forecast.alone;
    document["gather_seconds"] = forecast.gather;
    document["memory"] = forecast.memory;
    document["verdict"] = sentenceOf(forecast);
    document["workers"] = json::Value::array();
    for (const std::vector<executor::OwnedStage>& stages : forecast.workers) {
        json::Value worker;
        worker["stages"] = json::Value::array();
        for (std::size_t s = 0; s < stages.size(); ++s)
            worker["stages"].push(stageValue(stages[s], forecast.request, forecast.stages[s].alone));
        document["workers"].push(worker);
    }
    return document;
}

}  // namespace hopscope::pipeline
