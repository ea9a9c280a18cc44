// The lanes of workers: what is painted where, by colour, and what is said of it.

#include <QSignalSpy>
#include <QTest>

#include "plots/worker_lanes.h"
#include "support/qt_suites.h"

using namespace hopscope;
using plots::WorkerLanes;
using protocol::RunState;
using protocol::ShardOutcome;
using protocol::StageId;
using protocol::WorkerNews;

namespace {

using Log = std::shared_ptr<models::RunLog>;

void tell(const Log& log, std::vector<protocol::RunEvent> events, RunState state = RunState::Running)
{
    log->apply({1, state, std::move(events)});
}

protocol::ShardEvent shard(int worker, int number, double begin, double end,
                           ShardOutcome outcome = ShardOutcome::Computed, int attempt = 1, int stage = 1)
{
    protocol::ShardEvent event{.worker = worker, .stage = StageId(stage), .outcome = outcome, .shard = number};
    event.count = 10;
    event.work = 10;
    event.attempt = attempt;
    event.begin = begin;
    event.end = event.time = end;
    return event;
}

void join(const Log& log, int worker, double time)
{
    tell(log, {protocol::WorkerEvent{worker, WorkerNews::Starting, "node", "", 0},
               protocol::WorkerEvent{worker, WorkerNews::Joined, "node", "", time}});
}

// Ten seconds: worker 1 computes from 1 to 4 and from 5 to 9; worker 2 is lost at 3 in the middle of a shard, and another
// one begins at 6, which does it again from 7 to 8. A barrier at 9.
Log small()
{
    auto log = std::make_shared<models::RunLog>();
    join(log, 1, 0.5);
    join(log, 2, 0.5);
    tell(log, {protocol::StageEvent{.index = StageId(1), .count = 2, .destinations = 100, .time = 1, .shards = 4}});
    tell(log, {shard(1, 1, 1, 4), shard(1, 3, 5, 9), shard(2, 2, 1, 3, ShardOutcome::Lost),
               protocol::WorkerEvent{2, WorkerNews::Lost, "node", "the engine was killed", 3}});
    join(log, 2, 6);
    tell(log, {shard(2, 2, 7, 7, ShardOutcome::Begun, 2), shard(2, 2, 7, 8, ShardOutcome::Computed, 2),
               protocol::BarrierEvent{StageId(1), 9}, protocol::ReadBackEvent{1, StageId(1), 9, 10, 4096}});
    log->finish();
    return log;
}

struct Shown {
    style::Theme theme;
    WorkerLanes lanes;
    explicit Shown(const Log& log, style::Mode mode = style::Mode::Light) : theme(style::loadTheme(mode))
    {
        lanes.setTheme(theme);
        lanes.resize(700, 120);
        lanes.QWidget::show();
        lanes.display(log);
    }
    [[nodiscard]] QPoint at(int worker, double seconds) const
    {
        const QRect lane = lanes.laneRect(worker);
        const auto [from, to] = lanes.range();
        return {lane.left() + static_cast<int>((seconds - from) / (to - from) * lane.width()), lane.center().y()};
    }
    [[nodiscard]] QColor colour(int worker, double seconds, int above = 4)
    {
        return lanes.grab().toImage().pixelColor(at(worker, seconds) - QPoint(0, above));
    }
};

}  // namespace

class TestWorkerLanes : public QObject {
    Q_OBJECT
private slots:
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral("."))); }

    void whatAWorkerDoesIsPaintedInItsLane_data();
    void whatAWorkerDoesIsPaintedInItsLane();
    void whatIsUnderThePointerIsSaid();
    void aShardGrowsWhileNothingIsTold();
    void barriersCarryTheNamesOfTheirStages();
    void workersAndShardsAreChosenByKeys();
    void aClickSelectsTheStage();
    void theLegendNamesOnlyWhatThereIs();
    void theTableHasEveryShard();
};

void TestWorkerLanes::whatAWorkerDoesIsPaintedInItsLane_data()
{
    QTest::addColumn<style::Mode>("mode");
    QTest::newRow("light") << style::Mode::Light;
    QTest::newRow("dark") << style::Mode::Dark;
}

