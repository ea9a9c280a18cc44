// What the window does with the room that it has: menus, dialogs, the graph, and what is said wherever the user looks.

#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QRegularExpression>
#include <QTest>
#include <QTimer>
#include <QToolButton>
#include <QTreeWidget>
#include <QWheelEvent>

#include "bed.h"
#include "checks.h"
#include "models/run_log.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::window;
using bed::Bed;
using bed::child;
using graphview::GraphView;

namespace {

bool settled(Bed& bed)
{
    return bed::waitFor(
        [&] { return bed.window->graph().layoutReady() && !bed.window->workbench().busy() && !view(bed).animating(); });
}

// On a slow machine the moment may be over before the last layout that follows from another.
void laidOut()
{
    QTest::qWait(80);
    for (int round = 0; round < 20; ++round) QCoreApplication::processEvents();
}

QString status(Bed& bed, const char* label) { return child<QLabel>(*bed.window, label)->accessibleName(); }

// As much of the graph is in sight, and as large, as where the window has always had this size.
bool fitted(Bed& bed)
{
    const graphview::Camera now = view(bed).camera();
    view(bed).viewport().showStart();
    return std::abs(now.scale - view(bed).camera().scale) < 1e-6 &&
           (now.offset - view(bed).camera().offset).manhattanLength() < 1.5;
}

}  // namespace

class TestRoom : public QObject {
    Q_OBJECT
private slots:
    void everyMenuCanBeOpenedAtEveryWidth_data();
    void everyMenuCanBeOpenedAtEveryWidth();
    void theStartPageIsWholeAtEverySize_data();
    void theStartPageIsWholeAtEverySize();
    void perspectivesAreChosenFromAListWhereMenusNeedTheRoom();
    void dialogsFitTheScreen();
    void theGraphFollowsTheRoomItHas_data();
    void theGraphFollowsTheRoomItHas();
    void whoHasZoomedOrPannedStaysThere_data();
    void whoHasZoomedOrPannedStaysThere();
    void theEndOfARunIsToldInEveryPerspective_data();
    void theEndOfARunIsToldInEveryPerspective();
    void aVerdictNamesItsRun();
};

void TestRoom::everyMenuCanBeOpenedAtEveryWidth_data()
{
    QTest::addColumn<int>("width");
    for (const int width : {1600, 1280, 900, 800, 640, 500, 400}) QTest::addRow("%d", width) << width;
}

// Where not all fit, the rest is behind a button that is seen.
void TestRoom::everyMenuCanBeOpenedAtEveryWidth()
{
    QFETCH(int, width);
    Bed bed;
    bed.window->setMinimumWidth(width);
    bed.window->resize(width, 600);
    laidOut();
    QMenuBar& bar = *bed.window->menuBar();
    const auto* more = child<QToolButton>(bar, "qt_menubar_ext_button");
    const int end = more->isVisible() ? std::min(more->x(), bar.cornerWidget()->x()) : bar.cornerWidget()->x();
    const QRect room = bar.rect().intersected(QRect(0, 0, end, bar.height()));
    for (QAction* menu : bar.actions()) {
        const QRect place = bar.actionGeometry(menu);
        if (!room.contains(place)) {
            QVERIFY2(width < 640, qPrintable(menu->text()));
            QVERIFY2(more->isVisible() && more->width() >= 12 && more->menu()->actions().contains(menu),
                     qPrintable(menu->text()));
            continue;
        }
        QTest::mouseClick(&bar, Qt::LeftButton, {}, place.center());
        QTRY_VERIFY2(menu->menu()->isVisible(), qPrintable(menu->text()));
        menu->menu()->hide();
    }
    QVERIFY(bar.rect().contains(bar.cornerWidget()->geometry()));
    if (width >= 1280) QVERIFY(child<QPushButton>(*bed.window, "perspective.run")->isVisible());
}

void TestRoom::theStartPageIsWholeAtEverySize_data()
{
    QTest::addColumn<QSize>("size");
    for (const QSize& size : {QSize(1600, 1000), QSize(1280, 800), QSize(800, 480), QSize(500, 480)})
        QTest::addRow("%d x %d", size.width(), size.height()) << size;
}

