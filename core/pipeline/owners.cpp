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

double copySeconds(const WorkersForecast& forecast, std::size_t worker, std::size_t stage)
{
    return static_cast<double>(forecast.copies(worker, stage).second) / forecast.request.network;
}

// The slowest worker decides about a stage: nobody goes on before it has what it reads of others.
StageSeconds secondsOf(const WorkersForecast& forecast, std::size_t stage, double alone)
{
    StageSeconds seconds{.alone = alone};
    for (const std::vector<executor::OwnedStage>& worker : forecast.workers) {
        seconds.compute = std::max(seconds.compute, worker[stage].share * alone);
        seconds.halo = std::max(seconds.halo, static_cast<double>(worker[stage].haloBytes) / forecast.request.network);
    }
    for (std::size_t w = 0; w < forecast.workers.size() && stage > 0; ++w)
        seconds.copy = std::max(seconds.copy, copySeconds(forecast, w, stage - 1));
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

json::Value stageValue(const WorkersForecast& forecast, std::size_t worker, std::size_t at)
{
    const executor::OwnedStage& stage = forecast.workers[worker][at];
    const auto [copyRows, copyBytes] = forecast.copies(worker, at);
    json::Value item;
    item["stage"] = stage.index.number;
    item["ranges"] = json::Value::array();
    for (const executor::OwnedRange& range : stage.ranges) item["ranges"].push(rangeValue(range));
    item["destinations"] = stage.destinations;
    item["edges"] = stage.edges;
    item["stored_bytes"] = stage.storedBytes;
    item["halo_rows"] = stage.haloRows;
    item["halo_bytes"] = stage.haloBytes;
    item["copy_rows"] = copyRows;
    item["copy_bytes"] = copyBytes;
    item["output_bytes"] = stage.outputBytes;
    item["seconds"] = stage.share * forecast.stages[at].alone;
    item["halo_seconds"] = static_cast<double>(stage.haloBytes) / forecast.request.network;
    item["copy_seconds"] = copySeconds(forecast, worker, at);
    return item;
}

}  // namespace

double WorkersForecast::seconds() const
{
    double sum = gather;
    for (const StageSeconds& stage : stages) sum += std::max(stage.compute, stage.copy) + stage.halo;
    return sum;
}

std::pair<std::int64_t, std::int64_t> WorkersForecast::copies(std::size_t worker, std::size_t stage) const
{
    const std::vector<executor::OwnedStage>& kept = workers[(worker + workers.size() - 1) % workers.size()];
    if (request.replicas < 2 || stage + 1 == kept.size()) return {0, 0};
    return {kept[stage].storedRows, kept[stage].storedBytes};
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
    if (request.replicas > request.workers)
        return base::fail(base::ErrorCode::Usage, "one worker has no other one that could keep a copy of its rows",
                          "use --replicas with at least 2 workers");
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
    document["replicas"] = forecast.request.replicas;
    document["seconds"] = forecast.seconds();
    document["seconds_alone"] = forecast.alone;
    document["gather_seconds"] = forecast.gather;
    document["memory"] = forecast.memory;
    document["verdict"] = sentenceOf(forecast);
    document["workers"] = json::Value::array();
    for (std::size_t w = 0; w < forecast.workers.size(); ++w) {
        json::Value worker;
        worker["stages"] = json::Value::array();
        for (std::size_t s = 0; s < forecast.workers[w].size(); ++s) worker["stages"].push(stageValue(forecast, w, s));
        document["workers"].push(worker);
    }
    return document;
}

}  // namespace hopscope::pipeline
