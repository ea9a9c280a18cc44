// Pins of every kind, stages, previews and explanations, against an engine that answers and refuses.

#include <QSignalSpy>
#include <QTest>

#include "bench.h"
#include "jobs/front_search.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::jobs;

namespace {

const char* const secondGather = "v16";

// The requests that the player logs.
class Asked : public QObject {
public:
    explicit Asked(EngineClient& engine)
    {
        connect(&engine, &EngineClient::notified, this, [this](const QString&, const json::Value& params) {
            const json::Value* message = params.find("message");
            if (message != nullptr && message->asString() != nullptr)
                m_said.append(QString::fromStdString(*message->asString()));
        });
    }
    [[nodiscard]] qsizetype count(const QString& what) const { return m_said.count(what); }

private:
    QStringList m_said;
};

}  // namespace

class TestWorkbenchPlans : public QObject {
    Q_OBJECT
private slots:
    void aPinThatNoRuleKeepsToMakesAnOptimumInOneStep();
    void choosingAPinAgainTakesItAway();
    void lettingTheStrategyDecideTakesAllPinsOfAValue();
    void anotherStageIsAWayOut();
    void pinsAreSeenBeforeTheBestPlanIsFound();
    void betterPlansAreShownAsTheirGapCloses();
    void aSearchMakesWayForADragAndGoesOnAfterIt();
    void aDragAsksAsItMovesAndTheDropShowsItsAnswerAtOnce();
    void aDragThatIsGivenUpLeavesThePlan();
    void aDragToWhereNothingCanBeStoredSaysWhy();
    void aPlanIsExplainedOnceAndAgainWhenItChanges();
    void measuringTheMachinePlansAgain();
    void theTradeOffIsSearchedWhileItIsWantedAndGoesOnAfterOtherQuestions();
    void theTradeOffOfAnotherDeviceIsSearchedAnew();
    void aCutThatIsSeenAgainBeforeItsAnswerWasGivenUpIsAskedAgain();
    void nobodyIsAskedAboutACutWhileNoEngineHasTheModel();
};

void TestWorkbenchPlans::aPinThatNoRuleKeepsToMakesAnOptimumInOneStep()
{
    OpenBench bench;
    bench.workbench.setStrategy(base::Strategy::Depth);
    QTRY_COMPARE(bench.document.plan()->strategy, base::Strategy::Depth);
    bench.workbench.pin({base::PinKind::HopStage, valueOf(secondGather), {}, plan::StageId(3)});
    QTRY_COMPARE(bench.document.plan()->strategy, base::Strategy::Optimal);
    QVERIFY(bench.workbench.undoStack().undoText().contains("optimise around the pins"));
    QTRY_COMPARE(bench.document.plan()->stagesOf(bench.document.model()->findOp("op8")),
                 std::vector{protocol::StageId(3)});
    bench.workbench.undoStack().undo();
    QTRY_COMPARE(bench.document.plan()->strategy, base::Strategy::Depth);
    QVERIFY(bench.document.settings().pins.empty());
}

void TestWorkbenchPlans::choosingAPinAgainTakesItAway()
{
    OpenBench bench;
    const plan::Pin cut{base::PinKind::Cut, valueOf(secondLinear), valueOf(secondGather)};
    bench.workbench.togglePin(cut);
    QTRY_VERIFY(bench.stored().contains(secondLinear));
    bench.workbench.togglePin(cut);
    QTRY_VERIFY(!bench.stored().contains(secondLinear));
    QVERIFY(bench.document.settings().pins.empty());
    QCOMPARE(bench.workbench.undoStack().count(), 2);
}

