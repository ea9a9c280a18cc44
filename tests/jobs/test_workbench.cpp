// What the user does, against an engine that answers, refuses and dies: the document is the judge.

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "bench.h"
#include "models/run_log.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::jobs;

class TestWorkbench : public QObject {
    Q_OBJECT
private slots:
    void openingShowsTheModelItsPlanAndBothReferences();
    void aModelThatCannotBeSplitIsShownWithoutAPlan();
    void aFileThatIsRefusedLeavesWhatWasOpen();
    void pinsChangeThePlanAndUndoBringsItBack();
    void movingACheckpointIsOneStep();
    void aRefusedCutUndoesItselfAndSaysWhy();
    void aRefusedCutNamesThePinsInItsWayAndTakesOneOut();
    void theOptimumIsTakenAroundThePins();
    void manyQuickChangesEndWithTheLastPlan();
    void aRefusalAfterQuickChangesKeepsTheEarlierOnes();
    void askingWhatIfChangesNothing();
    void runSettingsReachThePlanWithoutAStepOfUndo();
    void aRunFillsItsLogAndIsKeptWhenItEnds();
    void lateEventsOfTheRunBeforeAreNotShown();
    void aRunOnAGpuTellsHowItsBatchesOverlap();
    void aRunCanBePausedSteppedAndStopped();
    void aStepWithoutARunBeginsOneAndPausesAfterIt_data();
    void aStepWithoutARunBeginsOneAndPausesAfterIt();
    void aDeathInMidRunKeepsTheDocumentItsPinsAndItsRuns();
    void aFileThatKillsTheEngineIsNotTriedForEver();
    void aSavedPlanCanBeLoadedAgain();
    void reloadingKeepsThePinsThatFit();
    void restoredSettingsArriveWithTheModel();
    void closingForgetsEverything();
    void reportsCanBeOpenedBesideRuns();
};

void TestWorkbench::openingShowsTheModelItsPlanAndBothReferences()
{
    Bench bench;
    QSignalSpy opened(&bench.workbench, &Workbench::opened);
    bench.open("chain3.pt");
    QCOMPARE(opened.count(), 1);
    QCOMPARE(bench.document.model()->depth, 3);
    QCOMPARE(bench.document.modelPath(), QString("chain3.pt"));
    QCOMPARE(bench.stored(), (QStringList{firstResult, secondResult}));
    QVERIFY(bench.document.reference(base::Strategy::Depth) != nullptr);
    QCOMPARE(bench.document.reference(base::Strategy::SourceRule)->strategy, base::Strategy::SourceRule);
    QVERIFY(bench.document.plan()->predicted.has_value());
}

void TestWorkbench::aModelThatCannotBeSplitIsShownWithoutAPlan()
{
    Bench bench;
    QSignalSpy opened(&bench.workbench, &Workbench::opened);
    bench.workbench.open("unsplittable3.pt", {"graph.safetensors"}, {});
    QTRY_COMPARE(opened.count(), 1);
    QVERIFY(bench.document.plan() == nullptr);
    QVERIFY(!bench.workbench.busy());
    bench.workbench.startRun();
    QVERIFY(!bench.workbench.running());
}

void TestWorkbench::aFileThatIsRefusedLeavesWhatWasOpen()
{
    OpenBench bench;
    QSignalSpy failed(&bench.workbench, &Workbench::failed);
    bench.workbench.open("bad.pt", {}, {});
    QTRY_COMPARE(failed.count(), 1);
    QVERIFY(failed[0][1].toString().contains("not a TorchScript archive"));
    QCOMPARE(bench.document.modelPath(), QString("chain3.pt"));
    bench.workbench.pin({base::PinKind::NoCheckpoint, valueOf(firstResult)});
    QTRY_COMPARE(bench.stored(), (QStringList{firstSum, secondResult}));
}

void TestWorkbench::pinsChangeThePlanAndUndoBringsItBack()
{
    OpenBench bench;
    bench.workbench.pin({base::PinKind::Checkpoint, valueOf(firstLinear)});
    QTRY_COMPARE(bench.stored(), (QStringList{firstLinear, firstResult, secondResult}));
    QCOMPARE(bench.document.settings().pins.size(), std::size_t{1});
    bench.workbench.undoStack().undo();
    QTRY_COMPARE(bench.stored(), (QStringList{firstResult, secondResult}));
    QVERIFY(bench.document.settings().pins.empty());
    bench.workbench.undoStack().redo();
    QTRY_COMPARE(bench.stored(), (QStringList{firstLinear, firstResult, secondResult}));
    bench.workbench.unpin(valueOf(firstLinear));
    QTRY_COMPARE(bench.stored(), (QStringList{firstResult, secondResult}));
    QCOMPARE(bench.workbench.undoStack().count(), 2);
}

