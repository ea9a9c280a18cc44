// Pins and explanations in the panels: in words, as lists, as menus.

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QMenu>
#include <QPushButton>
#include <QTableView>
#include <QToolButton>

#include "models/explanation_model.h"
#include "models/labels.h"
#include "models/pin_model.h"
#include "models/pins.h"
#include "panels/fixture.h"
#include "panels/pin_part.h"
#include "panels/why.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::panels;
using models::Target;
using plan::PinKind;

namespace {

protocol::ValueId value(const protocol::ModelRecord& model, const char* id) { return model.findValue(id); }

// The store after the first layer saves, another cannot be done without; one rule stores something else.
models::ExplanationPtr explanation(const protocol::ModelRecord& model)
{
    auto made = std::make_shared<schema::Explanation>();
    made->unit = base::Unit::Seconds;
    const protocol::StageId one(1), two(2);
    made->cost = 0.005;
    made->decisions = {
        {base::DecisionKind::Recomputed, value(model, "v.s0"), {one, two}, 0, 0, 0.001, false, {}, {}},
        {base::DecisionKind::Stored, value(model, "v.r0"), {one}, 0.0007, 0.0005, 0, true, 0.0104, 0.0054}};
    schema::PlanComparison depth{base::Strategy::Depth, 0.006, 0.006, {1 << 20, 3 << 20, 0}, {}};
    depth.values.push_back({value(model, "v.r0"), {0.0012, 0}, {1024, 0}, {2048, 0}, {{one}, {one, two}}});
    made->against = {depth, {base::Strategy::SourceRule, {}, {}, {}, {}}};
    return made;
}

QStringList entries(const std::vector<models::PinChoice>& choices)
{
    QStringList texts;
    for (const models::PinChoice& choice : choices)
        texts << (choice.group.isEmpty() ? choice.text : choice.group + u'/' + choice.text) +
                     (choice.possible ? QString() : QStringLiteral(" (off)"));
    return texts;
}

}  // namespace

class TestPins : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { style::applyTheme(style::loadTheme(style::Mode::Light)); }
    void init() { failOnWarnings(); }

    void pinsAreSaidInWords_data();
    void pinsAreSaidInWords();
    void aValueOffersWhatCanBeDecided();
    void whatFollowsFromTheGraphCannotBeDecided();
    void thePlanPanelListsPinsAndStages();
    void decisionsAreSaidInALine();
    void rulesAreNamedByTheirNames();
    void tablesOfAnExplanationSurviveBeingReplaced();
    void whyShowsDecisionsAndDifferences();
    void whySaysWhatIsMissing();
    void theInspectorSaysWhatAValueSaves();
    void theInspectorsMenuHasEveryPin();
};

void TestPins::pinsAreSaidInWords_data()
{
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("words");
    QTest::newRow("store") << "checkpoint"
                           << "store %1";
    QTest::newRow("never") << "no_checkpoint"
                           << "never store %1";
    QTest::newRow("once") << "no_recompute"
                          << "compute %1 only once";
    QTest::newRow("stage") << "hop_stage"
                           << "run the gathers for %1 in stage 3";
}

void TestPins::pinsAreSaidInWords()
{
    QFETCH(QString, kind);
    QFETCH(QString, words);
    const protocol::ModelRecord model = drawn::twoLayers();
    const QString name = models::valueLabel(model, value(model, "v.r0"));
    QCOMPARE(
        models::pinLabel(
            model, {base::fromName<PinKind>(kind.toStdString()).value(), value(model, "v.r0"), {}, plan::StageId(3)}),
        words.arg(name));
    const QString cut = models::pinLabel(model, {PinKind::Cut, value(model, "v.r0"), value(model, "v.s1")});
    QVERIFY2(cut.startsWith("read " + name) && cut.contains("from a store for"), qPrintable(cut));
}

