// Pins, previews, ways out, reasons and rates in the window, with real events and recorded answers.

#include <QComboBox>
#include <QContextMenuEvent>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTableWidget>
#include <QTest>
#include <QToolButton>

#include "bed.h"
#include "checks.h"
#include "graphview/view/graph_view.h"
#include "panels/machine_dialog.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::window;
using bed::Bed;
using bed::child;

namespace {

// All operators of the model, each as a node of its own.
bool openUnfolded(Bed& bed)
{
    if (!bed.open("chain3.pt")) return false;
    bed.window->actionBook().find("graphExpandAll")->trigger();
    return bed::waitFor([&] { return bed.window->graph().layoutReady(); });
}

QPoint placeOf(Bed& bed, const char* op)
{
    const graphview::Scene& scene = *view(bed).scene();
    const int node = scene.graph->nodeOf[bed.window->document().model()->findOp(op).at()];
    return view(bed).camera().toScreen(scene.nodes[static_cast<std::size_t>(node)].center()).toPoint();
}

QMenu* menuAt(Bed& bed, QPoint at)
{
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, view(bed).mapToGlobal(at));
    QApplication::sendEvent(&view(bed), &event);
    return child<QMenu>(bed.window->graph(), "graphMenu");
}

bool idle(Bed& bed)
{
    return bed::waitFor([&] { return !bed.window->workbench().busy() && bed.window->graph().layoutReady(); });
}

std::vector<protocol::StageId> stagesOf(Bed& bed, const char* op)
{
    return bed.window->document().plan()->stagesOf(bed.window->document().model()->findOp(op));
}

QPushButton* bannerButton(Bed& bed, const QString& text)
{
    return bed.window->findChild<QPushButton*>(QStringLiteral("banner.") + text);
}

panels::MachineDialog* machine(Bed& bed) { return bed.window->findChild<panels::MachineDialog*>(); }

}  // namespace

class TestPlans : public QObject {
    Q_OBJECT
private slots:
    void aHopIsMovedToAnotherStageByItsMenu();
    void aStageThatIsMissingIsAddedByTheBanner();
    void aDragShowsItsPreviewAndTheDropKeepsIt();
    void escapeBringsThePlanBack();
    void theReasonsFollowThePlan();
    void theMachineIsMeasuredAndForgotten();
    void measuringIsGivenUp();
    void nothingIsClipped_data();
    void nothingIsClipped();
};

void TestPlans::aHopIsMovedToAnotherStageByItsMenu()
{
    Bed bed;
    QVERIFY(openUnfolded(bed));
    bed.window->workbench().setStrategy(base::Strategy::Depth);
    QVERIFY(idle(bed));
    QMenu* menu = menuAt(bed, placeOf(bed, "op8"));
    QVERIFY(menu);
    auto* third = child<QAction>(*menu, "pin.hop_stage.3");
    QVERIFY(third && third->isEnabled());
    third->trigger();
    menu->close();
    QVERIFY(idle(bed));
    QCOMPARE(stagesOf(bed, "op8"), std::vector{protocol::StageId(3)});
    QCOMPARE(bed.window->document().plan()->strategy, base::Strategy::Optimal);
    auto* pins = child<QTableView>(*bed.window, "pins");
    QTRY_VERIFY(pins->isVisible());
    QVERIFY(pins->model()->index(0, 0).data().toString().contains("in stage 3"));
    bed.window->actionBook().find("edit.undo")->trigger();
    QVERIFY(idle(bed));
    QCOMPARE(bed.window->document().plan()->strategy, base::Strategy::Depth);
    QTRY_VERIFY(!pins->isVisible());
}

