#pragma once

// What is said of the workers of a run, in words.

#include "models/run_log.h"

namespace hopscope::models {

// Who waits for whom: "2 of 3 workers wait for worker 1, which is at shard 14 of stage 2."
QString waitSentence(const RunLog& log);
// "3 workers · 1 lost · 2 shards done again · slowest: worker 2, +18 % · 12.4 MiB written, 6.1 MiB read back"
QString workersSummary(const WorkerLog& workers);
// How much longer than the others together the slowest worker takes for the same work, and which one that is; none where
// fewer than two have finished anything.
struct Slowest {
    int worker = 1;
    double more = 0;  // 0.18: 18 % more
};
std::optional<Slowest> slowestWorker(const WorkerLog& workers);

// What of an event is worth a line of its own: "worker 2 on node-b was lost: .."; empty: nothing.
QString workerNews(const protocol::WorkerEvent& event);
QString workerName(const WorkerLane& lane);  // "worker 1"
QString laneText(const WorkerLane& lane);    // some lines on all that it did
QString shardText(const WorkerLane& lane, const protocol::ShardEvent& shard);
QString readBackText(const WorkerLane& lane, const protocol::ReadBackEvent& event);

}  // namespace hopscope::models
