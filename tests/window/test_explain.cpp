// Receptive fields and the debugger in the window, by real events, with recorded answers of the engine.

#include <QComboBox>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>
#include <QTest>

#include "bed.h"
#include "checks.h"
#include "open_dialog.h"
#include "study/debugger/debug_panel.h"
#include "study/receptive/receptive_panel.h"
#include "support/qt_suites.h"

using namespace hopscope;
using bed::Bed;
using bed::child;

class TestExplain : public QObject {
    Q_OBJECT
private slots:
    void theFieldIsAskedForOnlyWhereItIsSeen();
    void aNodeIsChosenByItsNumber();
    void randomNodesDiffer();
    void aRoundIsChosenInTheTable();
    void withoutDataThePanelSaysWhatIsMissing();
    void aSoundPlanHasNoDivergence();
    void twoModelsPartAndTheOperatorIsSelected();
    void whatIsNoModelIsRefusedInWords();
    void aComparisonIsCancelled();
    void makersOfNaNAreFound();
    void rowsAndMessagesOfNodesAreShown();
    void aComparisonColoursTheGraph();
    void everyHuntIsInTheMenu();
    void theOtherModelIsChosenAmongTheSameFiles();
    void nothingIsClippedWithFindings();

private:
    static study::Debugger& debuggerOf(Bed& bed)
    {
        return *static_cast<study::Debugger*>(bed.window->docks().dock("debugger")->widget());
    }
    static bool look(Bed& bed, study::Hunt hunt)
    {
        study::Debugger& debugger = debuggerOf(bed);
        bed.window->docks().bring("debugger");
        debugger.prepare(hunt);
        QSignalSpy finished(&debugger, &study::Debugger::finished);
        QTest::mouseClick(child<QPushButton>(*bed.window, "debugStart"), Qt::LeftButton);
        return finished.size() > 0 || finished.wait(60'000);
    }
    static QString said(Bed& bed, const char* label) { return child<QLabel>(*bed.window, label)->text(); }
};

void TestExplain::theFieldIsAskedForOnlyWhereItIsSeen()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    auto* receptive = static_cast<study::Receptive*>(bed.window->docks().dock("receptive")->widget());
    QTest::qWait(100);
    QVERIFY(receptive->field() == nullptr);
    QTest::keyClick(bed.window.get(), Qt::Key_4, Qt::ControlModifier);
    QCOMPARE(bed.window->docks().perspective(), QString("explain"));
    QTRY_VERIFY(receptive->field() != nullptr);
    QTRY_VERIFY(!receptive->busy());
    QVERIFY(said(bed, "fieldMeaning").contains("7 of 10,000 input rows"));
    QVERIFY(said(bed, "fieldAverages").contains("exact: computed for all 10,000 nodes"));
    bed.window->closeFile();
    QTRY_VERIFY(receptive->field() == nullptr);
}

void TestExplain::aNodeIsChosenByItsNumber()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    QTest::keyClick(bed.window.get(), Qt::Key_R, Qt::ControlModifier);
    auto* receptive = static_cast<study::Receptive*>(bed.window->docks().dock("receptive")->widget());
    QTRY_VERIFY(receptive->field() != nullptr);
    auto* node = child<QSpinBox>(*bed.window, "fieldNode");
    node->setFocus();
    node->selectAll();
    QTest::keyClicks(node, "17");
    QTest::keyClick(node, Qt::Key_Return);
    QTRY_COMPARE(receptive->field()->node, 17);
    QVERIFY(child<QPlainTextEdit>(*bed.window, "fieldNumbers")->toPlainText().contains("17"));
    QCOMPARE(node->maximum(), 9999);
}

void TestExplain::randomNodesDiffer()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    bed.window->docks().bring("receptive");
    auto* receptive = static_cast<study::Receptive*>(bed.window->docks().dock("receptive")->widget());
    QTRY_VERIFY(receptive->field() != nullptr);
    const auto before = receptive->field()->node;
    QTest::mouseClick(child<QPushButton>(*bed.window, "fieldRandom"), Qt::LeftButton);
    QTRY_VERIFY(receptive->field()->node != before);
}

void TestExplain::aRoundIsChosenInTheTable()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    bed.window->docks().setPerspective("explain");
    auto* flow = child<study::FieldFlow>(*bed.window, "fieldFlow");
    auto* table = child<QTableView>(*bed.window, "fieldRounds");
    QTRY_COMPARE(table->model()->rowCount(), 4);
    table->setFocus();
    QTest::keyClick(table, Qt::Key_Down);
    QTRY_COMPARE(flow->chosen(), 1);
    QTest::keyClick(flow, Qt::Key_Down);
    QTest::keyClick(flow, Qt::Key_Down);
    QCOMPARE(table->currentIndex().row(), 3);
    QCOMPARE(said(bed, "fieldLevel"), QString("Rows of input, by numbers in the data"));
}