void TestPlans::aStageThatIsMissingIsAddedByTheBanner()
{
    Bed bed;
    QVERIFY(openUnfolded(bed));
    bed.window->workbench().setStages(3);
    QVERIFY(idle(bed));
    QMenu* menu = menuAt(bed, placeOf(bed, "op8"));
    child<QAction>(*menu, "pin.hop_stage.3")->trigger();
    menu->close();
    QTRY_VERIFY(bannerButton(bed, "Use 4 stages"));
    QTest::mouseClick(bannerButton(bed, "Use 4 stages"), Qt::LeftButton);
    QVERIFY(idle(bed));
    QCOMPARE(stagesOf(bed, "op8"), std::vector{protocol::StageId(3)});
    QCOMPARE(bed.window->document().plan()->stages.size(), std::size_t{4});
    auto* fewest = child<QToolButton>(*bed.window, "fewestStages");
    QTRY_VERIFY(fewest->isVisible());
    QVERIFY(!bed.window->banner().sentence().contains("not possible"));
    child<QToolButton>(*bed.window, "clearPins")->click();
    fewest->click();
    QVERIFY(idle(bed));
    QCOMPARE(bed.window->document().plan()->stages.size(), std::size_t{3});
    QVERIFY(!fewest->isVisible());
}

void TestPlans::aDragShowsItsPreviewAndTheDropKeepsIt()
{
    Bed bed;
    QVERIFY(openUnfolded(bed));
    const models::Document& document = bed.window->document();
    const auto& store = view(bed).scene()->stores.front();
    const QPoint from = view(bed).camera().toScreen(store.rect.center()).toPoint();
    const QPoint to = placeOf(bed, "op7");  // the second linear map
    QTest::mousePress(&view(bed), Qt::LeftButton, {}, from);
    QTest::mouseMove(&view(bed), from + QPoint(9, 9));
    QTest::mouseMove(&view(bed), to);
    QTRY_VERIFY(document.preview().plan != nullptr);
    const models::PlanPtr seen = document.preview().plan;
    QVERIFY(!view(bed).grab().isNull());
    QTest::mouseRelease(&view(bed), Qt::LeftButton, {}, to);
    QCOMPARE(document.plan(), seen);
    QVERIFY(!document.preview().plan);
    QVERIFY(idle(bed));
    QVERIFY(document.plan()->gap.has_value());
    QVERIFY(protocol::sameCuts(*document.plan(), *seen));
}

void TestPlans::escapeBringsThePlanBack()
{
    Bed bed;
    QVERIFY(openUnfolded(bed));
    const models::Document& document = bed.window->document();
    const models::PlanPtr before = document.plan();
    const QPoint from = view(bed).camera().toScreen(view(bed).scene()->stores.front().rect.center()).toPoint();
    QTest::mousePress(&view(bed), Qt::LeftButton, {}, from);
    QTest::mouseMove(&view(bed), placeOf(bed, "op7"));
    QTRY_VERIFY(document.preview().plan != nullptr);
    QTest::keyClick(&view(bed), Qt::Key_Escape);
    QVERIFY(!document.preview().plan);
    QTest::mouseRelease(&view(bed), Qt::LeftButton, {}, placeOf(bed, "op7"));
    QVERIFY(idle(bed));
    QCOMPARE(document.plan(), before);
    QCOMPARE(bed.window->workbench().undoStack().count(), 0);
}

void TestPlans::theReasonsFollowThePlan()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    QSignalSpy explained(&bed.window->document(), &models::Document::explainedChanged);
    bed::waitFor([] { return false; }, 200);
    QCOMPARE(explained.count(), 0);  // nobody looks
    bed.window->docks().reveal("why");
    auto* decisions = child<QTableView>(*bed.window, "decisions");
    QTRY_VERIFY(decisions->isVisible() && decisions->model()->rowCount() == 2);
    decisions->selectRow(1);
    QCOMPARE(bed.window->selection().current().kind, models::Target::Kind::Value);
    bed.window->workbench().pin({base::PinKind::Checkpoint, protocol::ValueId(8)});
    QTRY_COMPARE(decisions->model()->rowCount(), 3);
}

