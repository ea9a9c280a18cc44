#include "bench/plans.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/rules.h"
#include "pipeline/choice.h"
#include "pipeline/home.h"
#include "schema/report.h"
#include "json/json.h"
#include "json/optional.h"

namespace hopscope::engine {

namespace {

using Measured = MeasuredPlan;
using base::Objective;
using base::Strategy;
using pipeline::Prepared;

constexpr double tie = 0.1;  // differences below are none

class Bench {
public:
    Bench(const Prepared& prepared, const BenchPlansOptions& options, const std::string& folder,
          pipeline::Reporter& reporter, std::stop_token stop)
        : m_prepared(prepared),
          m_options(options),
          m_folder(folder),
          m_reporter(reporter),
          m_stop(std::move(stop)),
          m_predictor(prepared.walk, prepared.analysis, prepared.inputs, folder)
    {}

    base::Result<std::vector<Measured>> run()
    {
        for (const Objective objective : {Objective::Time, Objective::Bytes})
            if (const base::Status made = plan(Strategy::Optimal, objective); !made) return base::forward(made);
        for (const Strategy rule : base::rules)
            if (const base::Status made = plan(rule, Objective::Time); !made) return base::forward(made);
        for (int i = 0; i < m_options.repeat; ++i)
            for (Measured& m : m_measured)
                if (const base::Status done = measure(m); !done) return base::forward(done);
        return std::move(m_measured);
    }

private:
    base::Status plan(Strategy strategy, Objective objective)
    {
        base::Settings settings = m_options.settings;
        settings.strategy = strategy;
        settings.objective = objective;
        base::Result<pipeline::PlanAnswer> answer =
            pipeline::choosePlan(m_prepared, m_predictor, {}, settings, m_reporter, m_stop);
        if (!answer) return base::forward(answer);
        plan::Plan& plan = answer->plan;
        forecast::PredictOptions here = pipeline::limitsOf(m_options.settings, m_options.settings.batch);
        here.staysBeside = true;
        auto forecast = pipeline::forecastOf(m_prepared, m_predictor, plan, here, m_stop);
        if (!forecast) return base::forward(forecast);
        std::string name = base::nameOf(strategy);
        if (!base::isRule(strategy)) name += std::string(", ") + base::nameOf(objective);
        Measured m{.name = name, .plan = std::move(plan)};
        for (const forecast::StageTime& time : forecast->times) m.predictedStages.push_back(time.seconds);
        m.bounds = std::move(forecast->times);
        m.sizes = forecast->prediction.sizes();
        for (const forecast::PredictedStage& s : forecast->prediction.stages) {
            m.predictedBytes += s.bytes;
            m.predictedPeaks.push_back(s.peakMemory);
            m.predictedBatches.push_back(s.batches);
        }
        m_measured.push_back(std::move(m));
        return {};
    }

    base::Status measure(Measured& m)
    {
        m_reporter.progress({"running " + m.name, 0, 0});
        executor::Options options;
        options.device = m.plan.device;
        options.batch = m.plan.batch;
        options.sizes = m.sizes;
        options.memoryLimit = m_options.settings.memory;
        options.folder = m_folder + "/stores";
        std::error_code ignored;
        std::filesystem::create_directories(options.folder, ignored);
        executor::Observer silent;
        const auto report =
            executor::run(m_prepared.walk, m_prepared.analysis, m.plan, m_prepared.inputs, options, silent, m_stop);
        m_reporter.progressEnded();
        if (!report) return base::forward(report);
        std::filesystem::remove_all(options.folder, ignored);
        m.stages.resize(report->stages.size(), std::numeric_limits<double>::infinity());
        m.coreStages.resize(m.stages.size(), std::numeric_limits<double>::infinity());
        m.bytes = {};
        m.peaks.clear();
        m.sameBatches = true;
        for (std::size_t i = 0; i < report->stages.size(); ++i) {
            const executor::StageReport& stage = report->stages[i];
            m.stages[i] = std::min(m.stages[i], stage.seconds);
            m.coreStages[i] = std::min(m.coreStages[i], stage.coreSeconds.value_or(0));
            m.bytes += stage.bytes;
            m.peaks.push_back(stage.peakMemory);
            m.sameBatches = m.sameBatches && stage.backOffs == 0 && stage.batches == m.predictedBatches[i];
        }
        return {};
    }

    const Prepared& m_prepared;
    const BenchPlansOptions& m_options;
    std::string m_folder;
    pipeline::Reporter& m_reporter;
    std::stop_token m_stop;
    forecast::Predictor m_predictor;
    std::vector<Measured> m_measured;
};

}  // namespace

bool rankingHolds(const std::vector<MeasuredPlan>& all)
{
    for (const Measured& a : all)
        for (const Measured& b : all) {
            const bool predictedFaster = a.predicted() < b.predicted() * (1 - tie);
            if (predictedFaster && a.seconds() > b.seconds() * (1 + tie)) return false;
        }
    return true;
}

bool bytesAsPredicted(const std::vector<MeasuredPlan>& all)
{
    return std::ranges::all_of(all, [](const Measured& m) { return !m.sameBatches || m.bytes == m.predictedBytes; });
}

std::string benchPlansJson(const std::vector<Measured>& all)
{
    json::Value document;
    document["ranking_holds"] = rankingHolds(all);
    document["plans"] = json::Value::array();
    for (const Measured& m : all) {
        json::Value item;
        item["name"] = m.name;
        item["stages"] = static_cast<std::int64_t>(m.stages.size());
        item["stores"] = static_cast<std::int64_t>(m.plan.checkpoints.size());
        item["predicted_seconds"] = json::Value(m.predictedStages);
        item["seconds"] = json::Value(m.stages);
        item["core_seconds"] = json::Value(m.coreStages);
        item["bound_seconds"] = json::Value::array();
        item["walls"] = json::Value::array();
        for (const forecast::StageTime& time : m.bounds) {
            item["bound_seconds"].push(time.boundSeconds);
            item["walls"].push(base::nameOf(time.wall));
        }
        item["predicted_bytes"] = schema::bytesValue(m.predictedBytes);
        item["bytes"] = schema::bytesValue(m.bytes);
        item["predicted_peak_memory"] = json::Value(m.predictedPeaks);
        item["peak_memory"] = json::Value(m.peaks);
        item["same_batches"] = m.sameBatches;
        item["gap"] = json::orNull(m.plan.gap);
        document["plans"].push(std::move(item));
    }
    return json::write(document, true);
}

base::Result<std::vector<MeasuredPlan>> benchPlans(const BenchPlansOptions& options, pipeline::Reporter& reporter,
                                                   const std::stop_token& stop)
{
    base::Result<Prepared> prepared = pipeline::prepare(options.model, false, reporter);
    if (!prepared) return base::forward(prepared);
    const base::Result<pipeline::EngineHome> home = pipeline::EngineHome::make();
    if (!home) return base::forward(home);
    if (const base::Status settled = pipeline::settleBranches(*prepared, home->path(), reporter, stop); !settled)
        return base::forward(settled);
    return Bench(*prepared, options, home->path(), reporter, stop).run();
}

}  // namespace hopscope::engine
