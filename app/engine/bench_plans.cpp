#include "bench_plans.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <numeric>

#include "base/units.h"
#include "executor/memory.h"
#include "planner.h"
#include "server_home.h"
#include "table.h"
#include "json/json.h"

namespace hopscope::engine {

namespace {

using placement::Objective;

constexpr double tie = 0.1;  // differences below are none

struct Measured {
    std::string name;
    plan::Plan plan;
    std::vector<double> predictedStages, stages;  // seconds
    plan::Bytes predictedBytes, bytes;
    std::vector<std::int64_t> predictedPeaks, peaks;  // bytes held at most, by stage
    bool sameBatches = false;                         // as predicted: then bytes have to be, too

    [[nodiscard]] double predicted() const { return sum(predictedStages); }
    [[nodiscard]] double seconds() const { return sum(stages); }
    static double sum(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
};

std::int64_t moved(const plan::Bytes& bytes) { return bytes.d2h + bytes.h2d + bytes.structure; }

plan::Bytes operator+(const plan::Bytes& a, const plan::Bytes& b)
{
    return {a.d2h + b.d2h, a.h2d + b.h2d, a.structure + b.structure};
}

class Bench {
public:
    Bench(const Prepared& prepared, const BenchPlansCommand& command, const std::string& folder, Session& session)
        : m_prepared(prepared),
          m_command(command),
          m_folder(folder),
          m_session(session),
          m_predictor(prepared.walk, prepared.analysis, prepared.inputs, folder)
    {}

    base::Result<std::vector<Measured>> run()
    {
        for (const Objective objective : {Objective::Time, Objective::Bytes})
            if (const base::Status made = plan("optimal", objective); !made) return base::forward(made);
        for (const char* rule : {"depth", "source-rule"})
            if (const base::Status made = plan(rule, Objective::Time); !made) return base::forward(made);
        for (int i = 0; i < m_command.repeat; ++i)
            for (Measured& m : m_measured)
                if (const base::Status done = measure(m); !done) return base::forward(done);
        return std::move(m_measured);
    }

private:
    base::Status plan(const std::string& strategy, Objective objective)
    {
        const PlanSource source{{}, strategy, objective};
        base::Result<PlanAnswer> answer = choosePlan(m_prepared, m_predictor, source, m_command.device, m_session);
        if (!answer) return base::forward(answer);
        plan::Plan& plan = answer->plan;
        const executor::PredictOptions limits{m_command.device.batch, m_command.device.memory};
        executor::PredictOptions here = limits;
        here.staysBeside = true;
        const auto prediction = m_predictor.predict(plan, here, m_session.stop);
        if (!prediction) return base::forward(prediction);
        auto seconds = stageSeconds(m_prepared, m_predictor, plan, limits, m_session.stop);
        if (!seconds) return base::forward(seconds);
        const std::string name =
            strategy == "optimal" ? strategy + ", " + placement::objectiveName(objective) : strategy;
        Measured m{name, std::move(plan), std::move(*seconds), {}, {}, {}, {}, {}, false};
        for (const executor::PredictedStage& s : prediction->stages) {
            m.predictedBytes = m.predictedBytes + s.bytes;
            m.predictedPeaks.push_back(s.peakMemory);
        }
        m.plan.batch = prediction->batch;
        m_measured.push_back(std::move(m));
        return {};
    }

