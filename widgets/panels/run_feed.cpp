#include "panels/run_feed.h"

#include <algorithm>

namespace hopscope::panels {

const protocol::PredictedStage* predictedOf(const protocol::PlanRecord* plan, protocol::StageId stage)
{
    if (plan == nullptr || !plan->predicted) return nullptr;
    const auto found = std::ranges::find(plan->predicted->stages, stage, &protocol::PredictedStage::index);
    return found == plan->predicted->stages.end() ? nullptr : &*found;
}

namespace {

// The shortest averaged interval as a share of the run so far, for batches and for the shards of several workers.
constexpr double rateShare = 1.0 / 400, shardShare = 1.0 / 40;
constexpr double rateLeast = 1e-4;  // seconds

std::optional<double> predictedPeak(const protocol::PlanRecord* plan, protocol::StageId stage)
{
    const protocol::PredictedStage* const predicted = predictedOf(plan, stage);
    return predicted ? std::optional(static_cast<double>(predicted->peakMemory)) : std::nullopt;
}

}  // namespace

plots::StageRun stageRun(const QString& title, const models::RunLog& log, const protocol::PlanRecord* plan)
{
    plots::StageRun run{title, {}};
    for (const models::StageProgress& stage : log.stages()) {
        const protocol::PredictedStage* const predicted = predictedOf(plan, stage.index);
        run.stages.push_back({stage, stage.index, predicted ? predicted->seconds : std::nullopt});
    }
    return run;
}

plots::StageRun stageRun(const QString& title, const schema::Report& report)
{
    plots::StageRun run{title, {}};
    for (const schema::StageRecord& stage : report.stages) {
        const auto predicted = stage.predicted ? std::optional(stage.predicted->seconds) : std::nullopt;
        run.stages.push_back({stage, stage.index, predicted, stage.boundSeconds, stage.wall});
    }
    return run;
}

std::vector<plots::Band> bandsOf(const models::RunLog& log, const protocol::PlanRecord* plan, double openEnd)
{
    std::vector<plots::Band> bands;
    for (const models::StageProgress& stage : log.stages()) {
        const double end = stage.finished ? stage.end : std::max(openEnd, stage.start);
        bands.push_back(
            {.stage = stage.index, .from = stage.start, .to = end, .level = predictedPeak(plan, stage.index)});
    }
    return bands;
}

BatchFeed::BatchFeed(plots::Series& memory, plots::Series& reserved, plots::Series& rate, plots::Series& size)
    : m_memory(memory),
      m_reserved(reserved),
      m_rate(rate),
      m_size(size)
{}

void BatchFeed::restart(const models::RunLog* log)
{
    for (plots::Series* series : {&m_memory, &m_reserved, &m_rate, &m_size}) series->clear();
    m_log = log;
    m_read = 0;
    m_thinnings = log != nullptr ? log->thinnings() : 0;
    m_rateSince = 0;
    m_rateBefore = 0;
}

void BatchFeed::addRate(double time, std::int64_t finished, double shortest)
{
    const double span = time - m_rateSince;
    if (span < std::max(shortest, rateLeast)) return;
    const double rate = static_cast<double>(finished - m_rateBefore) / span;
    if (m_rate.size() == 0) m_rate.append(m_rateSince, rate);  // a step has two ends
    m_rate.append(time, rate);
    m_rateSince = time;
    m_rateBefore = finished;
}

void BatchFeed::readWorkers(const models::RunLog& log)
{
    const std::vector<models::FinishedRows>& finished = log.workers()->finished();
    if (m_read == 0 && !finished.empty() && !log.stages().empty()) m_rateSince = log.stages().front().start;
    for (; m_read < finished.size(); ++m_read)
        addRate(finished[m_read].time, finished[m_read].rows, log.elapsed() * shardShare);
}

void BatchFeed::read(const models::RunLog* log)
{
    if (log != m_log || (log != nullptr && log->thinnings() != m_thinnings)) restart(log);
    if (log == nullptr) return;
    if (log->workers() != nullptr) return readWorkers(*log);
    if (m_read == 0 && !log->batches().empty() && !log->stages().empty()) {
        m_rateSince = log->stages().front().start;
        m_memory.append(m_rateSince, 0);
        m_size.append(m_rateSince, static_cast<double>(log->batches().front().destinations));
    }
    for (; m_read < log->batches().size(); ++m_read) {
        const models::BatchPoint& batch = log->batches()[m_read];
        // The peak lies somewhere inside of the batch: drawn in its middle.
        m_memory.append((m_memory.lastX() + batch.time) / 2,
                        static_cast<double>(std::max(batch.memory, batch.peakMemory)));
        m_memory.append(batch.time, static_cast<double>(batch.memory));
        if (batch.reservedMemory > 0) m_reserved.append(batch.time, static_cast<double>(batch.reservedMemory));
        m_size.append(batch.time, static_cast<double>(batch.destinations));
        addRate(batch.time, batch.finished, log->elapsed() * rateShare);
    }
}

void PhaseFeed::read(const models::RunLog* log)
{
    if (log != m_log || (log != nullptr && log->thinnings() != m_thinnings)) {
        m_timeline.clear();
        m_log = log;
        m_read = 0;
        m_thinnings = log != nullptr ? log->thinnings() : 0;
    }
    if (log == nullptr) return;
    for (; m_read < log->phases().size(); ++m_read) {
        const models::PhasePoint& phase = log->phases()[m_read];
        m_timeline.append(
            phase.phase,
            {.start = phase.start, .end = phase.start + phase.seconds, .stage = phase.stage, .batch = phase.batch},
            phase.device);
    }
    m_timeline.setPrologue(log->prologueSeconds());
    m_timeline.setEnd(log->elapsed(), log->state() == protocol::RunState::Finished);
}

}  // namespace hopscope::panels