void TestWorkerLanes::whatAWorkerDoesIsPaintedInItsLane()
{
    QFETCH(style::Mode, mode);
    Shown shown(small(), mode);
    const style::Theme& theme = shown.theme;
    QCOMPARE(shown.colour(1, 2.0), theme.phases[3]);
    QCOMPARE(shown.colour(1, 4.5), theme.bandB);  // it waits
    QCOMPARE(shown.colour(1, 6.0), theme.phases[3]);
    QCOMPARE(shown.colour(1, 9.5, -4), theme.phases[1]);  // reads back, in the lower half
    QCOMPARE(shown.colour(1, 9.5), theme.bandB);
    QVERIFY(shown.colour(2, 4.5) != theme.bandB);  // nobody is there
    QVERIFY(shown.colour(2, 4.5) != theme.phases[3]);
    QCOMPARE(shown.colour(2, 6.5), theme.bandB);
    const auto has = [&](int worker, double from, double to, const QColor& wanted) {
        const QImage picture = shown.lanes.grab().toImage();
        const QRect lane = shown.lanes.laneRect(worker);
        int count = 0;
        for (int x = shown.at(worker, from).x(); x < shown.at(worker, to).x(); ++x)
            for (int y = lane.top(); y <= lane.bottom(); ++y) count += picture.pixelColor(x, y) == wanted ? 1 : 0;
        return count;
    };
    QVERIFY(has(2, 1.1, 2.6, theme.bad) > 20);  // hatched: lost
    QVERIFY(has(2, 7.1, 7.9, theme.phases[2]) > 50);
    QVERIFY(has(2, 7.1, 7.9, theme.phases[3]) == 0);
    QVERIFY(has(2, 3, 3.2, theme.bad) > 2);  // one arm of the cross
}

void TestWorkerLanes::whatIsUnderThePointerIsSaid()
{
    Shown shown(small());
    QVERIFY(shown.lanes.describe(shown.at(1, 2)).startsWith(QStringLiteral("shard 1 of stage 1 · worker 1")));
    QVERIFY(shown.lanes.describe(shown.at(2, 2)).endsWith(QStringLiteral("lost with its worker")));
    QVERIFY(shown.lanes.describe(shown.at(2, 7.5)).contains(QStringLiteral("recomputed: attempt 2")));
    QVERIFY(shown.lanes.describe(shown.at(2, 4.5)).contains(QStringLiteral("ended at 3.00 s: the engine was killed")));
    QVERIFY(shown.lanes.describe(shown.at(1, 9.5)).contains(QStringLiteral("reads rows")));
    QVERIFY(
        shown.lanes.describe({3, shown.lanes.laneRect(2).center().y()}).startsWith(QStringLiteral("worker 2 on node")));
    QVERIFY(shown.lanes.describe({3, 2}).isEmpty());
}

void TestWorkerLanes::aShardGrowsWhileNothingIsTold()
{
    auto log = std::make_shared<models::RunLog>();
    join(log, 1, 1);
    tell(log, {shard(1, 1, 1, 1, ShardOutcome::Begun)});
    Shown shown(log);
    shown.lanes.display(log, 10);
    QVERIFY(shown.lanes.range().second > 10);
    QVERIFY(shown.lanes.describe(shown.at(1, 9)).startsWith(QStringLiteral("shard 1 of stage 1")));
    QVERIFY(shown.colour(1, 9) != shown.theme.bandB);
    QVERIFY(!shown.lanes.describe(shown.at(1, 10.5)).startsWith(QStringLiteral("shard")));
    tell(log, {shard(1, 1, 1, 8)});
    shown.lanes.display(log, 8);  // the clock of the run is right
    QVERIFY(!shown.lanes.describe(shown.at(1, 9)).startsWith(QStringLiteral("shard")));
}