void TestWorkbench::movingACheckpointIsOneStep()
{
    OpenBench bench;
    bench.workbench.movePin(valueOf(firstResult), valueOf(secondLinear));
    QTRY_COMPARE(bench.stored(), (QStringList{secondLinear, secondResult}));
    bench.workbench.movePin(valueOf(secondLinear), valueOf(firstResult));
    QTRY_COMPARE(bench.stored(), (QStringList{firstResult, secondResult}));
    QVERIFY(bench.document.settings().pins.empty());
    bench.workbench.undoStack().undo();
    bench.workbench.undoStack().undo();
    QTRY_COMPARE(bench.stored(), (QStringList{firstResult, secondResult}));
    QVERIFY(!bench.workbench.undoStack().canUndo());
}

void TestWorkbench::aRefusedCutUndoesItselfAndSaysWhy()
{
    OpenBench bench;
    QSignalSpy refused(&bench.document, &models::Document::refusalChanged);
    const models::PlanPtr before = bench.document.plan();
    bench.workbench.pin({base::PinKind::Checkpoint, valueOf("v9")});
    QTRY_COMPARE(refused.count(), 1);
    QVERIFY(bench.document.refusal().contains("cannot be stored"));
    QVERIFY(bench.document.settings().pins.empty());
    QCOMPARE(bench.document.plan(), before);
    QCOMPARE(bench.workbench.undoStack().count(), 0);
    bench.workbench.pin({base::PinKind::Checkpoint, valueOf(firstLinear)});
    QTRY_COMPARE(bench.stored().size(), 3);
    QVERIFY(bench.document.refusal().isEmpty());
}

void TestWorkbench::aRefusedCutNamesThePinsInItsWayAndTakesOneOut()
{
    OpenBench bench;
    for (const char* value : {firstResult, firstSum})
        bench.workbench.pin({base::PinKind::NoCheckpoint, valueOf(value)});
    const QStringList before{secondLinear, secondResult};
    QTRY_COMPARE(bench.stored(), before);
    QTRY_VERIFY(bench.idle());
    bench.workbench.pin({base::PinKind::NoCheckpoint, valueOf(secondLinear)});
    QTRY_COMPARE(bench.document.repairs().size(), std::size_t{2});
    const models::Repair way = bench.document.repairs().front();
    QVERIFY(way.dropped == (plan::Pin{base::PinKind::NoCheckpoint, valueOf(firstResult)}));
    QCOMPARE(bench.stored(), before);
    bench.workbench.repair("the fix", way);
    QTRY_COMPARE(bench.stored(), (QStringList{firstResult, secondResult}));
    QVERIFY(bench.document.refusal().isEmpty());
    QVERIFY(bench.document.repairs().empty());
    bench.workbench.undoStack().undo();
    QTRY_COMPARE(bench.stored(), before);
}

void TestWorkbench::theOptimumIsTakenAroundThePins()
{
    OpenBench bench;
    QCOMPARE(bench.document.settings().strategy, base::Strategy::Optimal);
    QCOMPARE(bench.document.plan()->gap, std::optional(0.0));
    bench.workbench.setStrategy(base::Strategy::SourceRule);
    QTRY_COMPARE(bench.document.plan()->strategy, base::Strategy::SourceRule);
    QVERIFY(!bench.document.plan()->lowerBound.has_value());
    bench.workbench.pin({base::PinKind::Checkpoint, valueOf(secondResult)});
    QTRY_VERIFY(bench.stored().contains(secondResult));
    bench.workbench.optimiseAroundPins();
    QTRY_COMPARE(bench.document.plan()->strategy, base::Strategy::Optimal);
    QCOMPARE(bench.document.settings().pins.size(), std::size_t{1});
    QVERIFY(bench.stored().contains(secondResult));
    bench.workbench.setStrategy(base::Strategy::Optimal, base::Objective::Bytes);
    QTRY_COMPARE(bench.document.plan()->objective, base::Objective::Bytes);
    QVERIFY(bench.document.settings().pins.empty());
    bench.workbench.undoStack().undo();
    QTRY_COMPARE(bench.document.plan()->objective, base::Objective::Time);
}