void TestRoom::theStartPageIsWholeAtEverySize()
{
    QFETCH(QSize, size);
    Bed bed;
    bed.window->resize(size);
    laidOut();
    const QStringList found = checks::clippedTexts(*bed.window) + checks::overlaps(*bed.window);
    QVERIFY2(found.isEmpty(), qPrintable(found.join('\n')));
    auto* sample = bed.window->findChildren<QPushButton*>(QRegularExpression("^sample\\.")).value(0);
    QVERIFY(sample && !sample->visibleRegion().isEmpty());
    QVERIFY(child<QPushButton>(*bed.window, "startOpen")->visibleRegion().boundingRect().size() ==
            child<QPushButton>(*bed.window, "startOpen")->size());
}

void TestRoom::perspectivesAreChosenFromAListWhereMenusNeedTheRoom()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    bed.window->resize(800, 480);
    laidOut();
    auto* list = child<QToolButton>(*bed.window, "perspectiveList");
    QVERIFY(list->isVisible() && !child<QPushButton>(*bed.window, "perspective.run")->isVisible());
    QVERIFY(list->text().startsWith("Analyse"));
    QTimer::singleShot(0, bed.window.get(), [&] {
        QTRY_VERIFY(list->menu()->isVisible());
        QTest::keyClick(list->menu(), Qt::Key_Down);
        QTest::keyClick(list->menu(), Qt::Key_Down);
        QTest::keyClick(list->menu(), Qt::Key_Return);
    });
    QTest::mouseClick(list, Qt::LeftButton);
    QTRY_COMPARE(bed.window->docks().perspective(), QString("run"));
    QVERIFY(list->text().startsWith("Run"));
    bed.window->resize(1600, 900);
    laidOut();
    QVERIFY(!list->isVisible() && child<QPushButton>(*bed.window, "perspective.run")->isChecked());
}

// Those that actions open: none is larger than a window of 800 x 480.
void TestRoom::dialogsFitTheScreen()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    bed.window->resize(800, 480);
    laidOut();
    for (const char* name :
         {"help.keys", "help.commands", "help.about", "file.open", "file.exportSplit", "run.machine"}) {
        bed.window->actionBook().find(name)->trigger();
        laidOut();
        QDialog* open = nullptr;
        for (auto* dialog : bed.window->findChildren<QDialog*>())
            if (dialog->isVisible()) open = dialog;
        QVERIFY2(open != nullptr, name);
        QVERIFY2(open->width() <= 800 && open->height() <= 480,
                 qPrintable(QString("%1: %2 x %3").arg(name).arg(open->width()).arg(open->height())));
        if (const auto* tree = open->findChild<QTreeWidget*>("keysTree")) {
            const auto heading = [&](int column) { return tree->headerItem()->text(column); };
            QVERIFY(heading(0) != heading(1) && heading(0) != heading(2) && heading(1) != heading(2));
        }
        open->close();
        laidOut();
    }
}

void TestRoom::theGraphFollowsTheRoomItHas_data()
{
    QTest::addColumn<std::function<void(Bed&)>>("change");
    const auto row = [](const char* name, std::function<void(Bed&)> change) { QTest::newRow(name) << change; };
    row("resized", [](Bed& bed) { bed.window->resize(1000, 640); });
    row("perspective", [](Bed& bed) { QTest::keyClick(&view(bed), Qt::Key_2, Qt::ControlModifier); });
    row("beside", [](Bed& bed) { bed.window->actionBook().find("graphCompareDepth")->trigger(); });
    row("panel closed", [](Bed& bed) { bed.window->docks().dock("outline")->close(); });
    row("banner", [](Bed& bed) {
        bed.window->document().setRefusal("made up, and not long");
        laidOut();
        QVERIFY(child<QWidget>(*bed.window, "banner")->isVisible());
        bed.window->document().setRefusal({});
    });
    row("resized below a banner", [](Bed& bed) {
        bed.window->document().setRefusal("made up, and not long");
        laidOut();
        bed.window->resize(1000, 640);
        laidOut();
        bed.window->document().setRefusal({});
    });
}