void TestWorkerLanes::barriersCarryTheNamesOfTheirStages()
{
    Shown shown(small());
    const QImage picture = shown.lanes.grab().toImage();
    const int at = shown.at(1, 9).x(), between = (shown.lanes.laneRect(1).bottom() + shown.lanes.laneRect(2).top()) / 2;
    bool line = false;
    for (int x = at - 1; x <= at + 1; ++x) line = line || picture.pixelColor(x, between) == shown.theme.nodeBorder;
    QVERIFY(line);
    int ink = 0;
    for (int x = at - 50; x < at - 4; ++x)
        for (int y = 0; y < shown.lanes.laneRect(1).top(); ++y)
            ink += style::contrast(picture.pixelColor(x, y), shown.theme.panel) > 3 ? 1 : 0;
    QVERIFY2(ink > 20, qPrintable(QString::number(ink)));
}

void TestWorkerLanes::workersAndShardsAreChosenByKeys()
{
    Shown shown(small());
    QSignalSpy chosen(&shown.lanes, &WorkerLanes::choiceChanged);
    QVERIFY(shown.lanes.chosenText().isEmpty());
    QTest::keyClick(&shown.lanes, Qt::Key_Down);
    QVERIFY(shown.lanes.chosenText().startsWith(QStringLiteral("worker 1 on node\n2 shards")));
    QTest::keyClick(&shown.lanes, Qt::Key_Right, Qt::ShiftModifier);
    QVERIFY(shown.lanes.chosenText().startsWith(QStringLiteral("shard 1 of stage 1")));
    QTest::keyClick(&shown.lanes, Qt::Key_Right, Qt::ShiftModifier);
    QTest::keyClick(&shown.lanes, Qt::Key_Right, Qt::ShiftModifier);
    QVERIFY(shown.lanes.chosenText().startsWith(QStringLiteral("shard 3 of stage 1")));
    QTest::keyClick(&shown.lanes, Qt::Key_Left, Qt::ShiftModifier);
    QVERIFY(shown.lanes.chosenText().startsWith(QStringLiteral("shard 1 of stage 1")));
    QTest::keyClick(&shown.lanes, Qt::Key_Down);
    QVERIFY(shown.lanes.chosenText().startsWith(QStringLiteral("worker 2 on node")));
    QCOMPARE(chosen.count(), 6);
    QCOMPARE(chosen.last()[0].toString(), shown.lanes.chosenText());
    QTest::keyClick(&shown.lanes, Qt::Key_Plus);
    QVERIFY(shown.lanes.range().second - shown.lanes.range().first < 8);
}

void TestWorkerLanes::aClickSelectsTheStage()
{
    Shown shown(small());
    QSignalSpy clicked(&shown.lanes, &plots::TimeView::stageClicked);
    QTest::mouseClick(&shown.lanes, Qt::LeftButton, {}, shown.at(1, 2));
    QCOMPARE(clicked.count(), 1);
    QCOMPARE(clicked[0][0].value<StageId>(), StageId(1));
    shown.lanes.setSelected(StageId(2));
    QVERIFY(shown.colour(1, 2.0) != shown.theme.phases[3]);  // paler
}

void TestWorkerLanes::theLegendNamesOnlyWhatThereIs()
{
    const auto names = [](const WorkerLanes& lanes) {
        QStringList found;
        for (const plots::LegendItem& item : lanes.legendItems()) found << item.name;
        return found.join(u',');
    };
    auto log = std::make_shared<models::RunLog>();
    join(log, 1, 1);
    QCOMPARE(names(Shown(log).lanes), QStringLiteral("shard,reads rows of other workers"));
    QCOMPARE(names(Shown(small()).lanes), QStringLiteral("shard,reads rows of other workers,recomputed,lost"));
}

void TestWorkerLanes::theTableHasEveryShard()
{
    const QStringList lines = Shown(small()).lanes.csv().split('\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 5);
    QVERIFY(lines[0].startsWith(QStringLiteral("worker,host,stage,shard")));
    QCOMPARE(lines[3], QStringLiteral("2,node,1,2,1,0,10,1,lost,1,2,0,0,0"));
}

HOPSCOPE_QT_SUITE(worker_lanes, TestWorkerLanes)
#include "test_worker_lanes.moc"
