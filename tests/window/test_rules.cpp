// The panel "Rules" in the window, by real events, with recorded answers of the engine.

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QTest>

#include "base/rules.h"
#include "bed.h"
#include "checks.h"
#include "graphview/view/graph_view.h"
#include "study/rules/rules_panel.h"
#include "support/qt_suites.h"

using namespace hopscope;
using bed::Bed;
using bed::child;

class TestRules : public QObject {
    Q_OBJECT
private slots:
    void theLastStepOfEachStrategyIsItsPlan();
    void buttonsStepByKeyboardAndStopAtTheEnds();
    void theGraphFollowsAndIsAloneAgain();
    void nothingIsClippedInAnyStep();

private:
    static study::Rules& rulesOf(Bed& bed)
    {
        return *static_cast<study::Rules*>(bed.window->docks().dock("rules")->widget());
    }
    static bool open(Bed& bed)
    {
        if (!bed.open("chain3.pt", {"graph.safetensors"})) return false;
        QTest::keyClick(bed.window.get(), Qt::Key_4, Qt::ControlModifier);
        QTest::keyClick(bed.window.get(), Qt::Key_U, Qt::ControlModifier);
        return bed::waitFor([&] { return rulesOf(bed).picture() != nullptr; });
    }
    static void choose(Bed& bed, int way)
    {
        auto* choice = child<QComboBox>(*bed.window, "rulesWay");
        choice->setFocus();
        QTest::keyClick(choice, Qt::Key_Home);
        for (int i = 0; i < way; ++i) QTest::keyClick(choice, Qt::Key_Down);
    }
    static void press(Bed& bed, const char* button)
    {
        QTest::keyClick(child<QPushButton>(*bed.window, button), Qt::Key_Space);
    }
    static QString said(Bed& bed, const char* label) { return child<QLabel>(*bed.window, label)->text(); }
};

void TestRules::theLastStepOfEachStrategyIsItsPlan()
{
    Bed bed;
    QVERIFY(open(bed));
    std::vector<std::pair<int, base::Strategy>> ways;
    for (const base::Strategy rule : base::rules) ways.emplace_back(static_cast<int>(ways.size()), rule);
    ways.emplace_back(static_cast<int>(ways.size()) + 1, base::Strategy::Optimal);  // after the minimum cut
    for (const auto& [way, strategy] : ways) {
        choose(bed, way);
        if (child<QPushButton>(*bed.window, "rulesLast")->isEnabled()) press(bed, "rulesLast");
        const models::PlanPtr plan = bed.window->document().reference(strategy), shown = rulesOf(bed).picture();
        QVERIFY(plan && shown);
        for (std::size_t op = 0; op < bed.window->document().model()->ops.size(); ++op)
            QCOMPARE(shown->stagesOf(protocol::OpId(op)), plan->stagesOf(protocol::OpId(op)));
        for (const protocol::PlanCheckpoint& store : plan->checkpoints)
            QCOMPARE(shown->checkpointOf(store.value) != nullptr, !store.output);
    }
}

void TestRules::buttonsStepByKeyboardAndStopAtTheEnds()
{
    Bed bed;
    QVERIFY(open(bed));
    choose(bed, 3);
    QCOMPARE(said(bed, "rulesStep"), QString("Step 1 of 4"));
    QVERIFY(!child<QPushButton>(*bed.window, "rulesBack")->isEnabled());
    press(bed, "rulesNext");
    QVERIFY2(said(bed, "rulesCaption").contains("in one that is not the stage of their depth"),
             qPrintable(said(bed, "rulesCaption")));
    QVERIFY(said(bed, "rulesMoves").contains("Stage 2"));
    press(bed, "rulesLast");
    QCOMPARE(said(bed, "rulesStep"), QString("Step 4 of 4"));
    QVERIFY(said(bed, "rulesCaption").contains("is stored"));
    QVERIFY(!child<QPushButton>(*bed.window, "rulesNext")->isEnabled());
    press(bed, "rulesBack");
    QCOMPARE(rulesOf(bed).step(), 2);
    press(bed, "rulesFirst");
    QCOMPARE(rulesOf(bed).step(), 0);
    QCOMPARE(child<QTableView>(*bed.window, "rulesTable")->model()->rowCount(),
             static_cast<int>(base::rules.size()) + 2);
    const QString way = child<QComboBox>(*bed.window, "rulesWay")->currentText();
    QVERIFY2(said(bed, "rulesValues").startsWith(way + ": these values are stored: "),
             qPrintable(said(bed, "rulesValues")));
}

void TestRules::theGraphFollowsAndIsAloneAgain()
{
    Bed bed;
    QVERIFY(open(bed));
    auto* other = child<graphview::GraphView>(*bed.window, "graphOther");
    QTRY_VERIFY(other->isVisible() && other->scene());
    QCOMPARE(said(bed, "graphOtherPlan"), QString("Depth rule, step 1 of 3, coloured by stage"));
    QVERIFY(other->scene()->stores.empty());
    press(bed, "rulesLast");
    QTRY_COMPARE(other->scene()->stores.size(), std::size_t{2});
    bed.window->docks().bring("receptive");
    QTRY_VERIFY(!other->isVisible());
    bed.window->docks().bring("rules");
    QTRY_VERIFY(other->isVisible());
    bed.window->closeFile();
    QTRY_VERIFY(!other->isVisible());
}

void TestRules::nothingIsClippedInAnyStep()
{
    Bed bed;
    bed.window->resize(1280, 800);
    QVERIFY(open(bed));
    for (int way = 0; way < 4; ++way) {
        choose(bed, way);
        for (;;) {
            const QStringList found = checks::lasting(
                [&] { return checks::clippedTexts(*bed.window) + checks::unnamedWidgets(*bed.window); });
            QVERIFY2(found.isEmpty(), qPrintable(found.join('\n')));
            if (!child<QPushButton>(*bed.window, "rulesNext")->isEnabled()) break;
            press(bed, "rulesNext");
        }
    }
}

HOPSCOPE_QT_SUITE(window_rules, TestRules)
#include "test_rules.moc"
