// What operators took in a run, by real events, with recorded answers of the engine.

#include <QClipboard>
#include <QComboBox>
#include <QFile>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QTest>
#include <QToolTip>

#include "bed.h"
#include "checks.h"
#include "jobs/player.h"
#include "models/labels.h"
#include "study/monitor/flame_view.h"
#include "study/monitor/monitor_panel.h"
#include "support/qt_suites.h"

using namespace hopscope;
using bed::Bed;
using bed::child;
using models::Target;

class TestMonitor : public QObject {
    Q_OBJECT
private slots:
    void whatIsMissingIsSaid();
    void rowsAddUpToTheRun();
    void rowsAndTheGraphSelectEachOther();
    void rowsAreFilteredSortedAndCopied();
    void framesAreReachedByKeyboard();
    void framesAnswerTheMouse();
    void anEarlierRunIsChosen();
    void aGpuTellsNoTimes();
    void anOlderReportTellsNoTimes();
    void nothingIsClippedAlongTheWay();

private:
    static QTabWidget& tabs(Bed& bed) { return *child<QTabWidget>(*bed.window, "monitorTabs"); }
    static QTableView& table(Bed& bed) { return *child<QTableView>(*bed.window, "monitorTable"); }
    static study::FlameView& flame(Bed& bed) { return *child<study::FlameView>(*bed.window, "monitorFlame"); }
    static QString said(Bed& bed) { return child<QLabel>(*bed.window, "monitorMissing0")->text(); }
    static QString cell(Bed& bed, int row, study::ProfileColumn column)
    {
        return table(bed).model()->index(row, static_cast<int>(column)).data().toString();
    }
    static void bring(Bed& bed) { QTest::keyClick(bed.window.get(), Qt::Key_I, Qt::ControlModifier); }
    static bool measured(Bed& bed)
    {
        if (!bed.open("chain3.pt", {"graph.safetensors"}) || !bed.run()) return false;
        bring(bed);
        QCoreApplication::processEvents();
        return table(bed).isVisible();
    }
    static void showFlame(Bed& bed)
    {
        auto* bar = tabs(bed).tabBar();
        QTest::mouseClick(bar, Qt::LeftButton, {}, bar->tabRect(1).center());
        QCoreApplication::processEvents();
    }
    // The row of an operator of the model, -1: none.
    static int rowOf(Bed& bed, Target target)
    {
        for (int row = 0; row < table(bed).model()->rowCount(); ++row)
            if (table(bed).model()->index(row, 0).data(models::TargetRole).value<Target>() == target) return row;
        return -1;
    }
    static protocol::OpId last(Bed& bed, protocol::NodeKind kind)
    {
        const protocol::ModelRecord& model = *bed.window->document().model();
        for (std::size_t op = model.ops.size(); op-- > 0;)
            if (model.ops[op].kind == kind) return protocol::OpId(op);
        return {};
    }
};

void TestMonitor::whatIsMissingIsSaid()
{
    Bed bed;
    bed.window->docks().bring("monitor");
    QCOMPARE(said(bed), QString("No model is open."));
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    bring(bed);
    QCOMPARE(said(bed), QString("Run the model to see the times of its operators."));
    QVERIFY(child<QLabel>(*bed.window, "monitorMissing0")->isVisible());
    QVERIFY(!table(bed).isVisible());
    QVERIFY(bed.run());
    QTRY_VERIFY(table(bed).isVisible());
    QVERIFY(!child<QLabel>(*bed.window, "monitorMissing0")->isVisible());
    QVERIFY(bed.open("chain4.pt", {"graph.safetensors"}));
    bring(bed);
    QVERIFY(!table(bed).isVisible());
    QCOMPARE(flame(bed).current(), -1);
}

