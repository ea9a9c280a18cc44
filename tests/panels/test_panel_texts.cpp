#include <QTest>

#include "models/operator_times.h"
#include "models/problem_model.h"
#include "panels/compare_bars.h"
#include "panels/parts.h"
#include "panels/plan_panel.h"
#include "panels/reasons.h"
#include "panels/run_controls.h"
#include "panels/verdict_card.h"
#include "support/qt_suites.h"
#include "widgets_models/drawn_model.h"
#include "json/json.h"

using namespace hopscope;
using namespace hopscope::panels;
using protocol::RunState;

class TestPanelTexts : public QObject {
    Q_OBJECT
private slots:
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral("."))); }

    void asManyHopsAsDepth_data();
    void asManyHopsAsDepth();
    void aHopNamesWhatItReads();
    void depthIsExplained_data();
    void depthIsExplained();
    void factsSayWhereAnOperatorIs();
    void factsSayWhatWasMeasured();
    void anOperatorInTwoStagesSaysSo();
    void cutsAreOfferedWhereTheyMakeSense_data();
    void cutsAreOfferedWhereTheyMakeSense();
    void askingKeepsOtherPins();
    void answersNameWhatChanges();
    void anAnswerThatChangesNothingSaysSo();
    void linksLeadBackToTheirTarget();
    void barsAddUpToThePlan();
    void aPlanSaysHowFarItIsFromTheCheapest();
    void dataThatDoNotFitAreTheReasonForNoPlan();
    void barLengthsAreInProportion();
    void devicesComeFromTheEngine();
    void whatKeepsAGpuFromUseIsOneLine();
    void buttonsFollowTheRun_data();
    void buttonsFollowTheRun();
    void verdictsAreClear_data();
    void verdictsAreClear();
    void skippedRowsAreNotCompared();
    void notFiniteResultsComeFirst();
};

namespace {

protocol::PlanRecord withStore(const protocol::ModelRecord& model, const char* op)
{
    protocol::PlanRecord plan = drawn::twoLayerPlan(model);
    plan.checkpoints.push_back({model.findValue(std::string("v.") + op), protocol::StageId(1), false, 100, 100});
    plan.predicted->d2h += 100;
    plan.predicted->h2d += 100;
    return plan;
}

}  // namespace

void TestPanelTexts::asManyHopsAsDepth_data()
{
    QTest::addColumn<QString>("op");
    QTest::addColumn<QStringList>("hops");
    QTest::newRow("an input") << "x" << QStringList();
    QTest::newRow("before any hop") << "h0" << QStringList();
    QTest::newRow("the hop itself") << "m0" << QStringList{"m0"};
    QTest::newRow("behind one") << "h1" << QStringList{"m0"};
    QTest::newRow("behind two") << "s1" << QStringList{"m0", "m1"};
    QTest::newRow("the output") << "out" << QStringList{"m0", "m1"};
    QTest::newRow("structure") << "src" << QStringList();
}

void TestPanelTexts::asManyHopsAsDepth()
{
    QFETCH(QString, op);
    QFETCH(QStringList, hops);
    const protocol::ModelRecord model = drawn::twoLayers();
    QStringList found;
    for (const Hop& hop : hopsBehind(model, model.findOp(op.toStdString())))
        found << QString::fromStdString(model.ops[hop.op].id);
    QCOMPARE(found, hops);
}

void TestPanelTexts::aHopNamesWhatItReads()
{
    const protocol::ModelRecord model = drawn::twoLayers();
    const std::vector<Hop> hops = hopsBehind(model, model.findOp("s1"));
    QCOMPARE(hops.at(1), (Hop{model.findOp("m1"), model.findValue("v.h1")}));
}

void TestPanelTexts::depthIsExplained_data()
{
    QTest::addColumn<QString>("op");
    QTest::addColumn<QString>("heading");
    QTest::addColumn<QString>("contains");
    QTest::newRow("structure") << "src"
                               << "Why it has no depth"
                               << "graph structure only";
    QTest::newRow("input") << "x"
                           << "Why depth 0"
                           << "is an input";
    QTest::newRow("own rows") << "h0"
                              << "Why depth 0"
                              << "without values of neighbours";
    QTest::newRow("hop") << "m1"
                         << "Why depth 2"
                         << "convs.1.lin output (depth 1) from the neighbours";
    QTest::newRow("behind one") << "r0"
                                << "Why depth 1"
                                << "one hop";
    QTest::newRow("behind two") << "s1"
                                << "Why depth 2"
                                << "2 hops";
}

