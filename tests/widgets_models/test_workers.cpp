// What the workers of a run have done, and what is said of them.

#include <QTest>

#include "models/worker_text.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::models;
using protocol::RunState;
using protocol::ShardOutcome;
using protocol::StageId;
using protocol::WorkerNews;

namespace {

protocol::WorkerEvent news(int worker, WorkerNews what, double time, const char* message = "")
{
    return {.worker = worker, .what = what, .host = "node-a", .message = message, .time = time};
}

protocol::ShardEvent shard(int worker, int number, ShardOutcome outcome, double begin, double end, int attempt = 1)
{
    protocol::ShardEvent event{.worker = worker, .stage = StageId(2), .outcome = outcome, .shard = number};
    event.first = 100 * (number - 1);
    event.count = 100;
    event.work = 1000;
    event.attempt = attempt;
    event.begin = begin;
    event.end = end;
    event.time = outcome == ShardOutcome::Begun ? begin : end;
    if (outcome == ShardOutcome::Computed) {
        event.destinations = 100;
        event.written = 1 << 20;
        event.done = 100 * number;
    }
    return event;
}

// A run of several workers in its second stage, in which nothing has begun.
struct Run {
    RunLog log;
    explicit Run(int workers, std::size_t limit = RunLog::capacity) : log(nullptr, limit)
    {
        for (int number = 1; number <= workers; ++number) {
            tell(news(number, WorkerNews::Starting, 0));
            tell(news(number, WorkerNews::Joined, 1));
        }
        tell(protocol::StageEvent{.index = StageId(2), .count = 3, .destinations = 1600, .time = 1, .shards = 16});
    }
    void tell(const protocol::RunEvent& event, RunState state = RunState::Running) { log.apply({1, state, {event}}); }
    void begin(int worker, int number, double time, int attempt = 1)
    {
        tell(shard(worker, number, ShardOutcome::Begun, time, time, attempt));
    }
    void compute(int worker, int number, double from, double to, int attempt = 1)
    {
        begin(worker, number, from, attempt);
        tell(shard(worker, number, ShardOutcome::Computed, from, to, attempt));
    }
    [[nodiscard]] const WorkerLog& workers() const { return *log.workers(); }
};

}  // namespace

class TestWorkers : public QObject {
    Q_OBJECT
private slots:
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral("."))); }

    void aRunOfOneProcessHasNone();
    void whoWaitsForWhomIsSaid();
    void timeAfterTheLastStageDoesNotCount();
    void whoRefusesIsNotLost();
    void theSlowestIsComparedWithTheOthersByWork();
    void aLostWorkerEndsItsShardAndAnotherBegins();
    void rowsThatAreDoneCountForTheStage();
    void aFullLaneKeepsWhatIsUnderWay();
    void theSummaryNamesWhatHappened();
    void aShardTellsWhatBecameOfIt();
};

void TestWorkers::aRunOfOneProcessHasNone()
{
    RunLog log;
    log.apply({1, RunState::Running, {protocol::StageEvent{StageId(1), 2, 100, 0}, protocol::BatchEvent{}}});
    QVERIFY(log.workers() == nullptr);
    QVERIFY(waitSentence(log).isEmpty());
}