void TestWorkbench::manyQuickChangesEndWithTheLastPlan()
{
    OpenBench bench;
    for (int i = 0; i < 10; ++i) {
        bench.workbench.pin({base::PinKind::Checkpoint, valueOf(firstLinear)});
        bench.workbench.unpin(valueOf(firstLinear));
    }
    bench.workbench.pin({base::PinKind::NoCheckpoint, valueOf(secondResult)});
    QTRY_VERIFY(bench.idle());
    QCOMPARE(bench.stored(), (QStringList{firstResult, secondSum}));
    QCOMPARE(bench.workbench.undoStack().count(), 21);
}

void TestWorkbench::aRefusalAfterQuickChangesKeepsTheEarlierOnes()
{
    OpenBench bench;
    bench.workbench.pin({base::PinKind::Checkpoint, valueOf(firstLinear)});
    bench.workbench.pin({base::PinKind::Checkpoint, valueOf("v9")});  // refused
    QTRY_VERIFY(!bench.document.refusal().isEmpty());
    QTRY_VERIFY(bench.idle());
    QTRY_COMPARE(bench.stored(), (QStringList{firstLinear, firstResult, secondResult}));
    QCOMPARE(bench.workbench.undoStack().count(), 1);
    QCOMPARE(bench.document.settings().pins.size(), std::size_t{1});
}

void TestWorkbench::askingWhatIfChangesNothing()
{
    OpenBench bench;
    std::optional<base::Result<protocol::PlanRecord>> answer;
    bench.workbench.whatIf({{base::PinKind::NoCheckpoint, valueOf(firstResult)}}, this,
                           [&](base::Result<protocol::PlanRecord> plan) { answer = std::move(plan); });
    QTRY_VERIFY(answer.has_value());
    QVERIFY(answer->has_value());
    QCOMPARE((*answer)->checkpoints.size(), std::size_t{3});
    QCOMPARE((*answer)->checkpoints.front().value, valueOf(firstSum));
    QCOMPARE(bench.stored().size(), 2);
    QCOMPARE(bench.workbench.undoStack().count(), 0);
}

void TestWorkbench::runSettingsReachThePlanWithoutAStepOfUndo()
{
    OpenBench bench;
    bench.workbench.pin({base::PinKind::Checkpoint, valueOf(firstLinear)});
    QTRY_COMPARE(bench.stored().size(), 3);
    models::Settings settings = bench.document.settings();
    settings.batch = 64;
    settings.pins.clear();  // not its business
    bench.workbench.setRunSettings(settings);
    QTRY_COMPARE(bench.document.plan()->batch, std::optional<std::int64_t>(64));
    QCOMPARE(bench.stored().size(), 3);
    bench.workbench.undoStack().undo();
    QTRY_COMPARE(bench.stored().size(), 2);
    QCOMPARE(bench.document.settings().batch, std::optional<std::int64_t>(64));
}

void TestWorkbench::aRunFillsItsLogAndIsKeptWhenItEnds()
{
    OpenBench bench;
    bench.setBatches();
    QSignalSpy finished(&bench.workbench, &Workbench::runFinished);
    bench.workbench.startRun();
    QVERIFY(bench.workbench.running());
    QTRY_COMPARE(finished.count(), 1);
    QVERIFY(!bench.workbench.running());
    QCOMPARE(bench.document.runs().size(), std::size_t{1});
    const models::FinishedRun& run = bench.document.runs().front();
    QCOMPARE(run.report->verify->verdict, schema::Verdict::Equal);
    QCOMPARE(run.log->batches().size(), std::size_t{30});
    QCOMPARE(run.log->stages().size(), std::size_t{3});
    QVERIFY(run.reportText.contains("hopscope-report"));
}

void TestWorkbench::lateEventsOfTheRunBeforeAreNotShown()
{
    OpenBench bench;
    bench.setBatches();
    for (const std::size_t runs : {1, 2}) {
        bench.workbench.startRun();
        QTRY_COMPARE(bench.document.runs().size(), runs);
        QCOMPARE(bench.document.runLog()->batches().size(), std::size_t{30});
    }
}

