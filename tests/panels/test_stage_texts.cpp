// What the run panel says of stages: how far they are, what they wait for, how long the rest takes.

#include <QTest>

#include "models/labels.h"
#include "panels/run_panel.h"
#include "panels/stage_progress.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::panels;

class TestStageTexts : public QObject {
    Q_OBJECT
private slots:
    void stageLinesOfAGpuSayHowMuchOfTheCopyingWasHidden();
    void stageLinesSayHowFarTheyAre();
    void stageLinesSayWhatTheStageWaitsForAndHowFarItIsFromItsBound();
    void theTimeLeftOfAllStagesFollowsWhatWasPredicted();
};

void TestStageTexts::stageLinesOfAGpuSayHowMuchOfTheCopyingWasHidden()
{
    models::StageProgress stage;
    stage.finished = true;
    stage.seconds = 2;
    stage.phases = {0, 0, 0.5, 1.5, 0.25, 0};
    stage.overlap = 0.917;
    stage.reservedMemory = 2048;
    QCOMPARE(stageStatus(&stage, nullptr),
             QStringLiteral("2.00 s\ncomputes (75 %)\ncopying hidden behind computation: 92 %"));
    QCOMPARE(models::figureLines(stage), QStringList({"overlap: 92 %", "reserved: 2.0 KiB"}));
    stage.phases[2] = 3;  // more copying than computing: it cannot all be hidden
    QCOMPARE(stageStatus(&stage, nullptr),
             QStringLiteral("2.00 s\nwaits for copies to the GPU (100 %)\ncopying and computation overlapped: 92 %"));
}

void TestStageTexts::stageLinesSayHowFarTheyAre()
{
    models::StageProgress stage;
    stage.destinations = 200;
    stage.done = 199;
    stage.seconds = 2;
    QCOMPARE(stagePercent(stage), 99);
    QVERIFY(stageStatus(&stage, nullptr).startsWith(QStringLiteral("99 %")));
    stage.finished = true;
    stage.peakMemory = 1024;
    protocol::PredictedStage predicted;
    predicted.peakMemory = 2048;
    QCOMPARE(stagePercent(stage), 100);
    QCOMPARE(stageStatus(&stage, &predicted), QStringLiteral("2.00 s · peak 1.0 KiB, predicted 2.0 KiB"));
    QCOMPARE(stageStatus(nullptr, nullptr), QStringLiteral("waiting"));
    stage = {};
    QCOMPARE(stagePercent(stage), 0);
}

void TestStageTexts::stageLinesSayWhatTheStageWaitsForAndHowFarItIsFromItsBound()
{
    models::StageProgress stage;
    stage.index = protocol::StageId(2);
    stage.finished = true;
    stage.seconds = 2;
    stage.phases = {1.3, 0.1, 0, 0.4, 0, 0.2};
    QCOMPARE(waitText(stage), QStringLiteral("waits for block building (65 %)"));
    protocol::PredictedStage predicted;
    predicted.seconds = 1.5;
    schema::StageRecord record;
    record.index = stage.index;
    record.seconds = 2;
    record.boundSeconds = 1;
    record.wall = plan::Wall::Rows;
    QCOMPARE(stageStatus(&stage, &predicted, &record),
             QStringLiteral("2.00 s, predicted 1.50 s\n"
                            "waits for block building (65 %) \u00b7 2.0 \u00d7 the bound of 1.00 s (random rows)"));
    stage.phases = {0.4, 0.4, 0.4, 0.4, 0.2, 0.2};
    QVERIFY(waitText(stage).isEmpty());
    stage.phases = {};
    QVERIFY(waitText(stage).isEmpty());
}

void TestStageTexts::theTimeLeftOfAllStagesFollowsWhatWasPredicted()
{
    models::RunLog log;
    protocol::PlanRecord plan;
    plan.predicted.emplace();
    for (int stage = 1; stage <= 3; ++stage) {
        plan.predicted->stages.emplace_back();
        plan.predicted->stages.back().index = protocol::StageId(stage);
        plan.predicted->stages.back().seconds = stage;
    }
    QVERIFY(!runSecondsLeft(log, plan));
    protocol::RunEvents run;
    run.state = protocol::RunState::Running;
    protocol::BatchEvent batch;
    batch.stage = protocol::StageId(2);
    batch.done = 50;
    batch.total = 100;
    batch.time = 4;  // the first took twice as long as predicted, and half of the second takes 2 s instead of 1
    run.events = {protocol::StageEvent{protocol::StageId(1), 3, 100, 0.0},
                  protocol::StageEndEvent{protocol::StageId(1), 2.0, 2.0, {}},
                  protocol::StageEvent{protocol::StageId(2), 3, 100, 2.0}, batch};
    log.apply(run);
    QCOMPARE(log.secondsLeft(), 2.0);
    QCOMPARE(runSecondsLeft(log, plan).value_or(0), 2.0 + 2 * 3.0);
    QVERIFY2(progressText(log, &plan).endsWith(QStringLiteral("2.00 s left in this stage, about 8.00 s in all")),
             qPrintable(progressText(log, &plan)));
    plan.predicted->stages.back().seconds.reset();
    QVERIFY(!runSecondsLeft(log, plan));
}

HOPSCOPE_QT_SUITE(stage_texts, TestStageTexts)
#include "test_stage_texts.moc"