void TestPanelTexts::depthIsExplained()
{
    QFETCH(QString, op);
    QFETCH(QString, heading);
    QFETCH(QString, contains);
    const protocol::ModelRecord model = drawn::twoLayers();
    const protocol::OpId index = model.findOp(op.toStdString());
    QCOMPARE(depthHeading(model.ops[index]), heading);
    QVERIFY2(depthReason(model, index).contains(contains), qPrintable(depthReason(model, index)));
}

void TestPanelTexts::factsSayWhereAnOperatorIs()
{
    protocol::ModelRecord model = drawn::twoLayers();
    model.ops[model.findOp("s1")].arguments = {{"dim", "0"}, {"dtype", "None"}, {"keepdim", "False"}};
    protocol::PlanRecord plan = drawn::twoLayerPlan(model);
    plan.predicted.emplace();
    model.opsById["op7"] = model.findOp("s1");
    for (const double seconds : {0.001, 0.002})
        plan.predicted->stages.emplace_back().operators = {{ir::OpId(7), seconds}};
    const auto fact = [&](const char* op, const char* name) {
        for (const Fact& each : opFacts(model, &plan, model.findOp(op)))
            if (each.name == QLatin1String(name)) return each.value;
        return QString();
    };
    QCOMPARE(fact("s1", "stage"), QStringLiteral("2"));
    QCOMPARE(fact("s1", "depth"), QStringLiteral("2"));
    QCOMPARE(fact("s1", "rows"), QStringLiteral("one per row of node"));
    QCOMPARE(fact("s1", "shape"), QStringLiteral("34 × 8 float32 · 100 B"));
    QCOMPARE(fact("s1", "arguments"), QStringLiteral("dim=0, keepdim=False"));
    QCOMPARE(fact("s1", "predicted"), QStringLiteral("3.0 ms to compute and store"));
    QCOMPARE(fact("r0", "arguments"), QString());
    QCOMPARE(fact("r0", "predicted"), QString());
    QCOMPARE(fact("src", "stage"), QStringLiteral("prologue (once per graph)"));
    QCOMPARE(fact("src", "depth"), QString());
    QCOMPARE(fact("x", "stage"), QStringLiteral("given"));
}

// Those that were computed in one pass have its time, and a box that holds them counts it once.
void TestPanelTexts::factsSayWhatWasMeasured()
{
    const protocol::ModelRecord model = drawn::twoLayers();
    schema::Report report;
    report.seconds = 0.1;
    for (const int stage : {1, 2}) report.stages.emplace_back().index = protocol::StageId(stage);
    report.stages[0].operators = {{"r0", "", {}, 0.01, 2048}};
    report.stages[1].operators = {{"s1", "", {"g1", "r0"}, 0.02, 1024}};
    const auto measured = [&](const char* op) { return measuredFacts(model, &report, model.findOp(op)); };
    QCOMPARE(measured("s1").front(),
             (Fact{QStringLiteral("measured"),
                   QStringLiteral("20 ms, 20.0 % of the run, in one pass over the edges with 2 other operators")}));
    QVERIFY(measured("r0").front().value.startsWith(QLatin1String("30 ms, 30.0 %")));
    QCOMPARE(measured("r0").back(), (Fact{QStringLiteral("largest result"), QStringLiteral("2.0 KiB in a batch")}));
    QVERIFY(measured("x").empty());
    QVERIFY(measuredFacts(model, nullptr, model.findOp("s1")).empty());
    const models::OperatorTimes::Sum sum = *models::OperatorTimes(report).of({"g1", "s1", "r0"});
    QCOMPARE(sum.seconds, 0.03);
    QVERIFY(sum.others.empty());
}

