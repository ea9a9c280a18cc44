#pragma once

// Stores the events of one run for plots. Each series has a limit of 1,000,000 points; a full one is thinned instead of
// truncated. The engine client's notifications fill it; plots read it on their own timer.

#include <QObject>
#include <QString>
#include <QStringList>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/worker_log.h"
#include "plan/figures.h"
#include "protocol/run.h"

namespace hopscope::models {

// The figures of a stage, incomplete while it runs. `seconds` excludes pauses; `destinations` counts those of the whole
// stage.
struct StageProgress : plan::StageFigures {
    protocol::StageId index{1};
    double start = 0, end = 0;  // on the run's clock; while the stage runs, `end` is that of the last batch or shard
    bool finished = false;
    std::int64_t done = 0;  // destinations
};

struct BatchPoint {
    double time = 0;
    std::int64_t destinations = 0, edges = 0, frontier = 0, memory = 0, peakMemory = 0;
    protocol::StageId stage{1};
    std::int64_t reservedMemory = 0;  // by the allocator of a GPU
    std::int64_t finished = 0;        // destinations of the whole run so far, including batches that are no longer kept
};

// A phase of a batch. Phases of different batches may overlap; within a stage, those of the same kind do not.
struct PhasePoint {
    double start = 0, seconds = 0;
    protocol::StageId stage{1};
    int phase = 0;
    std::int64_t batch = 0;
    int device = 0;  // of several GPUs: its place among them, from 0
};

enum class RunEnd { Completed, Stopped, Failed };

class RunLog : public QObject {
    Q_OBJECT
public:
    static constexpr std::size_t capacity = 1'000'000;  // points per series

    struct Data {
        int stageCount = 0;
        double prologueSeconds = 0, elapsed = 0;
        std::int64_t merged = 0;  // phase events that the engine omitted
        std::int64_t finished = 0;
        std::vector<StageProgress> stages;
        std::vector<BatchPoint> batches;
        std::vector<PhasePoint> phases;
        QStringList notes;
        std::optional<protocol::StopEvent> stop;
        std::optional<WorkerLog> workers;  // for a run with several workers
    };

    // `limit` is the number of points per series (at least 4). A full series is halved, keeping the first, the last and
    // every peak.
    explicit RunLog(QObject* parent = nullptr, std::size_t limit = capacity) : QObject(parent), m_limit(limit) {}

    void apply(const protocol::RunEvents& events);
    // Ends the run. `remark` is the reason for a failure, or the options after a stop.
    void finish(RunEnd end = RunEnd::Completed, const QString& remark = {});

    [[nodiscard]] protocol::RunState state() const { return m_state; }
    // The outcome once the state is Finished, and whether the run ended while its results were being verified.
    [[nodiscard]] RunEnd end() const { return m_end; }
    [[nodiscard]] const QString& remark() const { return m_remark; }
    [[nodiscard]] bool endedVerifying() const { return m_before == protocol::RunState::Verifying; }
    [[nodiscard]] int stageCount() const { return m_data.stageCount; }
    [[nodiscard]] double prologueSeconds() const { return m_data.prologueSeconds; }
    [[nodiscard]] double elapsed() const { return m_data.elapsed; }  // time of the last event
    [[nodiscard]] std::int64_t merged() const { return m_data.merged; }
    [[nodiscard]] const std::vector<StageProgress>& stages() const { return m_data.stages; }
    [[nodiscard]] const std::vector<BatchPoint>& batches() const { return m_data.batches; }
    [[nodiscard]] const std::vector<PhasePoint>& phases() const { return m_data.phases; }
    // Returns the operator at which the run is stopped; none if it is running, or paused between batches.
    [[nodiscard]] const std::optional<protocol::StopEvent>& stop() const { return m_data.stop; }
    // Returns null for a run of one process.
    [[nodiscard]] const WorkerLog* workers() const { return m_data.workers ? &*m_data.workers : nullptr; }
    [[nodiscard]] const QStringList& notes() const { return m_data.notes; }
    // Returns how often a series has been halved so far. A reader that appends new points starts over when it changes.
    [[nodiscard]] int thinnings() const { return m_thinnings; }
    [[nodiscard]] double
    fraction() const;  // 0..1 of the stages, all of equal weight, including the finished part of the current one
    [[nodiscard]] double rate() const;         // destinations per second in the current stage; 0: unknown
    [[nodiscard]] double secondsLeft() const;  // in the current stage, at the current rate; negative: unknown

signals:
    void updated();  // once per RunEvents, and once at the end
    void stateChanged(hopscope::protocol::RunState state);
    void stopped();  // after an operator; see stop()

private:
    void setState(protocol::RunState state);

    Data m_data;
    protocol::RunState m_state = protocol::RunState::Preparing;
    protocol::RunState m_before = protocol::RunState::Preparing;  // the state before this one
    RunEnd m_end = RunEnd::Completed;
    QString m_remark;
    std::size_t m_limit;
    int m_thinnings = 0;
};

}  // namespace hopscope::models