void TestWorkbenchPlans::lettingTheStrategyDecideTakesAllPinsOfAValue()
{
    OpenBench bench;
    bench.workbench.pin({base::PinKind::Checkpoint, valueOf(secondLinear)});
    bench.workbench.pin({base::PinKind::Cut, valueOf(secondLinear), valueOf(secondGather)});
    bench.workbench.pin({base::PinKind::NoRecompute, valueOf(secondResult)});
    QTRY_VERIFY(bench.idle());
    bench.workbench.unpin(valueOf(secondLinear));
    QTRY_VERIFY(bench.idle());
    QVERIFY(bench.document.settings().pins ==
            (std::vector<plan::Pin>{{base::PinKind::NoRecompute, valueOf(secondResult)}}));
}

void TestWorkbenchPlans::anotherStageIsAWayOut()
{
    OpenBench bench;
    bench.workbench.setStages(3);
    QTRY_VERIFY(bench.idle());
    bench.workbench.pin({base::PinKind::HopStage, valueOf(secondGather), {}, plan::StageId(3)});
    QTRY_COMPARE(bench.document.repairs().size(), std::size_t{1});
    QVERIFY(bench.document.refusal().contains("no legal plan of at most 3 stages"));
    const models::Repair way = bench.document.repairs().front();
    QVERIFY(!way.dropped);
    bench.workbench.repair("Use 4 stages", way);
    QTRY_COMPARE(bench.document.plan()->stages.size(), std::size_t{4});
    QCOMPARE(bench.document.settings().stages, std::optional(4));
    QVERIFY(bench.document.reference(base::Strategy::Optimal)->stages.size() == 3);
    bench.workbench.clearPins();
    bench.workbench.setStages(std::nullopt);
    QTRY_VERIFY(bench.idle());
    QCOMPARE(bench.document.plan()->stages.size(), std::size_t{3});
    QVERIFY(!bench.document.settings().stages.has_value());
    bench.workbench.undoStack().undo();
    QCOMPARE(bench.document.settings().stages, std::optional(4));
}

void TestWorkbenchPlans::pinsAreSeenBeforeTheBestPlanIsFound()
{
    OpenBench bench({"--slow"});  // else the best one may be there first
    const Asked asked(bench.engine);
    std::vector<bool> proven;
    connect(&bench.document, &models::Document::planChanged, this,
            [&] { proven.push_back(bench.document.plan()->gap.has_value()); });
    bench.workbench.pin({base::PinKind::Checkpoint, valueOf(secondLinear)});
    QTRY_VERIFY(bench.idle());
    QCOMPARE(proven, (std::vector{false, true}));
    bench.workbench.setStrategy(base::Strategy::Depth);  // a rule is as quick as it gets
    bench.workbench.pin({base::PinKind::Checkpoint, valueOf(secondLinear)});
    QTRY_VERIFY(bench.idle());
    QCOMPARE(asked.count("plan/make near"), 1);
}

void TestWorkbenchPlans::betterPlansAreShownAsTheirGapCloses()
{
    Bench bench;
    std::vector<double> gaps;
    std::vector<bool> searching;
    connect(&bench.document, &models::Document::planChanged, this, [&] {
        const models::PlanPtr& plan = bench.document.plan();
        if (!plan || !plan->gap || (!gaps.empty() && gaps.back() == *plan->gap)) return;
        gaps.push_back(*plan->gap);
        searching.push_back(bench.document.searching());
    });
    bench.open("chain3-hard.pt");
    QTRY_VERIFY(bench.idle());
    QCOMPARE(gaps, (std::vector{0.5, 0.1, 0.0}));
    QCOMPARE(searching, (std::vector{true, true, false}));
    QCOMPARE(*bench.document.reference(base::Strategy::Optimal)->gap, 0.0);
    // A rule has nothing to search for.
    gaps.clear();
    bench.workbench.setStrategy(base::Strategy::Depth);
    QTRY_VERIFY(bench.idle());
    QVERIFY(gaps.empty() && !bench.document.searching());
}