void TestWorkers::whoWaitsForWhomIsSaid()
{
    RunLog loading;
    loading.apply({1, RunState::Preparing, {news(1, WorkerNews::Starting, 0), news(2, WorkerNews::Starting, 0)}});
    QCOMPARE(waitSentence(loading), QStringLiteral("All 2 workers load the model and the data."));
    loading.apply({1, RunState::Preparing, {news(2, WorkerNews::Joined, 1)}});
    Run run(3);
    QCOMPARE(waitSentence(run.log), QStringLiteral("All 3 workers read rows that other workers have written."));
    for (int number = 1; number <= 3; ++number) run.begin(number, number, 1);
    QCOMPARE(waitSentence(run.log), QStringLiteral("All 3 workers compute shards of stage 2."));
    run.tell(shard(3, 3, ShardOutcome::Computed, 1, 2));
    QCOMPARE(waitSentence(run.log),
             QStringLiteral("1 of 3 workers waits for workers 1 and 2, which compute shards of stage 2."));
    run.tell(shard(1, 1, ShardOutcome::Computed, 1, 2));
    QCOMPARE(waitSentence(run.log),
             QStringLiteral("2 of 3 workers wait for worker 2, which is at shard 2 of stage 2."));
    run.tell(news(2, WorkerNews::Late, 40, "slower"));
    QCOMPARE(waitSentence(run.log),
             QStringLiteral(
                 "2 of 3 workers wait for worker 2, which is at shard 2 of stage 2 and is slower than expected."));
    run.tell(news(2, WorkerNews::Lost, 41, "killed"));
    QVERIFY2(waitSentence(run.log).endsWith(QStringLiteral("1 of 3 workers loads the model and the data.")),
             qPrintable(waitSentence(run.log)));
    run.tell(protocol::BarrierEvent{StageId(2), 42}, RunState::Verifying);
    run.tell(news(3, WorkerNews::Done, 42), RunState::Verifying);
    QCOMPARE(waitSentence(run.log),
             QStringLiteral("Worker 1 compares the results with the unsplit model; the others are done."));
    QVERIFY(!run.workers().lanes()[2].lives.back().lost);
    run.log.finish();
    QVERIFY2(waitSentence(run.log).startsWith(QStringLiteral("Workers were computing for 2 %")),
             qPrintable(waitSentence(run.log)));
    Run alone(1);
    alone.begin(1, 1, 1);
    QCOMPARE(waitSentence(alone.log), QStringLiteral("Worker 1 computes shards of stage 2."));
}

// A worker is there from when it joins to the end of the last stage, however long it stays then.
void TestWorkers::timeAfterTheLastStageDoesNotCount()
{
    Run run(1);
    run.compute(1, 1, 1, 11);
    run.tell(protocol::BarrierEvent{StageId(2), 11}, RunState::Verifying);
    run.tell(news(1, WorkerNews::Done, 111), RunState::Verifying);
    run.log.finish();
    QVERIFY2(waitSentence(run.log).startsWith(QStringLiteral("Workers were computing for 100 %")),
             qPrintable(waitSentence(run.log)));
}

void TestWorkers::whoRefusesIsNotLost()
{
    Run run(3);
    run.tell(news(2, WorkerNews::Refused, 2, "another model"));
    QCOMPARE(run.workers().lost(), 0);
    run.tell(news(3, WorkerNews::Lost, 3, "killed"));
    QCOMPARE(run.workers().lost(), 1);
}

void TestWorkers::theSlowestIsComparedWithTheOthersByWork()
{
    Run run(3);
    QVERIFY(!slowestWorker(run.workers()));
    run.compute(1, 1, 1, 2);
    QVERIFY(!slowestWorker(run.workers()));  // nothing to compare with
    run.compute(2, 2, 1, 2.5);
    run.compute(1, 3, 2, 3);
    run.compute(3, 4, 1, 3);  // one shard in two seconds: 2; the others 3.5 for three
    const auto slowest = slowestWorker(run.workers());
    QVERIFY(slowest);
    QCOMPARE(slowest->worker, 3);
    QVERIFY(std::abs(slowest->more - (2 / (3.5 / 3) - 1)) < 1e-9);
}

void TestWorkers::aLostWorkerEndsItsShardAndAnotherBegins()
{
    Run run(2);
    run.begin(1, 1, 1);
    run.begin(2, 2, 1);
    run.tell(shard(1, 1, ShardOutcome::Lost, 1, 1.5));
    run.tell(news(1, WorkerNews::Lost, 1.5, "the engine was killed"));
    const WorkerLane& lane = run.workers().lanes()[0];
    QVERIFY(!lane.here() && lane.underWay() == nullptr);
    QCOMPARE(lane.shards.back().event.outcome, ShardOutcome::Lost);
    QCOMPARE(*lane.lives.back().to, 1.5);
    QCOMPARE(lane.lives.back().reason, QStringLiteral("the engine was killed"));
    QCOMPARE(lane.count, 0);  // nothing came of it
    QCOMPARE(run.log.notes(),
             QStringList(
                 "worker 1 on node-a was lost: the engine was killed; other workers take over its unfinished shards"));
    run.tell(news(1, WorkerNews::Starting, 2));
    run.tell(news(1, WorkerNews::Joined, 3));
    QCOMPARE(lane.lives.size(), std::size_t(2));
    QVERIFY(lane.here());
    run.compute(1, 1, 3, 4, 2);
    QCOMPARE(run.workers().again(), 1);
    QCOMPARE(run.workers().lost(), 1);
    QCOMPARE(lane.count, 1);
}