void TestWorkbench::aRunOnAGpuTellsHowItsBatchesOverlap()
{
    Bench bench({"--gpu"});
    bench.open("chain3.pt");
    QVERIFY(player::setBatches(bench.workbench, bench.document, true));
    bench.workbench.startRun();
    QTRY_COMPARE(bench.document.runs().size(), std::size_t{1});
    const models::RunLog& log = *bench.document.runLog();
    QCOMPARE(log.phases().size(), std::size_t{3 * 10 * protocol::phaseCount});
    int atOnce = 0;
    for (const models::PhasePoint& one : log.phases())
        for (const models::PhasePoint& other : log.phases()) {
            if (other.stage != one.stage)
                continue;  // the clock of the simulated GPU ends a stage later than the host's
            if (other.start <= one.start || other.start + 1e-6 >= one.start + one.seconds) continue;
            QVERIFY2(one.phase != other.phase, "two batches in one lane");
            atOnce += one.batch != other.batch ? 1 : 0;
        }
    QVERIFY(atOnce > 100);
    const schema::Report& report = *bench.document.runs().front().report;
    for (std::size_t stage = 0; stage < 3; ++stage) {
        QVERIFY(log.stages()[stage].overlap.value_or(0) > 0.5);
        QCOMPARE(report.stages[stage].overlap, log.stages()[stage].overlap);
        QVERIFY(log.stages()[stage].reservedMemory == report.stages[stage].reservedMemory);
    }
}

void TestWorkbench::aRunCanBePausedSteppedAndStopped()
{
    OpenBench bench;
    bench.setBatches();
    QSignalSpy finished(&bench.workbench, &Workbench::runFinished);
    QSignalSpy failed(&bench.workbench, &Workbench::failed);
    bench.workbench.startRun(true);
    QTRY_VERIFY(bench.document.runLog()->state() == protocol::RunState::Paused);
    QCOMPARE(bench.document.runLog()->batches().size(), std::size_t{0});
    bench.workbench.step(protocol::RunStep::Batch);
    QTRY_COMPARE(bench.document.runLog()->batches().size(), std::size_t{1});
    bench.workbench.step(protocol::RunStep::Stage);
    QTRY_COMPARE(bench.document.runLog()->batches().size(), std::size_t{10});
    bench.workbench.stopRun();
    QTRY_COMPARE(finished.count(), 1);
    QVERIFY(bench.document.runs().empty());
    QCOMPARE(failed.count(), 0);
}

void TestWorkbench::aStepWithoutARunBeginsOneAndPausesAfterIt_data()
{
    QTest::addColumn<protocol::RunStep>("unit");
    QTest::addColumn<int>("batches");
    QTest::newRow("a batch") << protocol::RunStep::Batch << 1;
    QTest::newRow("a stage") << protocol::RunStep::Stage << 10;
}

void TestWorkbench::aStepWithoutARunBeginsOneAndPausesAfterIt()
{
    QFETCH(protocol::RunStep, unit);
    QFETCH(int, batches);
    Bench bench;
    bench.workbench.step(unit);  // nothing is open: nothing happens
    QVERIFY(!bench.workbench.running());
    bench.open("chain3.pt");
    bench.setBatches();
    bench.workbench.step(unit);
    QTRY_COMPARE(bench.document.runLog()->batches().size(), static_cast<std::size_t>(batches));
    QTRY_VERIFY(bench.document.runLog()->state() == protocol::RunState::Paused);
    QTest::qWait(30);
    QCOMPARE(bench.document.runLog()->batches().size(), static_cast<std::size_t>(batches));
}