void TestWorkbenchPlans::aSearchMakesWayForADragAndGoesOnAfterIt()
{
    Bench bench;
    bench.open("chain3-hard.pt");
    QTRY_VERIFY(bench.idle());
    bench.workbench.setStrategy(base::Strategy::Optimal, base::Objective::Bytes);
    QTRY_VERIFY(bench.document.searching());
    bench.workbench.previewMove(valueOf(firstResult), valueOf(secondLinear));
    const Asked asked(bench.engine);
    QTRY_VERIFY(bench.document.preview().plan != nullptr);
    QTest::qWait(400);
    QVERIFY2(asked.count("search") <= 1, "the search goes on beside the drag");  // the one that was under way
    QVERIFY(bench.document.searching());
    bench.workbench.endPreview();
    QTRY_VERIFY(bench.idle());
    QVERIFY(!bench.document.searching());
    QCOMPARE(*bench.document.plan()->gap, 0.0);
}

void TestWorkbenchPlans::aDragAsksAsItMovesAndTheDropShowsItsAnswerAtOnce()
{
    OpenBench bench;
    const Asked asked(bench.engine);
    const models::PlanPtr before = bench.document.plan();
    for (const char* over : {"v8", secondResult, "v20", secondLinear})
        bench.workbench.previewMove(valueOf(firstResult), valueOf(over));
    QTRY_VERIFY(bench.document.preview().plan &&
                bench.document.preview().plan->pins.back().value == valueOf(secondLinear));
    QVERIFY(asked.count("plan/make near") <= 2);  // what was passed over quickly is not asked for
    QCOMPARE(bench.document.plan(), before);
    const models::PlanPtr seen = bench.document.preview().plan;
    bench.workbench.movePin(valueOf(firstResult), valueOf(secondLinear));
    QCOMPARE(bench.document.plan(), seen);
    bench.workbench.endPreview();
    QVERIFY(!bench.document.preview().plan);
    QTRY_VERIFY(bench.document.plan()->gap.has_value());
    QVERIFY(protocol::sameCuts(*bench.document.plan(), *seen));
    QCOMPARE(bench.workbench.undoStack().count(), 1);
}

void TestWorkbenchPlans::aDragThatIsGivenUpLeavesThePlan()
{
    OpenBench bench;
    const models::PlanPtr before = bench.document.plan();
    bench.workbench.previewMove(valueOf(firstResult), valueOf(secondLinear));
    bench.workbench.endPreview();
    QTest::qWait(150);
    QVERIFY(!bench.document.preview().plan);
    bench.workbench.previewMove(valueOf(firstResult),
                                valueOf(secondLinear));  // asked again, though it was asked before
    QTRY_VERIFY(bench.document.preview().plan != nullptr);
    bench.workbench.endPreview();
    QCOMPARE(bench.document.plan(), before);
    QCOMPARE(bench.workbench.undoStack().count(), 0);
}

void TestWorkbenchPlans::aDragToWhereNothingCanBeStoredSaysWhy()
{
    OpenBench bench;
    bench.workbench.previewMove(valueOf(firstResult), valueOf("v9"));
    QTRY_VERIFY(bench.document.preview().refusal.contains("cannot be stored"));
    QVERIFY(bench.document.refusal().isEmpty());
}

void TestWorkbenchPlans::aPlanIsExplainedOnceAndAgainWhenItChanges()
{
    OpenBench bench;
    const Asked asked(bench.engine);
    bench.workbench.explain();
    bench.workbench.explain();
    QTRY_VERIFY(bench.document.explained().explanation != nullptr);
    bench.workbench.explain();
    QCOMPARE(bench.document.explained().explanation->against.size(), std::size_t{2});
    bench.workbench.pin({base::PinKind::Checkpoint, valueOf(secondLinear)});
    QTRY_VERIFY(bench.idle());
    QVERIFY(!bench.document.explained().explanation);
    bench.workbench.explain();
    QTRY_VERIFY(bench.document.explained().explanation != nullptr);
    QCOMPARE(asked.count("plan/explain"), 2);
}