void TestPanelTexts::anOperatorInTwoStagesSaysSo()
{
    const protocol::ModelRecord model = drawn::twoLayers();
    protocol::PlanRecord plan = drawn::twoLayerPlan(model);
    plan.stages[1].steps.push_back({model.findOp("r0"), "F(node)", "node"});
    plan.indexStages();
    const std::vector<Fact> facts = opFacts(model, &plan, model.findOp("r0"));
    QCOMPARE(facts.back(), (Fact{QStringLiteral("stage"), QStringLiteral("1, 2, recomputed in each")}));
}

void TestPanelTexts::cutsAreOfferedWhereTheyMakeSense_data()
{
    using Can = CutQuestion::Can;
    QTest::addColumn<QString>("op");
    QTest::addColumn<int>("can");
    QTest::addColumn<QString>("contains");
    QTest::newRow("output") << "s1" << int(Can::Nothing) << "Outputs";
    QTest::newRow("stored") << "r0" << int(Can::Forbid) << "Stored by the strategy, after stage 1; 100 B written";
    QTest::newRow("not stored") << "s0" << int(Can::Store) << "";
    QTest::newRow("structure") << "src" << int(Can::Nothing) << "once for the whole graph";
    QTest::newRow("input") << "x" << int(Can::Nothing) << "Inputs";
}

void TestPanelTexts::cutsAreOfferedWhereTheyMakeSense()
{
    QFETCH(QString, op);
    QFETCH(int, can);
    QFETCH(QString, contains);
    const protocol::ModelRecord model = drawn::twoLayers();
    const protocol::PlanRecord plan = drawn::twoLayerPlan(model);
    const CutQuestion question = cutQuestion(model, &plan, model.findOp(op.toStdString()));
    QCOMPARE(int(question.can), can);
    QVERIFY2(question.sentence.contains(contains), qPrintable(question.sentence));
    QCOMPARE(question.pins.empty(), question.can == CutQuestion::Can::Nothing);
    QCOMPARE(cutQuestion(model, nullptr, protocol::OpId(0)).can, CutQuestion::Can::Nothing);
}

void TestPanelTexts::askingKeepsOtherPins()
{
    const protocol::ModelRecord model = drawn::twoLayers();
    protocol::PlanRecord plan = drawn::twoLayerPlan(model);
    plan.pins = {{base::PinKind::Checkpoint, model.findValue("v.h1")},
                 {base::PinKind::NoCheckpoint, model.findValue("v.s0")}};
    const CutQuestion question = cutQuestion(model, &plan, model.findOp("s0"));
    QVERIFY(question.pinned);
    const std::vector<plan::Pin> expected{{base::PinKind::Checkpoint, model.findValue("v.h1")},
                                          {base::PinKind::Checkpoint, model.findValue("v.s0")}};
    QVERIFY(question.pins == expected);
}

void TestPanelTexts::answersNameWhatChanges()
{
    const protocol::ModelRecord model = drawn::twoLayers();
    const protocol::PlanRecord now = drawn::twoLayerPlan(model);
    protocol::PlanRecord then = withStore(model, "s0");
    then.predicted->stages[0].recomputed = {ir::OpId(1), ir::OpId(2)};
    then.predicted->peakMemory = 500;
    const CutQuestion question = cutQuestion(model, &now, model.findOp("s0"));
    QCOMPARE(cutAnswer(question, now, then), QStringLiteral("Storing it moves 200 B more (+50.0 %), recomputes 2 "
                                                            "more operators, peak memory 500 B instead of 2.0 KiB."));
    const CutQuestion back = cutQuestion(model, &then, model.findOp("s0"));
    QCOMPARE(cutAnswer(back, then, now),
             QStringLiteral("Not storing it moves 200 B less (−33.3 %), recomputes 2 fewer operators, peak memory "
                            "2.0 KiB instead of 500 B."));
}

void TestPanelTexts::anAnswerThatChangesNothingSaysSo()
{
    const protocol::ModelRecord model = drawn::twoLayers();
    const protocol::PlanRecord plan = drawn::twoLayerPlan(model);
    const CutQuestion question = cutQuestion(model, &plan, model.findOp("s0"));
    QVERIFY(cutAnswer(question, plan, plan).contains(QStringLiteral("would not change")));
}