void TestWorkers::rowsThatAreDoneCountForTheStage()
{
    Run run(2);
    run.compute(1, 4, 1, 2);
    QCOMPARE(run.log.stages().back().done, 400);
    QCOMPARE(run.log.stages().back().destinations, 1600);
    QCOMPARE(run.log.stages().back().seconds, 1.0);
    QCOMPARE(run.log.rate(), 400.0);
    QCOMPARE(run.log.elapsed(), 2.0);
    run.tell(protocol::StageEvent{
        .index = StageId(3), .count = 3, .destinations = 1600, .time = 3, .done = 500, .shards = 11});
    QCOMPARE(run.log.stages().back().done, 500);  // of a run that goes on
}

void TestWorkers::aFullLaneKeepsWhatIsUnderWay()
{
    Run run(1, 8);
    for (int number = 1; number <= 1000; ++number) run.compute(1, number, number, number + (number == 7 ? 0.9 : 0.5));
    run.begin(1, 1001, 1001);
    const WorkerLane& lane = run.workers().lanes()[0];
    QVERIFY(lane.shards.size() <= 8);
    QVERIFY(lane.underWay() != nullptr && lane.underWay()->event.shard == 1001);
    QCOMPARE(lane.count, 1000);
    QVERIFY(run.log.thinnings() > 0);
    QVERIFY(std::ranges::any_of(lane.shards, [](const ShardSpan& span) { return span.event.shard == 7; }));  // the peak
}

void TestWorkers::theSummaryNamesWhatHappened()
{
    Run run(2);
    QCOMPARE(workersSummary(run.workers()), QStringLiteral("2 workers"));
    run.compute(1, 1, 1, 2);
    run.compute(2, 2, 1, 2.25);
    run.tell(protocol::ReadBackEvent{1, StageId(2), 3, 3.5, 512 << 10});
    run.begin(1, 3, 3.5, 2);
    run.tell(news(2, WorkerNews::Lost, 4, "killed"));
    QCOMPARE(workersSummary(run.workers()),
             QStringLiteral("2 workers · 1 lost · 1 shard recomputed · slowest: worker 2, +25 % · 2.0 MiB written, "
                            "512 KiB read back"));
    QVERIFY(laneText(run.workers().lanes()[1]).contains(QStringLiteral("ended at 4.00 s: killed")));
}

void TestWorkers::aShardTellsWhatBecameOfIt()
{
    Run run(2);
    run.begin(1, 14, 1.2, 2);
    const WorkerLane& lane = run.workers().lanes()[0];
    QCOMPARE(shardText(lane, lane.shards.back().event),
             QStringLiteral(
                 "shard 14 of stage 2 · worker 1\nrows 1,300 to 1,399\nrunning since 1.20 s\nrecomputed: attempt 2"));
    run.tell(shard(1, 14, ShardOutcome::Computed, 1.2, 1.7, 2));
    QVERIFY(shardText(lane, lane.shards.back().event)
                .contains(QStringLiteral("500 ms at 1.20 s\n1.0 MiB written, 0 B read")));
    run.begin(1, 15, 2);
    run.tell(shard(1, 15, ShardOutcome::Found, 2, 2.1));
    QVERIFY(shardText(lane, lane.shards.back().event).endsWith(QStringLiteral("already computed by others")));
}

HOPSCOPE_QT_SUITE(workers, TestWorkers)
#include "widgets_models/test_workers.moc"