void TestWorkbenchPlans::measuringTheMachinePlansAgain()
{
    OpenBench bench;
    std::vector<schema::MachineRates> answers;
    const auto keep = [&](const base::Result<schema::MachineRates>& rates) { answers.push_back(rates.value()); };
    bench.workbench.queries().machine("machine/rates", this, keep);
    bench.workbench.queries().machine("machine/measure", this, keep);
    QTRY_COMPARE(answers.size(), std::size_t{2});
    QVERIFY(!answers[0].measured && answers[1].measured);
    const models::PlanPtr before = bench.document.plan();
    bench.workbench.planAgain();
    QTRY_VERIFY(bench.document.plan() != before && bench.idle());
}

void TestWorkbenchPlans::theTradeOffIsSearchedWhileItIsWantedAndGoesOnAfterOtherQuestions()
{
    OpenBench bench;
    QTRY_VERIFY(bench.idle());
    bench.workbench.front().resume();
    QTest::qWait(100);
    QVERIFY(bench.document.front().points.empty());  // nobody has asked
    bench.workbench.front().want(true);
    bool answered = false;
    bench.workbench.whatIf({}, this, [&](const base::Result<protocol::PlanRecord>&) { answered = true; });
    QTRY_VERIFY(answered);
    QTRY_VERIFY(bench.document.front().complete);
    const auto found = bench.document.front().points.size();
    QVERIFY(found > 1);
    bench.workbench.front().resume();
    QTest::qWait(100);
    QCOMPARE(bench.document.front().points.size(), found);  // all is known
}

void TestWorkbenchPlans::theTradeOffOfAnotherDeviceIsSearchedAnew()
{
    Bench bench({"--gpu"});
    bench.open("chain3.pt");
    QTRY_VERIFY(bench.idle());
    bench.workbench.front().want(true);
    QTRY_VERIFY(bench.document.front().complete);
    models::Settings settings = bench.document.settings();
    settings.device = "cuda:0";
    bench.workbench.setRunSettings(settings);
    QTRY_VERIFY(bench.idle() && bench.document.plan()->device == "cuda:0");
    bench.workbench.front().resume();
    QTRY_VERIFY(bench.document.front().complete && bench.document.front().points.front().plan->device == "cuda:0");
}

// While the engine reads an answer, a drag goes away from a place and comes back.
void TestWorkbenchPlans::aCutThatIsSeenAgainBeforeItsAnswerWasGivenUpIsAskedAgain()
{
    OpenBench bench({"--slow"});
    bench.workbench.previewMove(valueOf(firstResult), valueOf(secondLinear));
    bench.workbench.previewMove(valueOf(firstResult), valueOf("v8"));  // which gives the question up
    bench.workbench.previewMove(valueOf(firstResult), valueOf(secondLinear));
    QTRY_VERIFY(bench.document.preview().plan != nullptr || !bench.document.preview().refusal.isEmpty());
    QVERIFY2(bench.document.preview().refusal.isEmpty(), qPrintable(bench.document.preview().refusal));
    QCOMPARE(bench.document.preview().plan->pins.back().value, valueOf(secondLinear));
}

void TestWorkbenchPlans::nobodyIsAskedAboutACutWhileNoEngineHasTheModel()
{
    OpenBench bench;
    QSignalSpy lost(&bench.workbench, &Workbench::engineLost), back(&bench.workbench, &Workbench::engineBack);
    bench.engine.restart();
    QTRY_COMPARE(lost.count(), 1);
    int answers = 0;
    const auto count = [&](const base::Result<protocol::PlanRecord>&) { ++answers; };
    bench.workbench.whatIf({{base::PinKind::NoCheckpoint, valueOf(firstResult)}}, this, count);
    QTRY_VERIFY(back.count() == 1 && bench.idle());
    QTest::qWait(200);
    QCOMPARE(answers, 0);
    bench.workbench.whatIf({{base::PinKind::NoCheckpoint, valueOf(firstResult)}}, this, count);
    QTRY_COMPARE(answers, 1);
}

HOPSCOPE_QT_SUITE(workbench_plans, TestWorkbenchPlans)
#include "test_workbench_plans.moc"