void TestPanelTexts::linksLeadBackToTheirTarget()
{
    using models::Target;
    for (const Target& target : {Target::op(protocol::OpId(3)), Target::value(protocol::ValueId(0)),
                                 Target::stage(protocol::StageId(2)), Target::moduleAt(QStringLiteral("convs.0"))}) {
        const QString text = link(target, QStringLiteral("a < b"));
        QVERIFY(text.contains(QStringLiteral("a &lt; b")));
        const QString href = text.section(QLatin1Char('"'), 1, 1);
        QCOMPARE(targetOf(href), target);
    }
    QCOMPARE(targetOf(QStringLiteral("https://example.org")), Target());
    QCOMPARE(targetOf(QStringLiteral("op:x")), Target());
}

void TestPanelTexts::barsAddUpToThePlan()
{
    models::Document document;
    auto model = std::make_shared<const protocol::ModelRecord>(drawn::twoLayers());
    document.setModel(model);
    QVERIFY(planBars(document).empty());
    auto plan = std::make_shared<const protocol::PlanRecord>(drawn::twoLayerPlan(*model));
    document.setPlan(plan);
    document.setReference(base::Strategy::SourceRule,
                          std::make_shared<const protocol::PlanRecord>(withStore(*model, "s0")));
    const std::vector<PlanBar> bars = planBars(document);
    QCOMPARE(bars.size(), std::size_t(2));
    QVERIFY(bars[0].current && !bars[1].current);
    QCOMPARE(bars[0].written, plan->predicted->d2h);
    QCOMPARE(bars[0].read, plan->predicted->h2d);
    QCOMPARE(bars[0].total(), *movedBytes(*plan));
    QCOMPARE(bars[1].total(), 600);
    QCOMPARE(planHeadline(plan.get()), QStringLiteral("Moves 400 B"));
    QVERIFY(planDetail(document).contains(QStringLiteral("200 B written, 200 B read")));
}

void TestPanelTexts::aPlanSaysHowFarItIsFromTheCheapest()
{
    models::Document document;
    auto model = std::make_shared<const protocol::ModelRecord>(drawn::twoLayers());
    document.setModel(model);
    protocol::PlanRecord plan = drawn::twoLayerPlan(*model);
    const auto quality = [&] {
        document.setPlan(std::make_shared<const protocol::PlanRecord>(plan));
        return planQuality(document);
    };
    QCOMPARE(quality(), QString());
    plan.objective = base::Objective::Time;
    plan.cost = 0.3;
    QCOMPARE(quality(), QString());
    protocol::PlanRecord best = plan;
    best.cost = 0.25;
    best.strategy = base::Strategy::Optimal;
    document.setReference(base::Strategy::Optimal, std::make_shared<const protocol::PlanRecord>(best));
    QCOMPARE(quality(), QStringLiteral("20 % above the best plan found, in time"));
    QCOMPARE(planBars(document).back().name, QStringLiteral("best found"));
    best.gap = 0;
    document.setReference(base::Strategy::Optimal, std::make_shared<const protocol::PlanRecord>(best));
    QCOMPARE(quality(), QStringLiteral("20 % above the optimum in time"));
    const std::vector<PlanBar> bars = planBars(document);
    QCOMPARE(bars.back().name, QStringLiteral("optimum"));
    QCOMPARE(barText(bars.front(), bars.front()), QStringLiteral("300 ms"));
    QCOMPARE(barText(bars.back(), bars.front()), QStringLiteral("250 ms \u00b7 \u221217 %"));
    plan.lowerBound = 0.2;
    plan.gap = 1.0 / 3;
    QCOMPARE(quality(), QStringLiteral("Within 50 % of the optimum in time"));
    document.setPlan(document.plan(), models::Search::GoesOn);
    QCOMPARE(planQuality(document), QStringLiteral("Within 50 % of the optimum in time so far"));
    plan.gap = 0;
    QCOMPARE(quality(), QStringLiteral("Proven optimal in time"));
    plan.pins = {{base::PinKind::Checkpoint, model->findValue("v.s0")}};
    QCOMPARE(quality(), QStringLiteral("Proven optimal in time with these pins"));
    plan.predicted->seconds = 0.3;
    QCOMPARE(planHeadline(&plan), QStringLiteral("About 300 ms, moves 400 B"));
}

