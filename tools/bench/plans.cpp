#include <algorithm>
#include <cstdio>
#include <limits>
#include <numeric>
#include <optional>

#include "base/rules.h"
#include "bench/bench.h"
#include "bench/stores.h"
#include "pipeline/files/home.h"
#include "pipeline/planning/choice.h"
#include "schema/report.h"
#include "json/optional.h"

namespace hopscope::bench {

namespace {

using base::Objective;
using base::Strategy;
using pipeline::Prepared;

constexpr double tie = 0.1;  // differences below are none

struct Measured {
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
};

struct Notes final : pipeline::Reporter {
    void note(const std::string& sentence) override { std::fprintf(stderr, "note: %s\n", sentence.c_str()); }
};

class Bench {
public:
    Bench(const Prepared& prepared, const PlansOptions& options, const std::string& folder,
          pipeline::Reporter& reporter)
        : m_prepared(prepared),
          m_options(options),
          m_folder(folder),
          m_reporter(reporter),
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
            pipeline::choosePlan(m_prepared, m_predictor, {}, settings, m_reporter, {});
        if (!answer) return base::forward(answer);
        plan::Plan& plan = answer->plan;
        forecast::PredictOptions here = pipeline::limitsOf(settings, settings.batch);
        here.staysBeside = true;
        auto forecast = pipeline::forecastOf(m_prepared, m_predictor, plan, here, {});
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
        const Stores stores(m_folder + "/stores");
        executor::Options options = runOptions(m.plan, m_options.settings, stores);
        options.sizes = m.sizes;
        executor::Observer silent;
        const auto report =
            executor::run(m_prepared.walk, m_prepared.analysis, m.plan, m_prepared.inputs, options, silent, {});
        if (!report) return base::forward(report);
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
    const PlansOptions& m_options;
    std::string m_folder;
    pipeline::Reporter& m_reporter;
    forecast::Predictor m_predictor;
    std::vector<Measured> m_measured;
};

double sum(const std::vector<double>& all) { return std::accumulate(all.begin(), all.end(), 0.0); }

bool rankingHolds(const std::vector<Measured>& all)
{
    for (const Measured& a : all)
        for (const Measured& b : all) {
            const bool predictedFaster = sum(a.predictedStages) < sum(b.predictedStages) * (1 - tie);
            if (predictedFaster && sum(a.stages) > sum(b.stages) * (1 + tie)) return false;
        }
    return true;
}

json::Value valueOf(const Measured& m)
{
    json::Value item;
    item["name"] = m.name;
    item["stages"] = m.stages.size();
    item["stores"] = m.plan.checkpoints.size();
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
    return item;
}

}  // namespace

base::Result<Outcome> plans(const PlansOptions& options)
{
    const executor::Cores cores(options.settings.threads.value_or(0));
    Notes notes;
    pipeline::ModelOptions model = options.model;
    model.reassociate = options.settings.reassociate;
    base::Result<Prepared> prepared = pipeline::prepare(model, false, notes);
    if (!prepared) return base::forward(prepared);
    const base::Result<pipeline::EngineHome> home = pipeline::EngineHome::make();
    if (!home) return base::forward(home);
    if (const base::Status settled = pipeline::settleBranches(*prepared, home->path(), notes, {}); !settled)
        return base::forward(settled);
    const base::Result<std::vector<Measured>> all = Bench(*prepared, options, home->path(), notes).run();
    if (!all) return base::forward(all);
    Outcome outcome;
    outcome.document["ranking_holds"] = rankingHolds(*all);
    for (const Measured& m : *all) {
        outcome.document["plans"].push(valueOf(m));
        if (m.sameBatches && !(m.bytes == m.predictedBytes))
            outcome.code = static_cast<int>(base::ErrorCode::Different);
    }
    return outcome;
}

}  // namespace hopscope::bench
