// A run of several workers in the window, by recorded answers: three workers, the second of which is lost.

#include <QAction>
#include <QLabel>
#include <QPushButton>
#include <QRegularExpression>
#include <QTest>

#include "bed.h"
#include "checks.h"
#include "jobs/player.h"
#include "models/run_log.h"
#include "panels/worker_part.h"
#include "support/qt_suites.h"

using namespace hopscope;
using bed::Bed;

namespace {

window::WindowSetup workersSetup(const QStringList& more = {}, style::Mode theme = style::Mode::Light)
{
    window::WindowSetup setup = bed::playedSetup();
    setup.engineCommand = player::command(QStringList{"--workers"} + more);
    setup.settings.perspective = "run";
    setup.settings.theme = theme;
    return setup;
}

QString said(Bed& bed, const char* label) { return bed::child<QLabel>(*bed.window, label)->accessibleName(); }

}  // namespace

class TestWindowWorkers : public QObject {
    Q_OBJECT
private slots:
    void lanesStandInPlaceOfThePipeline();
    void aRunOfOneProcessHasNoWorkers();
    void whatWaitsIsSaidWhileItGoesOn();
    void aStoppedRunIsOver();
    void nothingIsOfferedThatCannotBeDone();
    void allOfItFits_data();
    void allOfItFits();
    void anEngineThatIsUsedWronglyIsNotStartedAgain();
};

void TestWindowWorkers::lanesStandInPlaceOfThePipeline()
{
    Bed bed(workersSetup());
    QVERIFY(bed.open("chain3.pt") && bed.setBatches());
    auto* part = bed.window->findChild<panels::WorkerPart*>();
    QVERIFY(!part->isVisible());  // nothing has run
    QVERIFY(bed.run());
    QTRY_VERIFY(part->isVisible());
    QVERIFY(!bed::child<QWidget>(*bed.window, "timeline")->isVisible());
    const models::WorkerLog& workers = *bed.window->document().runLog()->workers();
    QCOMPARE(workers.lanes().size(), std::size_t(3));
    QCOMPARE(workers.barriers().size(), std::size_t(3));
    const auto twoLives = [](const models::WorkerLane& lane) { return lane.lives.size() == 2; };
    QCOMPARE(std::ranges::count_if(workers.lanes(), twoLives), 1);
    static const QRegularExpression summary(
        "^3 workers · 1 lost · [1-9] shards? recomputed · slowest: worker [1-3], \\+");
    QTRY_VERIFY2(summary.match(said(bed, "workersSummary")).hasMatch(), qPrintable(said(bed, "workersSummary")));
    QTRY_VERIFY(said(bed, "workersWait").startsWith("Workers were computing for"));
    QVERIFY(said(bed, "runTitle").startsWith("chain3.pt on 3 workers"));
    const std::int64_t rows = bed.window->document().runLog()->stages().front().destinations;
    std::int64_t done = 0, found = 0;  // the worker that was killed may have written what it did not report
    for (const models::WorkerLane& lane : workers.lanes()) {
        done += lane.destinations;
        for (const models::ShardSpan& shard : lane.shards)
            if (shard.event.outcome == protocol::ShardOutcome::Found) found += shard.event.count;
    }
    QCOMPARE(done + found, 3 * rows);
}

void TestWindowWorkers::aRunOfOneProcessHasNoWorkers()
{
    window::WindowSetup setup = bed::playedSetup();
    setup.settings.perspective = "run";
    Bed bed(setup);
    QVERIFY(bed.open("chain3.pt"));
    QVERIFY(bed.run());
    QVERIFY(!bed.window->findChild<panels::WorkerPart*>()->isVisible());
    QVERIFY(bed::child<QWidget>(*bed.window, "timeline")->isVisible());
    QVERIFY(bed::child<QPushButton>(*bed.window, "stepBatch")->isEnabled());
}

void TestWindowWorkers::whatWaitsIsSaidWhileItGoesOn()
{
    Bed bed(workersSetup({"--stand"}));
    QVERIFY(bed.open("chain3.pt") && bed.setBatches());
    bed.window->workbench().startRun();
    static const QRegularExpression sentence(
        "^[12] of [23] workers waits? for worker [1-3], which is at shard [0-9]+ of stage 2\\.");
    QTRY_VERIFY2(sentence.match(said(bed, "workersWait")).hasMatch(), qPrintable(said(bed, "workersWait")));
    QVERIFY(said(bed, "runStatus").startsWith("Stage 2 of 3"));
}