void TestPanelTexts::dataThatDoNotFitAreTheReasonForNoPlan()
{
    for (const char* code : {"no-run", "no-split"}) {
        models::Document document;
        protocol::ModelRecord model = drawn::twoLayers();
        model.splittable = false;
        model.lints.push_back({.code = code, .message = "33 columns", .op = {}, .hint = {}, .blocking = true});
        document.setModel(std::make_shared<const protocol::ModelRecord>(std::move(model)));
        const QString reason = QLatin1String(code) == QLatin1String("no-run")
                                   ? QStringLiteral("The model does not run on these data")
                                   : QStringLiteral("This model cannot be evaluated layer by layer");
        QCOMPARE(models::refusalTitle(*document.model()), reason);
        QCOMPARE(planDetail(document), reason + QStringLiteral(": see Problems."));
    }
}

void TestPanelTexts::barLengthsAreInProportion()
{
    QCOMPARE(barLength(50, 100, 200), 100);
    QCOMPARE(barLength(100, 100, 200), 200);
    QCOMPARE(barLength(1, 1'000'000, 200), 1);  // never invisible
    QCOMPARE(barLength(0, 100, 200), 0);
    QCOMPARE(barLength(5, 0, 200), 0);
}

void TestPanelTexts::devicesComeFromTheEngine()
{
    const auto info = json::parse(R"({"devices": [{"id": "cpu", "name": "cpu", "memory": 1073741824},
                                                 {"id": "cuda:0", "name": "H200", "memory": null}, {"name": "broken"}]})");
    const std::vector<DeviceChoice> choices = deviceChoices(*info);
    QCOMPARE(choices.size(), std::size_t(3));
    QCOMPARE(choices[0].id, QStringLiteral("auto"));
    QCOMPARE(choices[1], (DeviceChoice{QStringLiteral("cpu"), QStringLiteral("cpu · 1.0 GiB")}));
    QCOMPARE(choices[2], (DeviceChoice{QStringLiteral("cuda:0"), QStringLiteral("H200 · cuda:0")}));
    QCOMPARE(deviceChoices({}).size(), std::size_t(2));
}

void TestPanelTexts::whatKeepsAGpuFromUseIsOneLine()
{
    const auto info = json::parse(R"({"devices": [{"id": "cuda:0", "name": "H200", "driver": "580.1, CUDA 13.0"}],
                                      "missing": ["no driver", "no CUDA", 3]})");
    QCOMPARE(missingDevices(*info), QStringLiteral("GPU: no driver; no CUDA"));
    QCOMPARE(deviceChoices(*info)[1].tip, QStringLiteral("driver 580.1, CUDA 13.0"));
    for (const char* nothing : {"{}", R"({"missing": []})", R"({"missing": "word"})"})
        QVERIFY(missingDevices(*json::parse(nothing)).isEmpty());
}

void TestPanelTexts::buttonsFollowTheRun_data()
{
    QTest::addColumn<bool>("plan");
    QTest::addColumn<bool>("busy");
    QTest::addColumn<bool>("running");
    QTest::addColumn<int>("state");
    QTest::addColumn<QString>("enabled");
    const auto row = [](const char* name, bool plan, bool busy, bool running, RunState state, const char* enabled) {
        QTest::newRow(name) << plan << busy << running << int(state) << QString::fromLatin1(enabled);
    };
    row("nothing open", false, false, false, RunState::Finished, "settings");
    row("ready", true, false, false, RunState::Finished, "start step settings");
    row("planning", true, true, false, RunState::Finished, "settings");
    row("preparing", true, false, true, RunState::Preparing, "stop");
    row("running", true, false, true, RunState::Running, "pause stop");
    row("paused", true, false, true, RunState::Paused, "resume step stop");
    row("verifying", true, false, true, RunState::Verifying, "stop");
}

void TestPanelTexts::buttonsFollowTheRun()
{
    QFETCH(bool, plan);
    QFETCH(bool, busy);
    QFETCH(bool, running);
    QFETCH(int, state);
    QFETCH(QString, enabled);
    const RunButtons may = runButtons(plan, busy, running, static_cast<RunState>(state));
    const QStringList words = enabled.split(QLatin1Char(' '));
    const RunButtons expected{words.contains("start"), words.contains("pause"), words.contains("resume"),
                              words.contains("step"),  words.contains("stop"),  words.contains("settings")};
    QCOMPARE(may, expected);
}

