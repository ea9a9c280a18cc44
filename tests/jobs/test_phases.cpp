// The states of planning, running and explaining: every event in every state.

#include <QTest>

#include "jobs/phases.h"
#include "support/qt_suites.h"

using namespace hopscope::jobs;

class TestPhases : public QObject {
    Q_OBJECT
private slots:
    void planningEndsHoweverFarItIs();
    void progressIsReportedOnlyWhilePlanning();
    void aRefusalIsNoPlanningAndAsksForAPlanOnlyAfterwards();
    void aRunIsNumberedOnceItHasBeenStarted();
    void aStopBeforeTheNumberIsRemembered();
    void onlyOneRunIsUnderWay();
    void anExplanationIsAskedForAgainOnlyIfItWasAskedFor();
};

void TestPhases::planningEndsHoweverFarItIs()
{
    for (const PlanPhase phase : {PlanPhase::Settled, PlanPhase::Planning, PlanPhase::Reporting, PlanPhase::Refusing}) {
        QCOMPARE(after(phase, PlanEvent::Ended), PlanPhase::Settled);
        QCOMPARE(after(phase, PlanEvent::Asked), PlanPhase::Planning);
    }
}

void TestPhases::progressIsReportedOnlyWhilePlanning()
{
    QCOMPARE(after(PlanPhase::Settled, PlanEvent::Progressed), PlanPhase::Settled);
    QCOMPARE(after(PlanPhase::Planning, PlanEvent::Progressed), PlanPhase::Reporting);
    QCOMPARE(after(PlanPhase::Reporting, PlanEvent::Progressed), PlanPhase::Reporting);
    QCOMPARE(after(PlanPhase::Refusing, PlanEvent::Progressed), PlanPhase::Refusing);
    QVERIFY(isPlanning(PlanPhase::Planning) && isPlanning(PlanPhase::Reporting));
}

void TestPhases::aRefusalIsNoPlanningAndAsksForAPlanOnlyAfterwards()
{
    const PlanPhase refusing = after(PlanPhase::Settled, PlanEvent::Refused);
    QCOMPARE(refusing, PlanPhase::Refusing);
    QVERIFY(!isPlanning(refusing) && !isPlanning(PlanPhase::Settled));
    QCOMPARE(after(after(refusing, PlanEvent::Ended), PlanEvent::Asked), PlanPhase::Planning);
}

void TestPhases::aRunIsNumberedOnceItHasBeenStarted()
{
    QCOMPARE(after(RunPhase::Idle, RunEvent::Started), RunPhase::Starting);
    QCOMPARE(after(RunPhase::Starting, RunEvent::Numbered), RunPhase::Running);
    QCOMPARE(after(RunPhase::Idle, RunEvent::Numbered), RunPhase::Idle);  // it has ended meanwhile
    QCOMPARE(after(RunPhase::Running, RunEvent::Numbered), RunPhase::Running);
}

void TestPhases::aStopBeforeTheNumberIsRemembered()
{
    QCOMPARE(after(RunPhase::Starting, RunEvent::StopWanted), RunPhase::Stopping);
    QCOMPARE(after(RunPhase::Stopping, RunEvent::Numbered), RunPhase::Running);
    QCOMPARE(after(RunPhase::Running, RunEvent::StopWanted),
             RunPhase::Running);  // the engine will say that it has ended
    QCOMPARE(after(RunPhase::Idle, RunEvent::StopWanted), RunPhase::Idle);
}

void TestPhases::onlyOneRunIsUnderWay()
{
    for (const RunPhase phase : {RunPhase::Starting, RunPhase::Stopping, RunPhase::Running}) {
        QCOMPARE(after(phase, RunEvent::Started), phase);
        QCOMPARE(after(phase, RunEvent::Ended), RunPhase::Idle);
    }
}

void TestPhases::anExplanationIsAskedForAgainOnlyIfItWasAskedFor()
{
    QCOMPARE(after(ExplainPhase::Idle, ExplainEvent::Postponed), ExplainPhase::Idle);
    QCOMPARE(after(ExplainPhase::Asked, ExplainEvent::Postponed), ExplainPhase::Postponed);
    QCOMPARE(after(ExplainPhase::Postponed, ExplainEvent::Postponed), ExplainPhase::Postponed);
    for (const ExplainPhase phase : {ExplainPhase::Idle, ExplainPhase::Asked, ExplainPhase::Postponed}) {
        QCOMPARE(after(phase, ExplainEvent::Asked), ExplainPhase::Asked);
        QCOMPARE(after(phase, ExplainEvent::Ended), ExplainPhase::Idle);
    }
}

HOPSCOPE_QT_SUITE(phases, TestPhases)
#include "test_phases.moc"
