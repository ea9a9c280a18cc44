#include "executor/forecast/predict.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "executor/exception_boundary.h"
#include "executor/forecast/planned.h"
#include "executor/forecast/wall_table.h"

namespace hopscope::forecast {

struct Predictor::Kept : Known {
    Kept(const Predictor& owner, std::stop_token stop)
        : Known(
              owner.m_analysis,
              [&owner](std::stop_token token) {
                  auto made =
                      std::make_unique<executor::Structure>(owner.m_walk, owner.m_analysis, owner.m_inputs,
                                                            owner.m_folder, at::get_num_threads(), std::move(token));
                  if (!owner.m_cache.empty()) made->cacheIn(owner.m_cache);
                  return made;
              },
              owner.m_folder, std::move(stop))
    {}
};

Predictor::Predictor(const loader::Walk& walk, const analysis::Analysis& analysis, const base::TensorMap& inputs,
                     std::string folder, std::string cache)
    : m_walk(walk),
      m_analysis(analysis),
      m_inputs(inputs),
      m_folder(std::move(folder)),
      m_cache(std::move(cache))
{
    executor::installCpuAllocator();
}

Predictor::~Predictor() = default;

template <class Work>
auto Predictor::guarded(std::stop_token stop, Work&& work) -> base::Result<decltype(work(std::declval<Kept&>()))>
{
    const c10::InferenceMode inference;
    auto result = executor::catchAtBoundary(
        [&] {
            const executor::SpillScope spill(m_folder, executor::spillThreshold);
            if (!m_kept) m_kept = std::make_unique<Kept>(*this, std::move(stop));
            return work(*m_kept);
        },
        [] { return base::fail(base::ErrorCode::Resources, "out of memory while the graph is analysed"); });
    if (!result) m_kept.reset();
    return result;
}

base::Status Predictor::checkGuards(std::stop_token stop)
{
    const base::Result<bool> checked = guarded(std::move(stop), [](Kept& kept) {
        kept.structure->checkGuards();
        return true;
    });
    return checked ? base::Status() : base::forward(checked);
}

std::shared_ptr<executor::Structure> Predictor::takeStructure()
{
    std::shared_ptr<executor::Structure> structure;
    if (m_kept) structure = std::move(m_kept->structure);
    m_kept.reset();
    return structure;
}

base::Result<Prediction> Predictor::predict(const plan::Plan& plan, const PredictOptions& options, std::stop_token stop)
{
    return guarded(stop, [&](Kept& kept) { return Planned(m_analysis, kept, plan, options, stop).predict(options); });
}

base::Result<Prediction> Predictor::predictTraffic(const plan::Plan& plan, const PredictOptions& options,
                                                   std::stop_token stop)
{
    return guarded(
        stop, [&](Kept& kept) { return Planned(m_analysis, kept, plan, options, stop).predict(options, Peaks::No); });
}

base::Result<StageMemory> Predictor::memoryOf(const plan::Plan& plan, plan::StageId stage,
                                              const PredictOptions& options, std::stop_token stop)
{
    if (!stage.valid() || stage.number > static_cast<int>(plan.stages.size()))
        return base::fail(base::ErrorCode::Usage, "the plan has no stage " + std::to_string(stage.number),
                          "its last stage is " + std::to_string(plan.stages.size()));
    return guarded(stop,
                   [&](Kept& kept) { return Planned(m_analysis, kept, plan, options, stop).memoryOf(stage, options); });
}

base::Result<LeastMemory> Predictor::leastMemory(const plan::Plan& plan, const PredictOptions& options,
                                                 std::stop_token stop)
{
    return guarded(stop,
                   [&](Kept& kept) { return Planned(m_analysis, kept, plan, options, stop).leastMemory(options); });
}

base::Result<plan::Plan> Predictor::keepOnDevice(plan::Plan plan, const PredictOptions& options, std::stop_token stop)
{
    return guarded(stop, [&](Kept& kept) { return keepOnGpu(m_analysis, kept, std::move(plan), options, stop); });
}

base::Result<plan::RowCounts> Predictor::countRows(const plan::Plan& plan, const PredictOptions& options,
                                                   std::stop_token stop)
{
    return guarded(stop, [&](Kept& kept) { return Planned(m_analysis, kept, plan, options, stop).countRows(options); });
}

base::Result<Forecast> Predictor::forecast(const plan::Plan& plan, const PredictOptions& options,
                                           const plan::Machine& machine, std::stop_token stop)
{
    return guarded(stop, [&](Kept& kept) {
        Planned planned(m_analysis, kept, plan, options, stop);
        Prediction prediction = planned.predict(options);
        return Forecast{std::move(prediction), planned.times(options, machine),
                        WallTable(machine).rate(plan::WallKind::DiskRead, 0)};
    });
}

base::Result<double> Predictor::seconds(const plan::Plan& plan, const PredictOptions& options,
                                        const plan::Machine& machine, std::stop_token stop)
{
    return guarded(stop, [&](Kept& kept) {
        Forecast forecast;
        forecast.times = Planned(m_analysis, kept, plan, options, stop).times(options, machine, Peaks::No);
        return forecast.seconds();
    });
}

std::vector<std::vector<std::optional<std::int64_t>>> Prediction::sizes() const
{
    std::vector<std::vector<std::optional<std::int64_t>>> all;
    for (const PredictedStage& stage : stages) all.push_back(stage.sizes);
    return all;
}

double Forecast::seconds() const
{
    double sum = 0;
    for (const StageTime& time : times) sum += time.seconds;
    return sum;
}

}  // namespace hopscope::forecast