void TestExplain::withoutDataThePanelSaysWhatIsMissing()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {}));
    bed.window->docks().setPerspective("explain");
    QVERIFY(said(bed, "fieldState").contains("with its graph"));
    QVERIFY(!child<QPushButton>(*bed.window, "fieldRandom")->isEnabled());
    bed.window->docks().bring("debugger");
    QVERIFY(said(bed, "debugState").contains("with its graph"));
    QVERIFY(!child<QPushButton>(*bed.window, "debugStart")->isEnabled());
}

void TestExplain::aSoundPlanHasNoDivergence()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    QVERIFY(look(bed, study::Hunt::Staged));
    QVERIFY2(said(bed, "debugSentences").contains("No difference"), qPrintable(said(bed, "debugState")));
    QVERIFY(child<study::GrowthPlot>(*bed.window, "growthPlot")->isVisible());
    QVERIFY(!child<QTableView>(*bed.window, "debugFindings")->isVisible());
}

void TestExplain::twoModelsPartAndTheOperatorIsSelected()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    bed.window->docks().reveal("debugger");
    debuggerOf(bed).prepare(study::Hunt::Against);
    QVERIFY(!child<QPushButton>(*bed.window, "debugStart")->isEnabled());
    auto* other = child<QLineEdit>(*bed.window, "debugOther");
    other->setFocus();
    QTest::keyClicks(other, "changed.pt");
    QSignalSpy finished(&debuggerOf(bed), &study::Debugger::finished);
    QTest::keyClick(other, Qt::Key_Return);
    QVERIFY(finished.wait(60'000));
    const models::Document& document = bed.window->document();
    QCOMPARE(bed.window->selection().current(), models::Target::op(document.model()->findOp("op0")));
    auto* table = child<QTableView>(*bed.window, "debugFindings");
    QCOMPARE(table->model()->rowCount(), 20);
    QVERIFY(said(bed, "debugSentences").contains("Different weights"));
    bed.window->selection().clear();
    table->setFocus();
    QTest::keyClick(table, Qt::Key_Down);
    QCOMPARE(bed.window->selection().current(), models::Target::op(document.model()->findOp("op0")));
    auto* plot = child<study::GrowthPlot>(*bed.window, "growthPlot");
    QTest::mouseClick(plot, Qt::LeftButton, {}, plot->placeOf(4).toPoint());
    QCOMPARE(bed.window->selection().current(), models::Target::op(document.model()->findOp("op6")));
}

void TestExplain::whatIsNoModelIsRefusedInWords()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    debuggerOf(bed).setOther("bad.pt");
    QVERIFY(look(bed, study::Hunt::Against));
    QVERIFY(said(bed, "debugState").startsWith("bad.pt is a text file, not a TorchScript archive. Save the model"));
    QVERIFY(!child<QLabel>(*bed.window, "debugSentences")->isVisible());
    child<QLineEdit>(*bed.window, "debugAbsolute")->setText("much");
    QVERIFY(!child<QPushButton>(*bed.window, "debugStart")->isEnabled());
}

void TestExplain::aComparisonIsCancelled()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    bed.window->docks().bring("debugger");
    study::Debugger& debugger = debuggerOf(bed);
    debugger.prepare(study::Hunt::Against);
    debugger.setOther("slow.pt");
    debugger.start();
    auto* cancel = child<QPushButton>(*bed.window, "debugCancel");
    QTRY_VERIFY(cancel->isVisible());
    QTest::mouseClick(cancel, Qt::LeftButton);
    QVERIFY(!debugger.busy());
    QSignalSpy finished(&debugger, &study::Debugger::finished);
    QTest::qWait(1200);  // the answer comes all the same, and is dropped
    QCOMPARE(finished.size(), 0);
    QCOMPARE(said(bed, "debugState"), QString("Cancelled."));
}