void TestPins::aValueOffersWhatCanBeDecided()
{
    const protocol::ModelRecord model = drawn::twoLayers();
    const protocol::PlanRecord plan = drawn::twoLayerPlan(model);
    const auto choices = models::pinChoices(model, plan, {{PinKind::Checkpoint, value(model, "v.s0")}},
                                            models::placeOf(model, value(model, "v.s0")), false);
    const QStringList texts = entries(choices);
    QCOMPARE(texts.mid(0, 3), (QStringList{"Store Here", "Never Store", "Do Not Recompute"}));
    QVERIFY2(texts.contains("Run in Stage/3") && !texts.contains("Run in Stage/4"), qPrintable(texts.join(u'|')));
    QVERIFY(choices[0].chosen && !choices[1].chosen);
    QVERIFY(choices[2].tip.contains("optimal plan around your pins") && !choices[0].tip.contains("optimal"));
}

void TestPins::whatFollowsFromTheGraphCannotBeDecided()
{
    const protocol::ModelRecord model = drawn::twoLayers();
    const protocol::PlanRecord plan = drawn::twoLayerPlan(model);
    for (const models::PinChoice& choice : models::pinChoices(model, plan, {}, {value(model, "v.src"), {}, {}}, true))
        QVERIFY2(!choice.possible && choice.tip.contains("whole graph"), qPrintable(choice.tip));
    QVERIFY(models::readsOf(model, model.findOp("x")).empty());
}

void TestPins::thePlanPanelListsPinsAndStages()
{
    OpenFixture fixture;
    const auto panel = fixture.show(makePlanPanel, {340, 900});
    QVERIFY(!part<PinList>(*panel, "pinList")->isVisible());
    const protocol::ModelRecord& model = *fixture.document.model();
    models::Settings settings;
    settings.pins = {{PinKind::Checkpoint, value(model, "v.r0")},
                     {PinKind::Cut, value(model, "v.r0"), value(model, "v.s1")},
                     {PinKind::HopStage, value(model, "v.s1"), {}, plan::StageId(3)}};
    settings.stages = 3;
    fixture.document.setSettings(settings);
    auto* table = part<QTableView>(*panel, "pins");
    QVERIFY(table->isVisible());
    QCOMPARE(table->model()->rowCount(), 3);
    QVERIFY(text(*panel, "stagesAllowed").contains("3 stages"));
    QVERIFY(part<QToolButton>(*panel, "fewestStages")->isVisible());
    const QAbstractItemModelTester tester(table->model());
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(table->model()->index(0, 0)).center());
    QCOMPARE(fixture.selection.current(), Target::value(fixture.document.model()->findValue("v.r0")));
    fixture.document.setSettings({});
    QVERIFY(!table->isVisible());
}

void TestPins::rulesAreNamedByTheirNames()
{
    QCOMPARE(models::strategyLabel(base::Strategy::Depth), QStringLiteral("depth rule"));
    QCOMPARE(models::strategyLabel(base::Strategy::SourceRule), QStringLiteral("source rule"));
    QCOMPARE(models::strategyLabel(base::Strategy::LocalSearch), QStringLiteral("optimum"));
}

void TestPins::decisionsAreSaidInALine()
{
    const protocol::ModelRecord model = drawn::twoLayers();
    const models::ExplanationPtr why = explanation(model);
    QCOMPARE(decisionLine(*why, value(model, "v.r0")),
             QString("Stored: costs 1.2 ms; the best plan found with the opposite decision costs 5.4 ms more."));
    const QString again = decisionLine(*why, value(model, "v.s0"));
    QVERIFY2(again.startsWith("Recomputed in stages 1, 2: costs 1.0 ms; every plan with this number of stages"),
             qPrintable(again));
    QVERIFY(decisionLine(*why, value(model, "v.x")).isEmpty());
    QVERIFY(comparisonLine(*why, why->against[0]).startsWith("The depth rule costs 6.0 ms, this plan 5.0 ms."));
    QVERIFY(comparisonLine(*why, why->against[1]).contains("the same decisions for all values"));
}

