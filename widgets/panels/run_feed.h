#pragma once

// Passes new events of a run's log to plots and timeline, without reading the old ones again.

#include "models/document.h"
#include "models/run_log.h"
#include "plots/stage_bars.h"
#include "plots/time_plot.h"
#include "plots/timeline.h"

namespace hopscope::panels {

// Returns null if there is no plan, or if it has no prediction.
const protocol::PredictedStage* predictedOf(const protocol::PlanRecord* plan, protocol::StageId stage);

// Returns the measured stages of a run; with a log, also the plan's predictions.
plots::StageRun stageRun(const QString& title, const models::RunLog& log, const protocol::PlanRecord* plan);
plots::StageRun stageRun(const QString& title, const schema::Report& report);

// Returns stages as bands of time; a running stage extends to `openEnd`. Levels are the predicted peaks of the plan.
std::vector<plots::Band> bandsOf(const models::RunLog& log, const protocol::PlanRecord* plan, double openEnd);

// Feeds the series with new batches: device memory, memory reserved by a GPU's allocator, destinations per second (over
// at least 1/400 of the run) and batch sizes. For several workers, it feeds only the rate (over at least 1/40).
class BatchFeed {
public:
    BatchFeed(plots::Series& memory, plots::Series& reserved, plots::Series& rate, plots::Series& size);
    void read(const models::RunLog* log);  // starts over for a different log or null

private:
    void restart(const models::RunLog* log);
    void readWorkers(const models::RunLog& log);
    void addRate(double time, std::int64_t finished, double shortest);

    plots::Series &m_memory, &m_reserved, &m_rate, &m_size;
    const models::RunLog* m_log = nullptr;
    std::size_t m_read = 0;
    int m_thinnings = 0;
    double m_rateSince = 0;
    std::int64_t m_rateBefore = 0;  // destinations finished at that time
};

// Feeds new phases into the timeline.
class PhaseFeed {
public:
    explicit PhaseFeed(plots::Timeline& timeline) : m_timeline(timeline) {}
    void read(const models::RunLog* log);

private:
    plots::Timeline& m_timeline;
    const models::RunLog* m_log = nullptr;
    std::size_t m_read = 0;
    int m_thinnings = 0;
};

}  // namespace hopscope::panels