void TestRoom::theGraphFollowsTheRoomItHas()
{
    QFETCH(std::function<void(Bed&)>, change);
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    QVERIFY(settled(bed));
    // A click and a key are no zoom.
    const QPoint node = view(bed).camera().toScreen(view(bed).scene()->nodes[3].center()).toPoint();
    QTest::mouseClick(&view(bed), Qt::LeftButton, {}, node);
    QTest::keyClick(&view(bed), Qt::Key_Down);
    laidOut();
    change(bed);
    laidOut();
    QVERIFY(settled(bed));
    const auto* other = child<GraphView>(*bed.window, "graphOther");
    if (other->isVisible()) QVERIFY(other->scene() && other->camera() == view(bed).camera());
    QVERIFY(fitted(bed));
}

void TestRoom::whoHasZoomedOrPannedStaysThere_data()
{
    QTest::addColumn<std::function<void(Bed&)>>("move");
    QTest::newRow("wheel") << std::function<void(Bed&)>([](Bed& bed) {
        const QPointF at(200, 200);
        QWheelEvent turn(at, view(bed).mapToGlobal(at), {}, {0, 240}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase,
                         false);
        QCoreApplication::sendEvent(&view(bed), &turn);
    });
    QTest::newRow("drag") << std::function<void(Bed&)>([](Bed& bed) {
        QTest::mousePress(&view(bed), Qt::LeftButton, {}, QPoint(4, 4));
        QTest::mouseMove(&view(bed), QPoint(60, 60));
        QTest::mouseRelease(&view(bed), Qt::LeftButton, {}, QPoint(60, 60));
    });
    QTest::newRow("key") << std::function<void(Bed&)>(
        [](Bed& bed) { bed.window->actionBook().find("graphZoomIn")->trigger(); });
}

void TestRoom::whoHasZoomedOrPannedStaysThere()
{
    QFETCH(std::function<void(Bed&)>, move);
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    QVERIFY(settled(bed));
    move(bed);
    const graphview::Camera camera = view(bed).camera();
    bed.window->resize(1000, 640);
    laidOut();
    QTest::keyClick(&view(bed), Qt::Key_2, Qt::ControlModifier);
    laidOut();
    QVERIFY(view(bed).camera() == camera);
}

void TestRoom::theEndOfARunIsToldInEveryPerspective_data()
{
    QTest::addColumn<QString>("perspective");
    for (const QString& name : perspectiveNames()) QTest::newRow(qPrintable(name)) << name;
}

void TestRoom::theEndOfARunIsToldInEveryPerspective()
{
    QFETCH(QString, perspective);
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    bed.window->docks().setPerspective(perspective);
    auto* told = child<QLabel>(*bed.window, "status.result");
    QVERIFY(!told->isVisible());
    QTest::keyClick(bed.window.get(), Qt::Key_F9);
    QTRY_COMPARE(bed.window->document().runs().size(), std::size_t{1});
    QTRY_VERIFY(told->isVisible());
    QVERIFY2(told->accessibleName().startsWith("run 1 · ") && told->accessibleName().contains("Equal: "),
             qPrintable(told->accessibleName()));
    QTRY_VERIFY(bed.window->actionBook().find("run.startPaused")->isEnabled());
    QTest::keyClick(bed.window.get(), Qt::Key_F9, Qt::ControlModifier);  // the next one begins
    QTRY_VERIFY(!told->isVisible());
    QTRY_VERIFY(bed.window->actionBook().find("run.stop")->isEnabled());
    QTest::keyClick(bed.window.get(), Qt::Key_F5, Qt::ShiftModifier);
    QTRY_VERIFY(told->isVisible());
    QVERIFY2(told->accessibleName().startsWith("Stopped"), qPrintable(told->accessibleName()));
}

void TestRoom::aVerdictNamesItsRun()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    bed.window->docks().setPerspective("run");
    QVERIFY(bed.run());
    auto* memory = child<QLineEdit>(*bed.window, "memory");
    memory->setFocus();
    QTest::keyClicks(memory, "2G");
    QTest::keyClick(memory, Qt::Key_Return);
    QTRY_VERIFY(status(bed, "runTitle").contains("limit "));
    QVERIFY2(status(bed, "runResult").startsWith("run 1 · "), qPrintable(status(bed, "runResult")));
    QVERIFY(child<QLabel>(*bed.window, "verdictDetail")->text().startsWith("run 1"));
}

HOPSCOPE_QT_SUITE(window_room, TestRoom)
#include "test_room.moc"
