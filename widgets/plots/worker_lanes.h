#pragma once

// Shows the workers of a run over time, with one lane each: shards as bars with their numbers, repeated ones marked,
// lost workers ended with a cross, and barriers as lines with the names of their stages. Where the lane of a loaded worker
// is empty, the worker waits. Up and Down choose a worker, Shift with Left and Right one of its shards.

#include <memory>
#include <vector>

#include "models/run_log.h"
#include "plots/frame.h"
#include "plots/painted_lane.h"
#include "plots/time_view.h"

namespace hopscope::plots {

class WorkerLanes : public TimeView {
    Q_OBJECT
public:
    explicit WorkerLanes(QWidget* parent = nullptr);

    // Adds the events of a log since the last call. Null, or a log without workers, shows nothing. `now` is the time of
    // the run, which continues between events; a time before the last event is replaced by that of the event.
    void display(const std::shared_ptr<const models::RunLog>& log, double now = 0);
    [[nodiscard]] QString describe(const QPoint& at) const override;
    // Describes the worker or the shard chosen by keys; empty if neither is.
    [[nodiscard]] QString chosenText() const;
    // Returns the legend: shards, reads of other workers' rows and, if there are any, recomputed shards and lost workers.
    [[nodiscard]] std::vector<LegendItem> legendItems() const;
    [[nodiscard]] QRect laneRect(int worker) const;  // `worker` counts from 1

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;
    [[nodiscard]] QString figureTitle() const override;
    void paintFigure(QPainter& painter, const QSize& size) override;
    [[nodiscard]] QString csv() const override;

signals:
    void choiceChanged(const QString& text);

protected:
    [[nodiscard]] QRect lanesRect(const QSize& size) const override;
    [[nodiscard]] protocol::StageId stageAt(const QPoint& at) const override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Row {
        PaintedLane shards;              // ended ones; their intervals are numbered by their position in the log
        std::vector<std::size_t> again;  // indices of marked ones: those of a repeated attempt, and lost ones
        std::size_t read = 0;            // the number of the log's shards that this row contains
    };
    struct Choice {
        std::size_t lane = 0;
        std::optional<std::size_t> shard;
    };
    [[nodiscard]] const std::vector<models::WorkerLane>& lanes() const;
    [[nodiscard]] QRect rowOf(std::size_t lane, const QSize& size) const;
    [[nodiscard]] const models::ShardSpan* shardAt(const QPoint& at, std::size_t* lane) const;
    void read(std::size_t lane);
    void paintLane(QPainter& painter, std::size_t lane, const QRect& rect);
    void paintLives(QPainter& painter, const models::WorkerLane& lane, const QRect& rect) const;
    void paintShards(QPainter& painter, std::size_t lane, const QRect& rect);
    void paintShard(QPainter& painter, const models::ShardSpan& span, const QRectF& bar) const;
    void paintReadBacks(QPainter& painter, const models::WorkerLane& lane, const QRect& rect) const;
    void paintEnds(QPainter& painter, const models::WorkerLane& lane, const QRect& rect) const;
    void paintBarriers(QPainter& painter, const QRect& lanes) const;
    [[nodiscard]] QRectF barOf(double begin, double end, const QRect& rect) const;
    [[nodiscard]] QColor colourOf(const protocol::ShardEvent& shard) const;
    void choose(Choice choice);

    std::shared_ptr<const models::RunLog> m_log;
    std::vector<Row> m_rows;
    int m_thinnings = 0;
    std::optional<Choice> m_choice;
};

}  // namespace hopscope::plots