    base::Status measure(Measured& m)
    {
        m_session.console.progress({"running " + m.name, 0, 0});
        executor::Options options;
        options.device = m.plan.device;
        options.batch = m.plan.batch;
        options.memoryLimit = m_command.device.memory;
        options.folder = m_folder + "/stores";
        std::error_code ignored;
        std::filesystem::create_directories(options.folder, ignored);
        executor::Observer silent;
        const auto report = executor::run(m_prepared.walk, m_prepared.analysis, m.plan, m_prepared.inputs, options,
                                          silent, m_session.stop);
        m_session.console.clearProgress();
        if (!report) return base::forward(report);
        std::filesystem::remove_all(options.folder, ignored);
        m.stages.resize(report->stages.size(), std::numeric_limits<double>::infinity());
        m.bytes = {};
        m.peaks.clear();
        m.sameBatches = true;
        for (std::size_t i = 0; i < report->stages.size(); ++i) {
            const executor::StageReport& stage = report->stages[i];
            m.stages[i] = std::min(m.stages[i], stage.seconds);
            m.bytes = m.bytes + stage.bytes;
            m.peaks.push_back(stage.peakMemory);
            m.sameBatches = m.sameBatches && stage.backOffs == 0;
        }
        return {};
    }

    const Prepared& m_prepared;
    const BenchPlansCommand& m_command;
    std::string m_folder;
    Session& m_session;
    executor::Predictor m_predictor;
    std::vector<Measured> m_measured;
};

// No plan that was predicted to be faster was slower: neither in all, nor beyond a tie.
bool rankingHolds(const std::vector<Measured>& all)
{
    for (const Measured& a : all)
        for (const Measured& b : all) {
            const bool predictedFaster = a.predicted() < b.predicted() * (1 - tie);
            if (predictedFaster && a.seconds() > b.seconds() * (1 + tie)) return false;
        }
    return true;
}

json::Value bytesValue(const plan::Bytes& bytes)
{
    json::Value value;
    value["d2h"] = bytes.d2h;
    value["h2d"] = bytes.h2d;
    value["structure"] = bytes.structure;
    return value;
}

json::Value toJson(const std::vector<Measured>& all)
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
        item["predicted_bytes"] = bytesValue(m.predictedBytes);
        item["bytes"] = bytesValue(m.bytes);
        item["predicted_peak_memory"] = json::Value(m.predictedPeaks);
        item["peak_memory"] = json::Value(m.peaks);
        item["gap"] = m.plan.gap ? json::Value(*m.plan.gap) : json::Value();
        document["plans"].push(std::move(item));
    }
    return document;
}

std::string toText(const std::vector<Measured>& all)
{
    using Align = Table::Align;
    std::vector<Align> columns(9, Align::Right);
    columns.front() = Align::Left;
    Table table(std::move(columns));
    table.add({"plan", "stages", "stores", "predicted", "measured", "bytes predicted", "bytes moved", "peak predicted",
               "peak memory"});
    const auto bytes = [](std::int64_t n) { return base::formatBytes(static_cast<double>(n)); };
    for (const Measured& m : all)
        table.add({m.name, std::to_string(m.stages.size()), std::to_string(m.plan.checkpoints.size()),
                   base::formatSeconds(m.predicted()), base::formatSeconds(m.seconds()), bytes(moved(m.predictedBytes)),
                   bytes(moved(m.bytes)), bytes(std::ranges::max(m.predictedPeaks)), bytes(std::ranges::max(m.peaks))});
    return table.render() +
           (rankingHolds(all) ? "the plans are ranked as predicted\n" : "the plans are not ranked as predicted\n");
}

}  // namespace

base::Result<int> benchPlans(const BenchPlansCommand& command, Session& session)
{
    executor::installCpuAllocator();
    base::Result<Prepared> prepared = prepare(command.model, false, session);
    if (!prepared) return base::forward(prepared);
    const base::Result<EngineHome> home = EngineHome::make();
    if (!home) return base::forward(home);
    if (const base::Status settled = settleBranches(*prepared, home->path(), session); !settled)
        return base::forward(settled);
    const base::Result<std::vector<Measured>> all = Bench(*prepared, command, home->path(), session).run();
    if (!all) return base::forward(all);
    session.console.print(session.console.json() ? json::write(toJson(*all), true) : toText(*all));
    const bool exact =
        std::ranges::all_of(*all, [](const Measured& m) { return !m.sameBatches || m.bytes == m.predictedBytes; });
    return exact ? 0 : static_cast<int>(base::ErrorCode::Different);
}

}  // namespace hopscope::engine
