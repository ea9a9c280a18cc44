#pragma once

// What the workers of one run have done when: a lane for each, as plain data.

#include <QString>
#include <optional>
#include <vector>

#include "protocol/run.h"

namespace hopscope::models {

// A shard that a worker has, or had, under way; `event` is what was told of it last.
struct ShardSpan {
    protocol::ShardEvent event;
    [[nodiscard]] bool underWay() const { return event.outcome == protocol::ShardOutcome::Begun; }
};

// A process that computed in a lane: another one begins where it is lost.
struct WorkerLife {
    double from = 0;
    std::optional<double> joined = {}, to = {};  // joined: once its run stands at a stage; to: when it ended
    bool lost = false;                           // or refused; else it was done
    QString reason = {};                         // why
};

struct WorkerLane {
    int number = 1;
    QString host;
    std::vector<WorkerLife> lives;
    std::vector<ShardSpan> shards;  // by their beginning; at most the last one is under way
    std::vector<protocol::ReadBackEvent> readBacks;
    bool late = false;  // what it has under way takes too long
    // Of shards that have ended:
    std::int64_t count = 0, destinations = 0, written = 0, readBack = 0;
    double seconds = 0, work = 0;

    [[nodiscard]] const ShardSpan* underWay() const;  // null: it waits
    [[nodiscard]] bool here() const;                  // it has joined, and is not lost
    // Seconds for a unit of work; none before it has finished anything.
    [[nodiscard]] std::optional<double> rate() const;
};

// How many destinations all workers had computed at a time.
struct FinishedRows {
    double time = 0;
    std::int64_t rows = 0;
};

class WorkerLog {
public:
    // `limit`: shards that are kept of each lane; a full lane is halved, and keeps the longest.
    explicit WorkerLog(std::size_t limit) : m_limit(limit) {}

    void apply(const protocol::WorkerEvent& event);
    bool apply(const protocol::ShardEvent& event);  // whether a series was halved
    void apply(const protocol::BarrierEvent& event);
    void apply(const protocol::ReadBackEvent& event);
    void began(const protocol::StageEvent& event) { m_stage = event; }

    [[nodiscard]] const std::vector<WorkerLane>& lanes() const { return m_lanes; }  // by number, from 1
    [[nodiscard]] const std::vector<protocol::BarrierEvent>& barriers() const { return m_barriers; }
    [[nodiscard]] const std::vector<FinishedRows>& finished() const { return m_finished; }
    // That is under way; nothing before the first one and behind a barrier.
    [[nodiscard]] const std::optional<protocol::StageEvent>& stage() const { return m_stage; }
    [[nodiscard]] int again() const { return m_again; }  // shards that were begun once more
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