void TestPlans::theMachineIsMeasuredAndForgotten()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    bed.window->docks().setPerspective("run");
    QTest::mouseClick(child<QToolButton>(*bed.window, "machine"), Qt::LeftButton);
    QTRY_VERIFY(machine(bed));
    QTRY_VERIFY(child<QLabel>(*machine(bed), "machineState")->text().contains("Typical"));
    QVERIFY(!child<QPushButton>(*machine(bed), "machineForget")->isEnabled());
    const auto rate = [&] { return child<QTableWidget>(*machine(bed), "machineRates")->item(0, 1)->text(); };
    const QString typical = rate();
    QVERIFY2(typical.endsWith("GiB/s"), qPrintable(typical));
    const models::PlanPtr before = bed.window->document().plan();
    QTest::mouseClick(child<QPushButton>(*machine(bed), "machineMeasure"), Qt::LeftButton);
    QVERIFY(child<QPushButton>(*machine(bed), "machineCancel")->isVisible());
    QTRY_VERIFY(child<QLabel>(*machine(bed), "machineState")->text().contains("Measured on this machine"));
    QVERIFY2(rate().endsWith("GiB/s") && rate() != typical, qPrintable(rate()));
    QTRY_VERIFY(bed.window->document().plan() != before);
    QTest::mouseClick(child<QPushButton>(*machine(bed), "machineForget"), Qt::LeftButton);
    QTRY_VERIFY(child<QLabel>(*machine(bed), "machineState")->text().contains("Typical"));
    QVERIFY(checks::clippedTexts(*machine(bed)).isEmpty());
    QTest::keyClick(machine(bed), Qt::Key_Escape);
    QTRY_VERIFY(!machine(bed));
}

void TestPlans::measuringIsGivenUp()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    bed.window->actionBook().find("run.machine")->trigger();
    auto* measure = child<QPushButton>(*machine(bed), "machineMeasure");
    QTRY_VERIFY(measure->isEnabled());
    measure->click();
    machine(bed)->close();
    QTRY_VERIFY(!machine(bed));
    QVERIFY(idle(bed));
}

void TestPlans::nothingIsClipped_data()
{
    QTest::addColumn<QSize>("size");
    QTest::addColumn<QString>("panel");
    for (const char* panel : {"plan", "why"})
        for (const QSize size : {QSize(1000, 700), QSize(1600, 1000)})
            QTest::addRow("%s, %d wide", panel, size.width()) << size << QString(panel);
}

void TestPlans::nothingIsClipped()
{
    QFETCH(QSize, size);
    QFETCH(QString, panel);
    Bed bed;
    bed.window->resize(size);
    QVERIFY(openUnfolded(bed));
    for (const plan::Pin& pin :
         std::vector<plan::Pin>{{base::PinKind::Cut, protocol::ValueId(15), protocol::ValueId(16)},
                                {base::PinKind::HopStage, protocol::ValueId(16), {}, plan::StageId(3)},
                                {base::PinKind::NoRecompute, protocol::ValueId(19)}})
        bed.window->workbench().pin(pin);
    bed.window->workbench().setStages(4);
    QVERIFY(idle(bed));
    bed.window->docks().reveal(panel);
    bed.window->selection().reveal(models::Target::op(bed.window->document().model()->findOp("op11")));
    bed::waitFor([&] { return bed.window->document().explained().explanation != nullptr; }, 2000);
    bed::waitFor([] { return false; }, 200);
    const QStringList found = checks::clippedTexts(*bed.window) + checks::overlaps(*bed.window);
    QVERIFY2(found.isEmpty(), qPrintable(found.join(u'\n')));
    QVERIFY2(bed.window->width() <= size.width(), qPrintable(QString::number(bed.window->width())));
    QVERIFY(bed.window->graph().faults().isEmpty());
}

HOPSCOPE_QT_SUITE(window_plans, TestPlans)
#include "test_plans.moc"