void TestWorkbench::aDeathInMidRunKeepsTheDocumentItsPinsAndItsRuns()
{
    OpenBench bench;
    QSignalSpy finished(&bench.workbench, &Workbench::runFinished);
    bench.workbench.startRun();
    QTRY_COMPARE(finished.count(), 1);
    bench.workbench.pin({base::PinKind::Checkpoint, valueOf(firstLinear)});
    QTRY_COMPARE(bench.stored().size(), 3);
    bench.workbench.startRun(true);
    QTRY_VERIFY(bench.document.runLog()->state() == protocol::RunState::Paused);

    const models::ModelPtr model = bench.document.model();
    const models::PlanPtr plan = bench.document.plan();
    QSignalSpy lost(&bench.workbench, &Workbench::engineLost), back(&bench.workbench, &Workbench::engineBack);
    QSignalSpy changed(&bench.document, &models::Document::modelChanged);
    bench.engine.request("test/die", json::Value::object(), this, [](const base::Result<json::Value>&) {});
    QTRY_COMPARE(lost.count(), 1);
    QVERIFY(lost[0][0].toString().contains("signal 9"));
    QVERIFY(!bench.workbench.running());
    QCOMPARE(bench.document.plan(), plan);  // shown throughout
    QTRY_COMPARE_WITH_TIMEOUT(back.count(), 1, 10'000);
    QCOMPARE(bench.document.model(), model);
    QCOMPARE(changed.count(), 0);
    QCOMPARE(bench.document.runs().size(), std::size_t{1});
    QTRY_VERIFY(bench.idle());
    QCOMPARE(bench.stored().size(), 3);

    bench.workbench.undoStack().undo();  // the new engine plans
    QTRY_COMPARE(bench.stored().size(), 2);
    bench.workbench.startRun();
    QTRY_COMPARE(bench.document.runs().size(), std::size_t{2});
}

void TestWorkbench::aFileThatKillsTheEngineIsNotTriedForEver()
{
    Bench bench;
    QSignalSpy failed(&bench.workbench, &Workbench::failed), lost(&bench.workbench, &Workbench::engineLost);
    bench.workbench.open("die.pt", {}, {});
    QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, 10'000);
    QVERIFY2(lost.count() >= 1 && lost.count() <= 3, qPrintable(QString::number(lost.count())));
    bench.open("chain3.pt");
    QCOMPARE(bench.document.model()->depth, 3);
}

void TestWorkbench::aSavedPlanCanBeLoadedAgain()
{
    QTemporaryDir folder;
    OpenBench bench;
    bench.workbench.pin({base::PinKind::Checkpoint, valueOf(firstLinear)});
    QTRY_COMPARE(bench.stored().size(), 3);
    bench.workbench.savePlan(folder.filePath("plan.json"));
    bench.workbench.clearPins();
    QTRY_COMPARE(bench.stored().size(), 2);
    bench.workbench.loadPlan(folder.filePath("plan.json"));
    QTRY_COMPARE(bench.stored().size(), 3);
    QCOMPARE(bench.document.settings().pins.size(), std::size_t{1});
    bench.workbench.undoStack().undo();
    QTRY_COMPARE(bench.stored().size(), 2);
    QSignalSpy failed(&bench.workbench, &Workbench::failed);
    bench.workbench.loadPlan(folder.filePath("none.json"));
    QCOMPARE(failed.count(), 1);
}

void TestWorkbench::reloadingKeepsThePinsThatFit()
{
    OpenBench bench;
    bench.workbench.pin({base::PinKind::Checkpoint, valueOf(firstLinear)});
    QTRY_COMPARE(bench.stored().size(), 3);
    QSignalSpy opened(&bench.workbench, &Workbench::opened);
    bench.workbench.reload();
    QTRY_COMPARE(opened.count(), 1);
    QTRY_VERIFY(bench.document.plan() != nullptr);
    QCOMPARE(bench.stored().size(), 3);
    // Another model has no such value; its pins do not follow.
    bench.open("chain1.pt");
    QVERIFY(bench.document.settings().pins.empty());
}

void TestWorkbench::restoredSettingsArriveWithTheModel()
{
    Bench bench;
    models::Settings settings;
    settings.strategy = base::Strategy::SourceRule;
    settings.pins = {{base::PinKind::Checkpoint, valueOf(firstResult)}, {base::PinKind::Checkpoint, valueOf("v999")}};
    settings.batch = 7;
    bench.workbench.open("chain3.pt", {"graph.safetensors"}, {});
    bench.workbench.restoreSettings(settings);
    QTRY_VERIFY(bench.document.plan() != nullptr);
    QCOMPARE(bench.document.settings().pins.size(), std::size_t{1});
    QCOMPARE(bench.document.plan()->strategy, base::Strategy::SourceRule);
    QCOMPARE(bench.document.settings().batch, std::optional<std::int64_t>(7));
    QCOMPARE(bench.workbench.undoStack().count(), 0);
}

void TestWorkbench::closingForgetsEverything()
{
    OpenBench bench;
    bench.workbench.close();
    QVERIFY(bench.document.model() == nullptr);
    QVERIFY(bench.document.modelPath().isEmpty());
    bench.workbench.pin({base::PinKind::Checkpoint, valueOf(firstLinear)});
    QCOMPARE(bench.workbench.undoStack().count(), 0);
    bench.open("chain2.pt");
    QCOMPARE(bench.document.model()->depth, 2);
}

void TestWorkbench::reportsCanBeOpenedBesideRuns()
{
    QTemporaryDir folder;
    OpenBench bench;
    bench.workbench.startRun();
    QTRY_COMPARE(bench.document.runs().size(), std::size_t{1});
    QFile file(folder.filePath("report.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(bench.document.runs().front().reportText.toUtf8());
    file.close();
    bench.workbench.openReport(file.fileName());
    QCOMPARE(bench.document.runs().size(), std::size_t{2});
    QVERIFY(*bench.document.runs()[0].report == *bench.document.runs()[1].report);
    QCOMPARE(bench.document.runs()[1].title, QString("report.json"));
}

HOPSCOPE_QT_SUITE(workbench, TestWorkbench)
#include "test_workbench.moc"