void TestPins::tablesOfAnExplanationSurviveBeingReplaced()
{
    const protocol::ModelRecord model = drawn::twoLayers();
    models::DecisionModel decisions;
    models::DifferenceModel differences;
    const QAbstractItemModelTester first(&decisions), second(&differences);
    for (int round = 0; round < 2; ++round) {
        decisions.setRows(models::decisionRows(model, *explanation(model)));
        differences.setRows(models::differenceRows(model, explanation(model)->against[0], base::Unit::Seconds));
        QCOMPARE(decisions.index(0, 1).data().toString(), QString("stored"));  // what saves most is first
        QCOMPARE(decisions.index(1, 3).data().toString(), QString("required"));
        QCOMPARE(differences.index(0, 1).data().toString(), QString::fromUtf8("1.2 ms\n–"));
        QCOMPARE(differences.index(0, 4).data().toString(), QString("1\n1, 2"));
    }
    decisions.setRows({});
    QCOMPARE(models::stageList({plan::StageId(1), plan::StageId(3), plan::StageId(4), plan::StageId(5)}),
             QString::fromUtf8("1, 3–5"));
}

void TestPins::whyShowsDecisionsAndDifferences()
{
    OpenFixture fixture;
    fixture.document.setExplained({explanation(*fixture.document.model()), {}});
    const auto panel = fixture.show(makeWhy, {340, 700});
    auto* decisions = part<QTableView>(*panel, "decisions");
    auto* differences = part<QTableView>(*panel, "differences");
    QVERIFY(decisions->isVisible() && differences->isVisible());
    decisions->selectRow(0);
    QCOMPARE(fixture.selection.current(), Target::value(fixture.document.model()->findValue("v.r0")));
    QVERIFY(differences->selectionModel()->hasSelection());
    auto* rule = part<QComboBox>(*panel, "whyRule");
    rule->setCurrentIndex(1);
    emit rule->activated(1);
    QVERIFY(!differences->isVisible());
    QVERIFY(text(*panel, "comparisonText").contains("the same decisions for all values"));
    fixture.document.setPlan(fixture.document.plan());
    QVERIFY(!decisions->isVisible());
    QVERIFY(text(*panel, "whyState").startsWith("Evaluating"));
}

void TestPins::whySaysWhatIsMissing()
{
    Fixture fixture;
    const auto panel = fixture.show(makeWhy, {340, 300});
    QCOMPARE(text(*panel, "whyState"), QString("No plan"));
    fixture.open();
    fixture.document.setExplained({nullptr, "it is a loaded plan"});
    QCOMPARE(text(*panel, "whyState"), QString("it is a loaded plan"));
}

void TestPins::theInspectorSaysWhatAValueSaves()
{
    OpenFixture fixture;
    const auto panel = fixture.show(makeInspector, {340, 700});
    fixture.selection.select(Target::op(fixture.op("r0")));
    QVERIFY(!part<QLabel>(*panel, "decisionText")->isVisible());
    fixture.document.setExplained({explanation(*fixture.document.model()), {}});
    QCOMPARE(text(*panel, "decisionText"),
             QString("Stored: costs 1.2 ms; the best plan found with the opposite decision costs 5.4 ms more."));
    QVERIFY(part<QLabel>(*panel, "decisionText")->isVisible());
}

void TestPins::theInspectorsMenuHasEveryPin()
{
    OpenFixture fixture;
    const auto panel = fixture.show(makeInspector, {340, 700});
    fixture.selection.select(Target::op(fixture.op("s0")));
    auto* more = part<QPushButton>(*panel, "morePins");
    QVERIFY(more->isVisible());
    more->click();
    auto* menu = part<QMenu>(*panel, "pinMenu");
    for (const char* name : {"pin.checkpoint", "pin.no_recompute", "pin.hop_stage.1", "pin.release"})
        QVERIFY2(menu->findChild<QAction*>(QLatin1String(name)), name);
    menu->close();
    fixture.selection.select(Target::op(fixture.op("src")));
    QVERIFY(!more->isVisible());
}

HOPSCOPE_QT_SUITE(pins, TestPins)
#include "test_pins.moc"