void TestExplain::makersOfNaNAreFound()
{
    Bed bed;
    QVERIFY(bed.open("chain3-nan.pt"));
    QSignalSpy finished(&debuggerOf(bed), &study::Debugger::finished);
    bed.window->actionBook().find("explain.nan")->trigger();
    QVERIFY(finished.wait(60'000));
    QCOMPARE(bed.window->selection().current(), models::Target::op(bed.window->document().model()->findOp("op1")));
    QCOMPARE(child<QTableView>(*bed.window, "debugFindings")->model()->index(0, 4).data().toString(), QString("1"));
    QVERIFY(!child<study::GrowthPlot>(*bed.window, "growthPlot")->isVisible());
}

void TestExplain::rowsAndMessagesOfNodesAreShown()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    bed.window->docks().bring("debugger");
    debuggerOf(bed).prepare(study::Hunt::Rows);
    QVERIFY(said(bed, "debugState").contains("Select an operator"));
    const protocol::ModelRecord& model = *bed.window->document().model();
    bed.window->selection().select(models::Target::op(model.findOp("op0")));
    QVERIFY(said(bed, "debugState").contains("row numbers"));
    QTest::keyClicks(child<QLineEdit>(*bed.window, "debugNodes"), "3, 17");
    QVERIFY(look(bed, study::Hunt::Rows));
    auto* table = child<QTableView>(*bed.window, "debugFindings");
    QCOMPARE(table->model()->index(1, 0).data().toString(), QString("17"));
    QCOMPARE(table->model()->index(1, 2).data().toString(), QString("0.0243672"));
    debuggerOf(bed).prepare(study::Hunt::Messages);
    QVERIFY(said(bed, "debugState").contains("Select an aggregation"));
    bed.window->selection().select(models::Target::op(model.findOp("op5")));
    QVERIFY(look(bed, study::Hunt::Messages));
    QCOMPARE(table->model()->rowCount(), 6);
    QVERIFY(said(bed, "debugSentences").contains("Node 17 receives 3 messages"));
}

void TestExplain::aComparisonColoursTheGraph()
{
    using graphview::ColourMode;
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    auto& graph = bed.window->graph();
    auto* action = graph.findChild<QAction*>("graphColour_error");
    QVERIFY(action && !action->isEnabled());
    QVERIFY(action->toolTip().contains("Debugger"));
    debuggerOf(bed).setOther("changed.pt");
    QVERIFY(look(bed, study::Hunt::Against));
    QVERIFY(action->isEnabled());
    action->trigger();
    QCOMPARE(graph.colourMode(), ColourMode::Error);
    const auto& legend = child<QWidget>(graph, "graphLegend")->accessibleDescription();
    QVERIFY2(legend.contains("Largest difference: chain3.pt, changed.pt"), qPrintable(legend));
    QVERIFY(bed.run());  // its verification is newer
    QVERIFY(child<QWidget>(graph, "graphLegend")->accessibleDescription().contains("Maximum error"));
    QVERIFY(look(bed, study::Hunt::Staged));
    QVERIFY(child<QWidget>(graph, "graphLegend")->accessibleDescription().contains("staged, unsplit"));
    QVERIFY(bed.open("chain4.pt", {"graph.safetensors"}));
    QVERIFY(!action->isEnabled());
    QCOMPARE(graph.colourMode(), ColourMode::Depth);
}

void TestExplain::everyHuntIsInTheMenu()
{
    Bed bed;
    for (const char* name : {"explain.receptive", "explain.debugger", "explain.rules", "explain.divergence",
                             "explain.against", "explain.nan", "explain.rows", "explain.messages"})
        QVERIFY2(!bed.window->actionBook().find(QLatin1String(name))->isEnabled(), name);
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    QTest::keyClick(bed.window.get(), Qt::Key_D, Qt::ControlModifier);
    QVERIFY(bed.window->docks().dock("debugger")->isVisible());
    bed.window->actionBook().find("explain.messages")->trigger();
    QCOMPARE(child<QComboBox>(*bed.window, "debugWhat")->currentText(),
             QString("Messages into nodes at the selected aggregation"));
}

void TestExplain::theOtherModelIsChosenAmongTheSameFiles()
{
    Bed bed;
    emit debuggerOf(bed).otherModelWanted();
    auto* files = bed.window->findChild<QFileDialog*>("fileDialog");
    QTRY_VERIFY(files && files->isVisible());
    QCOMPARE(files->nameFilters().value(0), window::modelFilter());
    QMetaObject::invokeMethod(files, "reject");
}

void TestExplain::nothingIsClippedWithFindings()
{
    Bed bed;
    bed.window->resize(1280, 800);
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    bed.window->docks().setPerspective("explain");
    debuggerOf(bed).setOther("changed.pt");
    QTRY_VERIFY(!static_cast<study::Receptive*>(bed.window->docks().dock("receptive")->widget())->busy());
    QStringList found = checks::clippedTexts(*bed.window) + checks::overlaps(*bed.window);
    QVERIFY(look(bed, study::Hunt::Against));
    found += checks::lasting([&] {
        return checks::clippedTexts(*bed.window) + checks::overlaps(*bed.window) + checks::unnamedWidgets(*bed.window) +
               checks::paleTexts(*bed.window, bed.window->grab().toImage());
    });
    QVERIFY2(found.isEmpty(), qPrintable(found.join('\n')));
}

HOPSCOPE_QT_SUITE(window_explain, TestExplain)
#include "test_explain.moc"