void TestMonitor::rowsAddUpToTheRun()
{
    Bed bed;
    QVERIFY(measured(bed));
    double sum = 0;
    for (int row = 0; row < table(bed).model()->rowCount(); ++row)
        sum += table(bed)
                   .model()
                   ->index(row, static_cast<int>(study::ProfileColumn::Seconds))
                   .data(models::SortRole)
                   .toDouble();
    QVERIFY(std::abs(sum - bed.window->document().lastReport()->seconds) < 1e-6);
    QVERIFY(child<QLabel>(*bed.window, "monitorSum")->text().contains("the whole run"));
    // The longest first, and its bar is as long as there is room.
    QVERIFY(cell(bed, 0, study::ProfileColumn::Operator) == "outside the stages");
    const QModelIndex share = table(bed).model()->index(0, static_cast<int>(study::ProfileColumn::Share));
    QCOMPARE(share.data(study::RowPainter::PictureRole).toDouble(), 1.0);
    const QImage picture = table(bed).viewport()->grab(table(bed).visualRect(share)).toImage();
    QCOMPARE(picture.pixelColor(picture.width() - 8 * picture.devicePixelRatio(), picture.height() / 2),
             bed.window->theme().accent);
}

void TestMonitor::rowsAndTheGraphSelectEachOther()
{
    Bed bed;
    QVERIFY(measured(bed));
    table(bed).setFocus();
    table(bed).setCurrentIndex(table(bed).model()->index(0, 0));
    for (int row = 1; row < table(bed).model()->rowCount(); ++row) {
        QTest::keyClick(&table(bed), Qt::Key_Down);
        QCOMPARE(table(bed).currentIndex().row(), row);  // although others may be about the same operator
        const auto target = table(bed).currentIndex().data(models::TargetRole).value<Target>();
        if (target.kind != Target::Kind::None) QCOMPARE(bed.window->selection().current(), target);
    }
    const Target sum = Target::op(last(bed, protocol::NodeKind::Aggregate));
    bed.window->selection().select(sum);
    QCOMPARE(table(bed).currentIndex().row(), rowOf(bed, sum));
    // One that is computed in the same pass, and a value.
    bed.window->selection().select(Target::op(last(bed, protocol::NodeKind::Rowwise)));
    QVERIFY(table(bed).currentIndex().row() != rowOf(bed, sum));
    bed.window->selection().select(Target::op(last(bed, protocol::NodeKind::Gather)));
    QCOMPARE(table(bed).currentIndex().row(), rowOf(bed, sum));
    QVERIFY(table(bed).currentIndex().data(Qt::ToolTipRole).toString().contains("In one pass over the edges"));
    bed.window->selection().select(Target::value(bed.window->document().model()->ops[sum.opId()].outputs.front()));
    QCOMPARE(table(bed).currentIndex().row(), rowOf(bed, sum));
}