void TestPanelTexts::verdictsAreClear_data()
{
    QTest::addColumn<std::optional<schema::Verdict>>("verdict");
    QTest::addColumn<QString>("headline");
    QTest::newRow("equal") << std::optional(schema::Verdict::Equal)
                           << "Equal: 2,708 of 2,708 rows, largest difference 3e-07";
    QTest::newRow("different") << std::optional(schema::Verdict::Different)
                               << "Different: 17 elements outside the tolerance, largest difference 3e-07";
    QTest::newRow("unverifiable") << std::optional(schema::Verdict::Unverifiable) << "Unverifiable";
    QTest::newRow("none") << std::optional<schema::Verdict>() << "Not verified";
}

void TestPanelTexts::notFiniteResultsComeFirst()
{
    schema::Report report;
    report.verify.emplace().verdict = schema::Verdict::Equal;
    report.verify->coverage = {schema::CoverageMethod::Full, 2708, 2708, 0, 2708, 2};
    report.verify->outputs = {{"out.0", 0, 0, 2708, 0, 2000}, {"out.1", 0, 0, 2708, 0, 500}};
    const ShownVerdict found = verdictOf(report);
    QCOMPARE(found.headline,
             QStringLiteral("Equal, but 2,500 results are NaN or infinite: 2,708 of 2,708 rows, largest difference 0"));
    QVERIFY(!found.finite);
    // A sample that has none of them says nothing about the others.
    report.verify->outputs = {{"out.0", 0, 0, 64, 0, 0}};
    report.notFinite = {.outputs = {{"out.0", 3'000, 4'000}}, .origin = "first made by aten::log in conv1"};
    const ShownVerdict sampled = verdictOf(report);
    QVERIFY(sampled.headline.startsWith(QStringLiteral("Equal, but 3,000 results are NaN or infinite")));
    const QString sentence =
        QStringLiteral("3,000 of 4,000 numbers in out.0 are NaN or infinite: first made by aten::log in conv1");
    QVERIFY2(sampled.detail.startsWith(sentence), qPrintable(sampled.detail));
    report.verify.reset();
    const ShownVerdict unverified = verdictOf(report);
    QCOMPARE(unverified.headline, QStringLiteral("Not verified, and 3,000 results are NaN or infinite"));
    QVERIFY2(unverified.detail.startsWith(sentence), qPrintable(unverified.detail));
    QVERIFY(!unverified.finite);
}

void TestPanelTexts::skippedRowsAreNotCompared()
{
    schema::Report report;
    report.verify.emplace().verdict = schema::Verdict::Equal;
    report.verify->coverage = {schema::CoverageMethod::Sampled, 2708, 64, 3, 60, 2};
    report.verify->outputs = {{"out", 3e-7, 1e-6, 61, 0, 0}};
    QCOMPARE(verdictOf(report).headline, QStringLiteral("Equal: 61 of 2,708 rows, largest difference 3e-07"));
    report.verify->verdict = schema::Verdict::Different;
    report.verify->outputs[0].different = 1;
    QCOMPARE(verdictOf(report).headline,
             QStringLiteral("Different: 1 element outside the tolerance, largest difference 3e-07"));
}

void TestPanelTexts::verdictsAreClear()
{
    QFETCH(std::optional<schema::Verdict>, verdict);
    QFETCH(QString, headline);
    schema::Report report;
    if (verdict) {
        report.verify.emplace().verdict = *verdict;
        report.verify->reason = "the reason";
        report.verify->coverage = {schema::CoverageMethod::Full, 2708, 2708, 0, 2708, 2};
        report.verify->outputs = {{"out", 3e-7, 1e-6, 2708, verdict == schema::Verdict::Different ? 17 : 0, 0}};
    }
    const ShownVerdict found = verdictOf(report);
    QCOMPARE(found.kind, verdict);
    QCOMPARE(found.headline, headline);
    if (verdict) QVERIFY(found.detail.startsWith(QStringLiteral("the reason")));
}

HOPSCOPE_QT_SUITE(panel_texts, TestPanelTexts)
#include "test_panel_texts.moc"
