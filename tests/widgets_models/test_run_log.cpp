#include <QSignalSpy>
#include <QTest>

#include "models/run_log.h"
#include "support/qt_suites.h"

using namespace hopscope;
using protocol::RunState;

class TestRunLog : public QObject {
    Q_OBJECT
private slots:
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral("."))); }

    void stagesAddUpTheirPhasesAndBatches();
    void aGpusStageKeepsItsOverlapAndTheMostThatWasReserved();
    void progressCountsStagesEqually();
    void theRateIsThatOfTheCurrentStage();
    void oneUpdatePerMessage();
    void aFullSeriesKeepsItsFirstLastAndPeaks();
    void thinningIsCounted();
    void mergedPhasesAreCounted();
    void aFinishedRunIsComplete();
};

namespace {

protocol::BatchEvent batch(int stage, double time, std::int64_t done, std::int64_t total, std::int64_t peak = 1)
{
    protocol::BatchEvent event;
    event.stage = protocol::StageId(stage);
    event.time = time;
    event.done = done;
    event.total = total;
    event.destinations = 1;
    event.peakMemory = peak;
    return event;
}

protocol::RunEvents message(std::vector<protocol::RunEvent> events, RunState state = RunState::Running)
{
    return {1, state, std::move(events)};
}

}  // namespace

void TestRunLog::stagesAddUpTheirPhasesAndBatches()
{
    models::RunLog log;
    log.apply(message({protocol::PrologueEvent{0.5}, protocol::StageEvent{protocol::StageId(1), 2, 100, 0.5},
                       protocol::PhaseEvent{protocol::StageId(1), 0, plan::Phase::Compute, 0.5, 0.25},
                       protocol::PhaseEvent{protocol::StageId(1), 1, plan::Phase::Compute, 0.75, 0.5},
                       batch(1, 1, 50, 100, 700), batch(1, 1.5, 100, 100, 300)}));
    QCOMPARE(log.prologueSeconds(), 0.5);
    QCOMPARE(log.stageCount(), 2);
    const models::StageProgress& stage = log.stages().front();
    QCOMPARE(stage.phases[3], 0.75);
    QCOMPARE(stage.batches, 2);
    QCOMPARE(stage.peakMemory, 700);
    QCOMPARE(stage.seconds, 1.0);
    QVERIFY(!stage.finished);
    QCOMPARE(log.elapsed(), 1.5);
    log.apply(message({protocol::StageEndEvent{protocol::StageId(1), 1.25, 1.75, {}}}));
    QCOMPARE(log.stages().front().seconds, 1.25);
    QVERIFY(log.stages().front().finished);
}

void TestRunLog::aGpusStageKeepsItsOverlapAndTheMostThatWasReserved()
{
    models::RunLog log;
    protocol::BatchEvent first = batch(1, 1, 50, 100), second = batch(1, 1.5, 100, 100);
    first.reservedMemory = 4000;
    second.reservedMemory = 3000;
    // The second batch is copied in while the first one is computed, and told later.
    log.apply(message({protocol::StageEvent{protocol::StageId(1), 1, 100, 0},
                       protocol::PhaseEvent{protocol::StageId(1), 0, plan::Phase::Compute, 0.5, 0.5}, first,
                       protocol::PhaseEvent{protocol::StageId(1), 1, plan::Phase::HostToDevice, 0.25, 0.5}, second}));
    QVERIFY(!log.stages().front().overlap);
    QCOMPARE(log.stages().front().reservedMemory.value_or(0), 4000);
    QCOMPARE(log.batches().back().reservedMemory, 3000);
    QCOMPARE(log.phases().back().start, 0.25);
    log.apply(message({protocol::StageEndEvent{protocol::StageId(1), 1.5, 1.5, 0.92}}));
    QCOMPARE(log.stages().front().overlap, std::optional(0.92));
}

void TestRunLog::progressCountsStagesEqually()
{
    models::RunLog log;
    QCOMPARE(log.fraction(), 0.0);
    log.apply(message({protocol::StageEvent{protocol::StageId(1), 4, 100, 0}, batch(1, 1, 50, 100)}));
    QCOMPARE(log.fraction(), 0.125);
    log.apply(message({protocol::StageEndEvent{protocol::StageId(1), 2, 2, {}},
                       protocol::StageEvent{protocol::StageId(2), 4, 10, 2}}));
    QCOMPARE(log.fraction(), 0.25);
}

void TestRunLog::theRateIsThatOfTheCurrentStage()
{
    models::RunLog log;
    QCOMPARE(log.rate(), 0.0);
    QVERIFY(log.secondsLeft() < 0);
    log.apply(message({protocol::StageEvent{protocol::StageId(1), 1, 100, 10}, batch(1, 12, 50, 100)}));
    QCOMPARE(log.rate(), 25.0);
    QCOMPARE(log.secondsLeft(), 2.0);
}

void TestRunLog::oneUpdatePerMessage()
{
    models::RunLog log;
    QSignalSpy updated(&log, &models::RunLog::updated), state(&log, &models::RunLog::stateChanged);
    log.apply(message({batch(1, 1, 1, 3), batch(1, 2, 2, 3), batch(1, 3, 3, 3)}));
    QCOMPARE(updated.count(), 1);
    QCOMPARE(state.count(), 1);
    log.apply(message({}, RunState::Paused));
    QCOMPARE(state.count(), 2);
    QCOMPARE(log.state(), RunState::Paused);
}

void TestRunLog::aFullSeriesKeepsItsFirstLastAndPeaks()
{
    constexpr std::size_t limit = 64;
    models::RunLog log(nullptr, limit);
    std::int64_t largest = 0;
    for (int at = 0; at < 10'000; ++at) {
        const std::int64_t peak = (at * 7919LL) % 10'007;  // no two alike
        largest = std::max(largest, peak);
        log.apply(message({batch(1, at, at, 10'000, peak)}));
        QVERIFY(log.batches().size() <= limit);
        QCOMPARE(log.batches().front().time, 0.0);
        QCOMPARE(log.batches().back().time, static_cast<double>(at));
    }
    QVERIFY(log.batches().size() >= limit / 2);
    const auto most = std::ranges::max_element(log.batches(), {}, &models::BatchPoint::peakMemory);
    QCOMPARE(most->peakMemory, largest);
    QVERIFY(std::ranges::is_sorted(log.batches(), {}, &models::BatchPoint::time));
}

void TestRunLog::thinningIsCounted()
{
    models::RunLog log(nullptr, 8);
    int seen = 0;
    for (int at = 0; at < 100; ++at) {
        const std::size_t before = log.batches().size();
        log.apply(message({batch(1, at, at, 100)}));
        if (log.batches().size() <= before) ++seen;
    }
    QVERIFY(seen > 10);
    QCOMPARE(log.thinnings(), seen);
}

void TestRunLog::mergedPhasesAreCounted()
{
    models::RunLog log;
    log.apply(message({protocol::MergedEvent{7}, protocol::MergedEvent{5}, protocol::NoteEvent{"a note"}}));
    QCOMPARE(log.merged(), 12);
    QCOMPARE(log.notes(), QStringList("a note"));
}

void TestRunLog::aFinishedRunIsComplete()
{
    models::RunLog log;
    log.apply(message({protocol::StageEvent{protocol::StageId(1), 3, 10, 0}}));
    QSignalSpy state(&log, &models::RunLog::stateChanged);
    log.finish();
    log.finish();
    QCOMPARE(state.count(), 1);
    QCOMPARE(log.fraction(), 1.0);
}

HOPSCOPE_QT_SUITE(run_log, TestRunLog)
#include "test_run_log.moc"
