// Tensors in the window, and runs that stop at breakpoints, by real events, with recorded answers of the engine.

#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "bed.h"
#include "checks.h"
#include "models/run_log.h"
#include "study/debugger/breakpoint_panel.h"
#include "study/tensors/tensor_panel.h"
#include "support/qt_suites.h"

using namespace hopscope;
using bed::Bed;
using bed::child;

class TestTensors : public QObject {
    Q_OBJECT
private slots:
    void theSelectedValueIsShown();
    void inputsHaveTensorsAsWell();
    void rowsOfNodesAndBatchesAreChosen();
    void whatIsMissingIsSaid();
    void cellsAreCopiedWithTheirRows();
    void aRowIsGoneTo();
    void anotherModelHasNoTensor();
    void theInspectorAndTheGraphOfferIt();
    void aRunStopsAndShowsItsResult();
    void operatorsAreSteppedThrough();
    void breakpointsChangeWhileARunStands();
    void aPlainRunDoesNotStepThroughOperators();
    void conditionsAreEdited();
    void nothingIsClippedWithATensor();

private:
    static study::TensorPanel& panelOf(Bed& bed)
    {
        return *static_cast<study::TensorPanel*>(bed.window->docks().dock("tensor")->widget());
    }
    static void select(Bed& bed, const char* op)
    {
        bed.window->selection().select(models::Target::op(bed.window->document().model()->findOp(op)));
    }
    static bool show(Bed& bed, const char* op)
    {
        select(bed, op);
        QSignalSpy finished(&panelOf(bed), &study::TensorPanel::finished);
        bed.window->actionBook().find("explain.tensor")->trigger();
        return (finished.size() > 0 || finished.wait(60'000)) && panelOf(bed).tensor();
    }
    static QString said(Bed& bed, const char* label) { return child<QLabel>(*bed.window, label)->text(); }
    static QString cell(Bed& bed, int row, int column)
    {
        const auto* table = child<QTableView>(*bed.window, "tensorTable");
        return table->model()->index(row, column).data().toString();
    }
    static QString rowName(Bed& bed, int row)
    {
        return child<QTableView>(*bed.window, "tensorTable")->model()->headerData(row, Qt::Vertical).toString();
    }
    static bool stands(Bed& bed)
    {
        const auto& log = bed.window->document().runLog();
        return log && log->stop() && panelOf(bed).tensor() &&
               ir::opName(panelOf(bed).tensor()->place.op) == log->stop()->op;
    }
};

void TestTensors::theSelectedValueIsShown()
{
    Bed bed;
    QVERIFY(bed.open("chain3-nan.pt"));
    QVERIFY(show(bed, "op1"));  // logarithms of 0.001 less than the numbers of x
    QVERIFY(bed.window->docks().dock("tensor")->isVisible());
    QCOMPARE(said(bed, "tensorFacts"),
             QString("float32 · 10,000 × 4 · rows of node in the frontier · stage 1, all batches"));
    QVERIFY(said(bed, "tensorNumbers").contains("10 NaN · 10 infinite"));
    QTRY_COMPARE(cell(bed, 4, 2), QString("0.69465"));
    QCOMPARE(cell(bed, 0, 0), QString("NaN"));
    QCOMPARE(cell(bed, 1, 0), QString("\u2212∞"));
    QCOMPARE(rowName(bed, 4), QString("4"));
    auto* table = child<QTableView>(*bed.window, "tensorTable");
    QCOMPARE(table->model()->rowCount(), 10'000);
    table->setFocus();
    QTest::keyClick(table, Qt::Key_End, Qt::ControlModifier);
    QTRY_COMPARE(cell(bed, 9999, 3), QString("1.3858"));
    QCOMPARE(cell(bed, 5000, 0), QString("…"));
}

void TestTensors::inputsHaveTensorsAsWell()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    QVERIFY(show(bed, "input.edge_index"));
    QCOMPARE(said(bed, "tensorFacts"), QString("int64 · 2 × 30,000 · rows of edge_index · input"));
    QTRY_COMPARE(rowName(bed, 5), QString("5: 2 → 1"));
    QCOMPARE(cell(bed, 5, 1), QString("1"));
}

void TestTensors::rowsOfNodesAndBatchesAreChosen()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt") && bed.setBatches());
    bed.window->docks().setPerspective("explain");
    bed.window->docks().bring("tensor");
    select(bed, "op6");
    auto* rows = child<QComboBox>(*bed.window, "tensorRows");
    auto* nodes = child<QLineEdit>(*bed.window, "tensorNodes");
    QVERIFY(!nodes->isVisible());
    rows->setCurrentIndex(1);
    QVERIFY(nodes->isVisible());
    QSignalSpy finished(&panelOf(bed), &study::TensorPanel::finished);
    nodes->setFocus();
    QTest::keyClicks(nodes, "17, 3");
    QTest::keyClick(nodes, Qt::Key_Return);
    QVERIFY(finished.wait(60'000));
    QTRY_COMPARE(rowName(bed, 1), QString("17"));
    auto* row = child<QLineEdit>(*bed.window, "tensorRow");
    row->setText("17");
    QTest::keyClick(row, Qt::Key_Return);
    QCOMPARE(child<QTableView>(*bed.window, "tensorTable")->currentIndex().row(), 1);
    panelOf(bed).choose(study::RowChoice::Batch, "2345");
    panelOf(bed).start();
    QVERIFY(finished.wait(60'000));
    QVERIFY(said(bed, "tensorFacts").contains("batch 3: destinations 2000 to 2999"));
    QTRY_COMPARE(rowName(bed, 0), QString("2000"));
}

void TestTensors::whatIsMissingIsSaid()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {}));
    bed.window->docks().bring("tensor");
    QVERIFY(said(bed, "tensorState").contains("with its graph"));
    bed.window->closeFile();
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    bed.window->docks().bring("tensor");
    QVERIFY(said(bed, "tensorState").contains("Select an operator"));
    QVERIFY(!child<QPushButton>(*bed.window, "tensorStart")->isEnabled());
    select(bed, "op6");
    QVERIFY(child<QPushButton>(*bed.window, "tensorStart")->isEnabled());
    panelOf(bed).choose(study::RowChoice::Nodes, "three");
    QVERIFY(said(bed, "tensorState").contains("row numbers"));
    panelOf(bed).choose(study::RowChoice::Batch, "1, 2");
    QVERIFY(said(bed, "tensorState").contains("a node"));
}

void TestTensors::cellsAreCopiedWithTheirRows()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    QVERIFY(show(bed, "op6"));
    QTRY_COMPARE(cell(bed, 9, 0), QString("0.27267"));
    auto* table = child<QTableView>(*bed.window, "tensorTable");
    QTest::mouseClick(child<QPushButton>(*bed.window, "tensorCopy"), Qt::LeftButton);
    QVERIFY(said(bed, "tensorState").contains("Select cells"));
    table->setFocus();
    table->setCurrentIndex(table->model()->index(8, 0));
    QTest::keyClick(table, Qt::Key_Right, Qt::ShiftModifier);
    QTest::keyClick(table, Qt::Key_Down, Qt::ShiftModifier);
    QTest::keyClick(table, Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QGuiApplication::clipboard()->text(),
             QString("8\t0.272640377\t0.0570391752\n9\t0.27266854\t0.0571761131\n"));
    QTest::keyClick(table, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClick(table, Qt::Key_C, Qt::ControlModifier);
    QVERIFY(said(bed, "tensorState").contains("loaded so far"));
}

void TestTensors::aRowIsGoneTo()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    QVERIFY(show(bed, "op6"));
    auto* row = child<QLineEdit>(*bed.window, "tensorRow");
    row->setFocus();
    QTest::keyClicks(row, "7654");
    QTest::keyClick(row, Qt::Key_Return);
    auto* table = child<QTableView>(*bed.window, "tensorTable");
    QCOMPARE(table->currentIndex().row(), 7654);
    QTRY_COMPARE(rowName(bed, 7654), QString("7654"));
    row->setText("10000");
    QTest::keyClick(row, Qt::Key_Return);
    QVERIFY(said(bed, "tensorState").contains("no such row"));
    panelOf(bed).saveTo("made-up.npy");
    QTRY_COMPARE(said(bed, "tensorState"), QString("Written to made-up.npy."));
}

void TestTensors::anotherModelHasNoTensor()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    QVERIFY(show(bed, "op6"));
    QVERIFY(bed.open("chain4.pt", {"graph.safetensors"}));
    QVERIFY(!panelOf(bed).tensor());
    QVERIFY(!child<QTableView>(*bed.window, "tensorTable")->isVisible());
}

