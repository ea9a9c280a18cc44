#pragma once

// Texts about the workers of a run.

#include "models/run_log.h"

namespace hopscope::models {

// Describes the activity of the workers: "2 of 3 workers wait for worker 1, which is at shard 14 of stage 2." After the run,
// states for which share of their time they were computing. Empty without workers.
QString waitSentence(const RunLog& log);
// Returns "3 workers · 1 lost · 2 shards recomputed · slowest: worker 2, +18 % · 12.4 MiB written, 6.1 MiB read back".
QString workersSummary(const WorkerLog& workers);
// The slowest worker, and how much longer it takes for the same work than the others on average; none if fewer than two
// workers have finished anything.
struct Slowest {
    int worker = 1;
    double more = 0;  // 0.18: 18 % more
};
std::optional<Slowest> slowestWorker(const WorkerLog& workers);

// Returns the log line for an event: "worker 2 on node-b was lost: .."; empty if the event is not logged.
QString workerNews(const protocol::WorkerEvent& event);
QString workerName(const WorkerLane& lane);  // "worker 1"
QString laneText(const WorkerLane& lane);    // a few lines about all its work
QString shardText(const WorkerLane& lane, const protocol::ShardEvent& shard);
QString readBackText(const WorkerLane& lane, const protocol::ReadBackEvent& event);

}  // namespace hopscope::models