void TestMonitor::rowsAreFilteredSortedAndCopied()
{
    using enum study::ProfileColumn;
    Bed bed;
    QVERIFY(measured(bed));
    const int all = table(bed).model()->rowCount();
    auto* words = child<QLineEdit>(*bed.window, "monitorFilter");
    words->setFocus();
    QTest::keyClicks(words, "Reading");
    QCOMPARE(table(bed).model()->rowCount(), 3);  // of each stage
    QVERIFY(child<QLabel>(*bed.window, "monitorSum")->text().startsWith(QString("3 of %1 rows, total").arg(all)));
    QTest::mouseClick(child<QPushButton>(*bed.window, "monitorCopy"), Qt::LeftButton);
    const QStringList lines = QGuiApplication::clipboard()->text().split('\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 4);
    QCOMPARE(lines[0], QString("Operator\tStage\tModule\tSeconds\tShare\tBytes"));
    QVERIFY(lines[1].startsWith("reading rows\t"));
    QVERIFY(lines[1].split('\t')[3].toDouble() > 0);
    const Target selected = Target::op(last(bed, protocol::NodeKind::Aggregate));
    bed.window->selection().select(selected);  // not among these rows
    QVERIFY(!table(bed).currentIndex().isValid());
    words->clear();
    QCOMPARE(table(bed).currentIndex().row(), rowOf(bed, selected));
    QTest::keyClicks(words, "structure");
    QCOMPARE(bed.window->selection().current(), selected);
    words->clear();
    QCOMPARE(table(bed).currentIndex().row(), rowOf(bed, selected));
    QCOMPARE(table(bed).model()->rowCount(), all);
    QHeaderView* header = table(bed).horizontalHeader();
    QTest::mouseClick(header->viewport(), Qt::LeftButton, {},
                      {header->sectionViewportPosition(static_cast<int>(Stage)) + 10, header->height() / 2});
    for (int row = 1; row < all; ++row) QVERIFY(cell(bed, row - 1, Stage).toInt() <= cell(bed, row, Stage).toInt());
    table(bed).setFocus();
    QTest::keyClick(&table(bed), Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QGuiApplication::clipboard()->text().split('\n', Qt::SkipEmptyParts).size(), all + 1);
}

void TestMonitor::framesAreReachedByKeyboard()
{
    Bed bed;
    QVERIFY(measured(bed));
    // From the table to the tabs, and from them to the frames.
    tabs(bed).tabBar()->setFocus();
    QTest::keyClick(tabs(bed).tabBar(), Qt::Key_Right);
    QCoreApplication::processEvents();
    QVERIFY(flame(bed).isVisible());
    QTest::keyClick(tabs(bed).tabBar(), Qt::Key_Tab);
    QVERIFY(flame(bed).hasFocus());
    const auto& frames = flame(bed).profile().frames();
    const auto current = [&]() -> const study::ProfileFrame& {
        return frames[static_cast<std::size_t>(flame(bed).current())];
    };
    if (flame(bed).current() != 0) flame(bed).moveTo(0);
    QTest::keyClick(&flame(bed), Qt::Key_Down);
    QCOMPARE(current().name, QString("outside the stages"));  // the longest
    QTest::keyClick(&flame(bed), Qt::Key_Left);
    QCOMPARE(current().name, QString("stage 3"));
    while (current().row < 0) QTest::keyClick(&flame(bed), Qt::Key_Down);
    QTest::keyClick(&flame(bed), Qt::Key_Space);
    QCOMPARE(bed.window->selection().current(), current().target);
    QVERIFY(current().target.kind == Target::Kind::Op);
    QVERIFY(flame(bed).accessibleDescription().contains("% of the run"));
    QCOMPARE(child<QLabel>(*bed.window, "monitorFrame")->text(), flame(bed).accessibleDescription());
    const int operatorFrame = flame(bed).current();
    QTest::keyClick(&flame(bed), Qt::Key_Return);
    QCOMPARE(flame(bed).zoomed(), operatorFrame);
    QCOMPARE(flame(bed).placeOf(operatorFrame).width(), static_cast<qreal>(flame(bed).width()));
    QTest::keyClick(&flame(bed), Qt::Key_Escape);
    QCOMPARE(flame(bed).zoomed(), frames[static_cast<std::size_t>(operatorFrame)].parent);
    while (flame(bed).zoomed() != 0) QTest::keyClick(&flame(bed), Qt::Key_Backspace);
    QVERIFY(flame(bed).isVisible());
}

void TestMonitor::framesAnswerTheMouse()
{
    Bed bed;
    QVERIFY(measured(bed));
    showFlame(bed);
    study::FlameView& view = flame(bed);
    const int stage = view.profile().frameOf(Target::stage(protocol::StageId(2)));
    const QPoint there = view.placeOf(stage).center().toPoint();
    QTest::mouseClick(&view, Qt::LeftButton, {}, there);
    QCOMPARE(bed.window->selection().current(), Target::stage(protocol::StageId(2)));
    QHelpEvent help(QEvent::ToolTip, there, view.mapToGlobal(there));
    QCoreApplication::sendEvent(&view, &help);
    const schema::Report& report = *bed.window->document().lastReport();
    const double seconds = report.stages[1].seconds;
    QCOMPARE(QToolTip::text(), QString("stage 2: %1, %2 % of the run")
                                   .arg(models::formatSecondsFinely(seconds))
                                   .arg(100 * seconds / report.seconds, 0, 'f', 1));
    QTest::mouseDClick(&view, Qt::LeftButton, {}, there);
    QCOMPARE(view.zoomed(), stage);
    // In the colour of its stage, with a name that can be read.
    const QImage picture = view.grab().toImage();
    const QPointF corner = view.placeOf(stage).bottomRight() - QPointF(12, 6);
    const style::Theme& theme = bed.window->theme();
    QCOMPARE(picture.pixelColor((corner * picture.devicePixelRatio()).toPoint()), theme.kinds[1]);
    QVERIFY(style::contrast(theme.kinds[1], theme.kindsText[1]) >= 4.5);
    // What is selected elsewhere is found here.
    const Target sum = Target::op(last(bed, protocol::NodeKind::Aggregate));
    bed.window->selection().select(sum);
    QCOMPARE(view.profile().frames()[static_cast<std::size_t>(view.current())].target, sum);
    const QRectF marked = view.placeOf(view.current());
    QVERIFY(!marked.isEmpty());
    const QImage selected = view.grab().toImage();
    const QPointF border(marked.center().x(), marked.top() + 1);
    QCOMPARE(selected.pixelColor((border * selected.devicePixelRatio()).toPoint()), theme.accent);
}

void TestMonitor::anEarlierRunIsChosen()
{
    Bed bed;
    QVERIFY(measured(bed));
    auto* runs = child<QComboBox>(*bed.window, "monitorRuns");
    QVERIFY(!runs->isVisible());
    QVERIFY(bed.run());
    QTRY_COMPARE(runs->count(), 2);
    QVERIFY(runs->isVisible());
    QCOMPARE(runs->currentIndex(), 1);
    const int rows = table(bed).model()->rowCount();
    runs->setFocus();
    QTest::keyClick(runs, Qt::Key_Up);
    QCOMPARE(runs->currentIndex(), 0);
    QCOMPARE(table(bed).model()->rowCount(), rows);
}

void TestMonitor::aGpuTellsNoTimes()
{
    window::WindowSetup setup = bed::playedSetup();
    setup.engineCommand = player::command({QStringLiteral("--gpu")});
    Bed bed(setup);
    QVERIFY(bed.open("chain3.pt") && bed.setBatches(true));
    QVERIFY(bed.run());
    bring(bed);
    QVERIFY2(said(bed).contains("run the model on the CPU"), qPrintable(said(bed)));
    QVERIFY(!table(bed).isVisible());
}

void TestMonitor::anOlderReportTellsNoTimes()
{
    Bed bed;
    QVERIFY(measured(bed));
    schema::Report older = *bed.window->document().lastReport();
    for (schema::StageRecord& stage : older.stages) stage.operators.clear();
    QFile file(bed.folder.filePath("older.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray::fromStdString(schema::writeReport(older)));
    file.close();
    bed.window->workbench().openReport(file.fileName());
    auto* runs = child<QComboBox>(*bed.window, "monitorRuns");
    QTRY_COMPARE(runs->count(), 2);
    QCOMPARE(said(bed),
             QString("This report does not contain the times of operators: run the model again to see them."));
    QVERIFY(!table(bed).isVisible() && child<QLabel>(*bed.window, "monitorMissing0")->isVisible());
    runs->setFocus();
    QTest::keyClick(runs, Qt::Key_Up);
    QVERIFY(table(bed).isVisible());
}

void TestMonitor::nothingIsClippedAlongTheWay()
{
    for (const QSize size : {QSize(1600, 1000), QSize(1280, 800)}) {
        Bed bed;
        bed.window->resize(size);
        bed.window->docks().setPerspective("explain");
        const auto check = [&] {
            const QStringList found = checks::lasting([&] {
                return checks::clippedTexts(*bed.window) + checks::overlaps(*bed.window) +
                       checks::unnamedWidgets(*bed.window) +
                       checks::paleTexts(*bed.window, bed.window->grab().toImage());
            });
            QVERIFY2(found.isEmpty(), qPrintable(found.join('\n')));
        };
        QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
        bring(bed);
        check();
        QVERIFY(measured(bed));
        QVERIFY(bed.run());
        check();
        showFlame(bed);
        check();
    }
}

HOPSCOPE_QT_SUITE(window_monitor, TestMonitor)
#include "test_monitor.moc"