void TestWindowWorkers::aStoppedRunIsOver()
{
    Bed bed(workersSetup({"--stand"}));
    QVERIFY(bed.open("chain3.pt") && bed.setBatches());
    bed.window->workbench().startRun();
    QTRY_VERIFY(said(bed, "workersWait").contains("stage 2"));
    auto* stop = bed::child<QPushButton>(*bed.window, "stop");
    QVERIFY(stop->isEnabled());
    QTest::mouseClick(stop, Qt::LeftButton);
    QTRY_VERIFY(!bed.window->workbench().running());
    QTRY_VERIFY2(said(bed, "runStatus").startsWith("Stopped after"), qPrintable(said(bed, "runStatus")));
    QVERIFY(bed.window->document().runs().empty());
}

void TestWindowWorkers::nothingIsOfferedThatCannotBeDone()
{
    Bed bed(workersSetup({"--stand"}));
    QVERIFY(bed.open("chain3.pt") && bed.setBatches());
    const auto offered = [&](const char* button, const char* action) {
        const auto* widget = bed::child<QPushButton>(*bed.window, button);
        if (!widget->isEnabled()) qInfo("%s: %s", button, qPrintable(widget->toolTip()));
        return widget->isEnabled() || bed.window->actionBook().find(action)->isEnabled();
    };
    QTRY_VERIFY(offered("start", "run.start"));
    QVERIFY(!offered("stepBatch", "run.stepBatch"));
    QVERIFY(!offered("stepStage", "run.stepStage"));
    QVERIFY(!bed.window->actionBook().find("run.startPaused")->isEnabled());
    bed.window->workbench().startRun();
    QTRY_VERIFY(bed.window->document().runLog()->workers() != nullptr);
    QVERIFY(!offered("pause", "run.pause"));
    QVERIFY(bed::child<QPushButton>(*bed.window, "pause")->toolTip().contains("cannot be paused"));
    QVERIFY(offered("stop", "run.stop"));
}

void TestWindowWorkers::allOfItFits_data()
{
    QTest::addColumn<style::Mode>("mode");
    QTest::addColumn<QSize>("size");
    for (const auto& [name, mode] : {std::pair{"light", style::Mode::Light}, std::pair{"dark", style::Mode::Dark}})
        for (const QSize size : {QSize(1280, 800), QSize(800, 600), QSize(1600, 1000)})
            QTest::addRow("%s, %dx%d", name, size.width(), size.height()) << mode << size;
}

void TestWindowWorkers::allOfItFits()
{
    QFETCH(style::Mode, mode);
    QFETCH(QSize, size);
    Bed bed(workersSetup({"--stand"}, mode));
    bed.window->resize(size);
    QVERIFY(bed.open("chain3.pt") && bed.setBatches());
    bed.window->workbench().startRun();
    QTRY_VERIFY(said(bed, "workersWait").contains(" for worker ") && said(bed, "workersWait").contains("of stage 2"));
    auto* lanes = bed.window->findChild<plots::WorkerLanes*>();
    lanes->setFocus();
    static const QRegularExpression shard("^shard [0-9]+ of stage [12]");
    const auto chosen = [&] { return shard.match(said(bed, "workersChoice")).hasMatch(); };
    for (int lane = 0; lane < 3 && !chosen(); ++lane) {  // the first that has computed one
        QTest::keyClick(lanes, Qt::Key_Down);
        QTest::keyClick(lanes, Qt::Key_Right, Qt::ShiftModifier);
        QTest::qWait(50);
    }
    QVERIFY2(chosen(), qPrintable(said(bed, "workersChoice")));
    const QStringList found = checks::lasting([&] {
        return checks::clippedTexts(*bed.window) + checks::overlaps(*bed.window) +
               checks::paleTexts(*bed.window, bed.window->grab().toImage()) + checks::unnamedWidgets(*bed.window);
    });
    QVERIFY2(found.isEmpty(), qPrintable(found.join('\n')));
}

void TestWindowWorkers::anEngineThatIsUsedWronglyIsNotStartedAgain()
{
    window::WindowSetup setup = bed::playedSetup();
    setup.engineCommand = {"sh", "-c", "echo \"error: the address 'local' needs a number of workers\" >&2; exit 2"};
    Bed bed(setup);
    QTRY_COMPARE(bed.window->engine().state(), jobs::EngineState::Failed);
    QTRY_VERIFY(bed.window->banner().sentence().contains("the address 'local' needs a number of workers"));
    QVERIFY(bed.window->banner().sentence().contains("will not be restarted"));
}

HOPSCOPE_QT_SUITE(window_workers, TestWindowWorkers)
#include "window/test_workers.moc"
