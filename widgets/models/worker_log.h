#pragma once

// The work of a run's workers over time, with a lane for each, as plain data.

#include <QString>
#include <optional>
#include <vector>

#include "protocol/run.h"

namespace hopscope::models {

// A shard that a worker is computing or has computed; `event` is the latest report about it.
struct ShardSpan {
    protocol::ShardEvent event;
    [[nodiscard]] bool underWay() const { return event.outcome == protocol::ShardOutcome::Begun; }
};

// A process that computed in a lane. After it is lost, another one takes over the lane.
struct WorkerLife {
    double from = 0;
    std::optional<double> joined = {}, to = {};  // joined: its run reached a stage; to: when it ended
    bool lost = false;                           // or refused; otherwise its work was completed
    QString reason = {};                         // for the loss
};

struct WorkerLane {
    int number = 1;
    QString host;
    std::vector<WorkerLife> lives;
    std::vector<ShardSpan> shards;  // ordered by start; at most the last one is unfinished
    std::vector<protocol::ReadBackEvent> readBacks;
    bool late = false;  // its current shard takes too long
    // Totals of finished shards:
    std::int64_t count = 0, destinations = 0, written = 0, readBack = 0;
    double seconds = 0, work = 0;

    [[nodiscard]] const ShardSpan* underWay() const;  // null: the worker waits
    [[nodiscard]] bool here() const;                  // it has joined and is not lost
    // Returns the seconds per unit of work; none before the worker has finished anything.
    [[nodiscard]] std::optional<double> rate() const;
};

// The number of destinations that all workers together had computed at a given time.
struct FinishedRows {
    double time = 0;
    std::int64_t rows = 0;
};

class WorkerLog {
public:
    // `limit` is the number of shards kept per lane; a full lane is halved, keeping the longest ones.
    explicit WorkerLog(std::size_t limit) : m_limit(limit) {}

    void apply(const protocol::WorkerEvent& event);
    bool apply(const protocol::ShardEvent& event);  // returns true if a series was halved
    void apply(const protocol::BarrierEvent& event);
    void apply(const protocol::ReadBackEvent& event);
    void began(const protocol::StageEvent& event) { m_stage = event; }

    [[nodiscard]] const std::vector<WorkerLane>& lanes() const { return m_lanes; }  // by number, from 1
    [[nodiscard]] const std::vector<protocol::BarrierEvent>& barriers() const { return m_barriers; }
    [[nodiscard]] const std::vector<FinishedRows>& finished() const { return m_finished; }
    // Returns the current stage; none before the first one and after a barrier.
    [[nodiscard]] const std::optional<protocol::StageEvent>& stage() const { return m_stage; }
    [[nodiscard]] int again() const { return m_again; }  // shards that were started again
    [[nodiscard]] int lost() const { return m_lost; }    // processes

private:
    WorkerLane& lane(int number);

    std::vector<WorkerLane> m_lanes;
    std::vector<protocol::BarrierEvent> m_barriers;
    std::vector<FinishedRows> m_finished;
    std::optional<protocol::StageEvent> m_stage;
    std::size_t m_limit;
    int m_again = 0, m_lost = 0;
};

}  // namespace hopscope::models