void TestTensors::theInspectorAndTheGraphOfferIt()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    select(bed, "op6");
    QSignalSpy finished(&panelOf(bed), &study::TensorPanel::finished);
    auto* button = child<QPushButton>(*bed.window, "showTensor");
    QTRY_VERIFY(button->isVisible());
    QTest::mouseClick(button, Qt::LeftButton);
    QVERIFY(finished.wait(60'000));
    QCOMPARE(panelOf(bed).tensor()->place.op, ir::OpId(6));
    select(bed, "op0");
    bed::view(bed).setFocus();
    QTest::keyClick(&bed::view(bed), Qt::Key_T);
    QVERIFY(finished.wait(60'000));
    QCOMPARE(panelOf(bed).tensor()->place.op, ir::OpId(0));
}

void TestTensors::aRunStopsAndShowsItsResult()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt") && bed.setBatches());
    select(bed, "op5");
    QTest::keyClick(bed.window.get(), Qt::Key_F7);
    bed.window->selection().clear();
    bed.window->workbench().startRun();
    QTRY_VERIFY(stands(bed));
    QCOMPARE(bed.window->selection().current(), models::Target::op(bed.window->document().model()->findOp("op5")));
    QVERIFY(said(bed, "tensorFacts").contains("batch 1: destinations 0 to 999"));
    QTRY_COMPARE(rowName(bed, 5), QString("5"));
    QVERIFY(said(bed, "breakState").contains("Stopped after"));
    QTest::keyClick(bed.window.get(), Qt::Key_F8);  // to the next batch
    QTRY_VERIFY(stands(bed) && bed.window->document().runLog()->stop()->batch == 2);
    QTRY_VERIFY(said(bed, "tensorFacts").contains("destinations 1000 to 1999"));
    bed.window->actionBook().find("run.clearBreakpoints")->trigger();
    QSignalSpy ended(&bed.window->workbench(), &jobs::Workbench::runFinished);
    QTest::keyClick(bed.window.get(), Qt::Key_F8);
    QVERIFY(ended.wait(60'000));
    QCOMPARE(bed.window->document().runs().size(), std::size_t{1});
}

void TestTensors::operatorsAreSteppedThrough()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    bed.window->docks().bring("breakpoints");
    QTest::keyClick(bed.window.get(), Qt::Key_F10, Qt::ControlModifier);
    QTRY_VERIFY(stands(bed));
    QCOMPARE(bed.window->document().runLog()->stop()->op, std::string("op0"));
    QVERIFY(said(bed, "breakState").contains("Stepped to"));
    bed.window->docks().bring("breakpoints");
    QTest::mouseClick(child<QPushButton>(*bed.window, "breakStepOperator"), Qt::LeftButton);
    QTRY_VERIFY(stands(bed) && bed.window->document().runLog()->stop()->op == "op2");
    bed.window->workbench().stopRun();
    QTRY_VERIFY(!bed.window->workbench().running());
    QVERIFY(!said(bed, "breakState").contains("Stepped to"));
}

void TestTensors::breakpointsChangeWhileARunStands()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    select(bed, "op0");
    QTest::keyClick(bed.window.get(), Qt::Key_F7);
    bed.window->workbench().startRun();
    QTRY_VERIFY(stands(bed));
    QTest::keyClick(bed.window.get(), Qt::Key_F7);  // it is selected: away with it
    select(bed, "op11");
    QTest::keyClick(bed.window.get(), Qt::Key_F7);
    QTest::keyClick(bed.window.get(), Qt::Key_F8);
    QTRY_VERIFY(stands(bed) && bed.window->document().runLog()->stop()->op == "op11");
    QCOMPARE(bed.window->document().runLog()->stop()->stage, protocol::StageId(2));
}

void TestTensors::aPlainRunDoesNotStepThroughOperators()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    QSignalSpy failed(&bed.window->workbench(), &jobs::Workbench::failed);
    bed.window->workbench().startRun(true);
    QTRY_VERIFY(bed.window->document().runLog()->state() == protocol::RunState::Paused);
    bed.window->workbench().step(protocol::RunStep::Operator);
    QCOMPARE(failed.size(), 1);
    QVERIFY(failed.front().at(1).toString().contains("without breakpoints"));
}

void TestTensors::conditionsAreEdited()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt") && bed.setBatches());
    bed.window->docks().bring("breakpoints");
    select(bed, "op5");
    QTest::mouseClick(child<QPushButton>(*bed.window, "breakAdd"), Qt::LeftButton);
    auto* condition = child<QComboBox>(*bed.window, "breakCondition");
    condition->setCurrentIndex(3);
    auto* node = child<QLineEdit>(*bed.window, "breakNode");
    QVERIFY(node->isVisible());
    node->setFocus();
    node->selectAll();
    QTest::keyClicks(node, "4321");
    QTest::keyClick(node, Qt::Key_Return);
    QCOMPARE(bed.window->document().settings().breakpoints.front().node, 4321);
    QVERIFY(child<QListWidget>(*bed.window, "breakList")->item(0)->text().contains("batch of node 4321"));
    bed.window->workbench().startRun();
    QTRY_VERIFY(stands(bed) && bed.window->document().runLog()->stop()->batch == 5);
    bed.window->docks().bring("breakpoints");
    QTest::mouseClick(child<QPushButton>(*bed.window, "breakRemove"), Qt::LeftButton);
    QVERIFY(bed.window->document().settings().breakpoints.empty());
    QVERIFY(!condition->isVisible());
}

void TestTensors::nothingIsClippedWithATensor()
{
    Bed bed;
    bed.window->resize(1280, 800);
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    bed.window->docks().setPerspective("explain");
    select(bed, "op5");
    QTest::keyClick(bed.window.get(), Qt::Key_F7);
    QStringList found;
    const auto look = [&](const char* dock) {
        bed.window->docks().bring(dock);
        found += checks::lasting([&] {
            return checks::clippedTexts(*bed.window) + checks::overlaps(*bed.window) +
                   checks::unnamedWidgets(*bed.window) + checks::paleTexts(*bed.window, bed.window->grab().toImage());
        });
    };
    look("tensor");
    look("breakpoints");
    bed.window->workbench().startRun();
    QTRY_VERIFY(stands(bed));
    look("breakpoints");
    look("tensor");
    QVERIFY2(found.isEmpty(), qPrintable(found.join('\n')));
}

HOPSCOPE_QT_SUITE(window_tensor, TestTensors)
#include "window/test_tensor.moc"
