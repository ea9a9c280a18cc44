// What holds for every model and in every layout: it opens with a drawing, fits the screen, and keys act where the focus is.

#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QTest>

#include "bed.h"
#include "command_palette.h"
#include "graphview/view/graph_view.h"
#include "models/run_log.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::window;
using bed::Bed;
using bed::child;
using bed::topLevel;

namespace {

bool redIn(const QImage& picture)
{
    for (int y = 0; y < picture.height(); ++y)
        for (int x = 0; x < picture.width(); ++x)
            if (const QColor c = picture.pixelColor(x, y); c.red() > 150 && c.green() < 70 && c.blue() < 70)
                return true;
    return false;
}

}  // namespace

class TestEverywhere : public QObject {
    Q_OBJECT
private slots:
    void aModelThatCannotBeSplitOpensWithItsReasonAndTheOperatorMarked();
    void theWindowIsNeverLargerThanTheScreen();
    void plotsAreExportedAlikeInEveryLayout();
    void keysOfTheGraphActOnlyWhereItHasTheFocus();
    void theGraphShowsThatItHasTheFocus();
    void aMessageAboveTheGraphLeavesItsNodesWhereTheyAre();
    void aDropWhereNothingCanBeStoredOffersTheNearestPlace();
    void thePaletteFindsColours();
};

void TestEverywhere::aModelThatCannotBeSplitOpensWithItsReasonAndTheOperatorMarked()
{
    Bed bed;
    QVERIFY(bed.open("unsplittable3.pt"));
    auto* card = child<QWidget>(*bed.window, "refusalCard");
    QTRY_VERIFY(card->isVisible());
    QVERIFY(child<QLabel>(*bed.window, "refusalReason")->text().contains("works over the rows of node in sequence"));
    QVERIFY(child<QLabel>(*bed.window, "refusalHint")->text().contains("it needs all rows at once"));
    auto* table = child<QWidget>(*bed.window, "problemTable");
    QTRY_VERIFY(table->isVisible() && !table->visibleRegion().isEmpty());
    auto& view = *bed.window->graph().findChild<graphview::GraphView*>();
    QTRY_VERIFY(view.state().refused >= 0);
    QVERIFY(view.scene()->bands.empty());
    const auto refused = bed.window->document().model()->lints.back().op;
    QCOMPARE(view.scene()->graph->nodeOf[refused.at()], view.state().refused);
    QVERIFY(bed.window->selection().current() == models::Target::op(refused));
    // Seen where it is: the mark is red in what is on the screen.
    const QRectF node = view.camera().toScreen(view.scene()->nodes[view.state().refused]);
    QVERIFY(view.rect().contains(node.center().toPoint()));
    QTRY_VERIFY(
        bed::waitFor([&] { return redIn(view.grab(node.toAlignedRect().adjusted(-12, -18, 16, 12)).toImage()); }));
    QVERIFY(bed.open("chain3.pt"));
    QTRY_VERIFY(!card->isVisible());
    QCOMPARE(view.state().refused, -1);
}

void TestEverywhere::theWindowIsNeverLargerThanTheScreen()
{
    QCOMPARE(fittedTo({0, 0, 1600, 1000}, {0, 25, 1280, 775}), QRect(0, 25, 1280, 775));
    QCOMPARE(fittedTo({1000, 700, 600, 400}, {0, 0, 1280, 800}), QRect(680, 400, 600, 400));
    WindowSetup setup = bed::playedSetup();
    setup.room = {0, 0, 1280, 800};
    Bed bed(setup);
    const auto fits = [&] {
        const QSize shown = bed.window->size();  // where it is, is the window manager's to say
        return shown.width() <= setup.room.width() && shown.height() < setup.room.height();
    };
    QVERIFY(fits());
    QVERIFY(bed.open("chain3.pt"));
    auto model = std::make_shared<protocol::ModelRecord>(*bed.window->document().model());
    for (int table = 0; table < 60; ++table) model->sizes["a table with a long name " + std::to_string(table)] = 1000;
    bed.window->document().setModel(model);
    bed::waitFor([] { return false; }, 100);
    QVERIFY2(fits(), qPrintable(bed::leastWidths(*bed.window)));
    QVERIFY(bed.window->minimumSizeHint().width() <= 1280);
}

void TestEverywhere::plotsAreExportedAlikeInEveryLayout()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    QVERIFY(!bed.window->exportTo({"plots", bed.folder.filePath("none.svg")}, 0).isEmpty());
    QVERIFY(bed.run());
    QVERIFY(!child<QWidget>(*bed.window, "memoryPlot")->isVisible());
    const auto exported = [&](const QString& name) {
        const QString file = bed.folder.filePath(name);
        const QString problem = bed.window->exportTo({"plots", file}, 0);
        if (!problem.isEmpty()) return problem.toUtf8();
        QFile in(file);
        return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
    };
    const QByteArray unseen = exported("unseen.csv"), drawn = exported("unseen.svg");
    for (const char* word : {"Time per stage", "block build", "compute", "Stage 1", "Device memory"})
        QVERIFY2(drawn.contains(word), word);
    bed.window->docks().setPerspective("run");
    QTRY_VERIFY(child<QWidget>(*bed.window, "memoryPlot")->isVisible());
    bed::waitFor([] { return false; }, 300);
    QCOMPARE(exported("seen.csv"), unseen);
    QVERIFY2(drawn.size() > exported("seen.svg").size() * 9 / 10,
             "the picture of plots that are not seen has less in it");
}

void TestEverywhere::keysOfTheGraphActOnlyWhereItHasTheFocus()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    bed.window->docks().setPerspective("run");
    bed.window->docks().reveal("outline");
    const protocol::ModelRecord& model = *bed.window->document().model();
    const models::Target chosen = models::Target::op(model.findOp("op2"));
    bed.window->selection().select(chosen);
    auto* batch = child<QLineEdit>(*bed.window, "batch");
    auto* verify = child<QComboBox>(*bed.window, "verify");
    auto* view = bed.window->graph().findChild<graphview::GraphView*>();
    QTRY_VERIFY(verify->isVisible());
    verify->setFocus();
    for (const Qt::Key key : {Qt::Key_Down, Qt::Key_Up, Qt::Key_Down}) QTest::keyClick(verify, key);
    QCOMPARE(verify->currentText(), QString("full"));
    QVERIFY(bed.window->selection().current() == chosen);
    const auto camera = view->camera();
    for (const Qt::Key key : {Qt::Key_S, Qt::Key_N, Qt::Key_F, Qt::Key_Delete, Qt::Key_L}) QTest::keyClick(verify, key);
    verify->showPopup();
    QTRY_VERIFY(QApplication::activePopupWidget() != nullptr);
    view->setFocus();
    for (const Qt::Key key : {Qt::Key_S, Qt::Key_N}) QTest::keyClick(QApplication::activePopupWidget(), key);
    verify->hidePopup();
    batch->setFocus();
    QTest::keyClick(batch, Qt::Key_Backspace);
    QCOMPARE(bed.window->workbench().undoStack().count(), 0);
    QVERIFY(bed.window->selection().current() == chosen);
    QVERIFY(view->camera() == camera);
    // The same keys where they belong.
    view->setFocus();
    QTest::keyClick(view, Qt::Key_Down);
    QTRY_VERIFY(!(bed.window->selection().current() == chosen));
    bed.window->selection().select(models::Target::op(model.findOp("op5")));
    QTest::keyClick(view, Qt::Key_S);
    QTRY_VERIFY(bed.window->workbench().undoStack().count() > 0);
}

void TestEverywhere::theGraphShowsThatItHasTheFocus()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    auto* view = bed.window->graph().findChild<graphview::GraphView*>();
    auto* search = child<QLineEdit>(*bed.window, "outlineSearch");
    QWidget* other = search ? search : bed.window->docks().dock("outline")->widget();
    const auto framed = [&] {
        return view->grab().toImage().pixelColor(1, view->height() / 2) == bed.window->theme().accent;
    };
    other->setFocus();
    QVERIFY(!framed());
    QStringList stops;
    for (int stop = 0; stop < 10 && !view->hasFocus(); ++stop) {
        QTest::keyClick(bed.window.get(), Qt::Key_F6);
        stops << QApplication::focusWidget()->objectName();
    }
    QVERIFY2(view->hasFocus(), qPrintable(stops.join(", ")));
    QVERIFY(framed());
}

void TestEverywhere::aMessageAboveTheGraphLeavesItsNodesWhereTheyAre()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    auto* view = bed.window->graph().findChild<graphview::GraphView*>();
    QTRY_VERIFY(!view->animating());
    const auto place = [&] { return view->mapToGlobal(view->camera().toScreen(view->scene()->nodes[2]).center()); };
    const QPointF before = place();
    bed.window->document().setRefusal("made up, and not long");
    auto* banner = child<QWidget>(*bed.window, "banner");
    QTRY_VERIFY(banner->isVisible() && view->mapTo(bed.window.get(), QPoint()).y() > banner->height());
    bed::waitFor([] { return false; }, 50);
    QVERIFY2((place() - before).manhattanLength() < 1.5,
             qPrintable(QString("moved by %1").arg((place() - before).y())));
}

void TestEverywhere::aDropWhereNothingCanBeStoredOffersTheNearestPlace()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    auto* view = bed.window->graph().findChild<graphview::GraphView*>();
    const graphview::Scene& scene = *view->scene();
    const auto store = std::ranges::find_if(scene.stores, [&](const auto& s) {
        return graphview::isMovable(scene, {graphview::Hit::Kind::Store, int(&s - scene.stores.data())});
    });
    QVERIFY(store != scene.stores.end());
    const QStringList before = bed::storedIds(bed.window->document());
    const QPoint from = view->camera().toScreen(store->rect).center().toPoint(), to(view->width() - 12, 12);
    QTest::mousePress(view, Qt::LeftButton, {}, from);
    QTest::mouseMove(view, from + QPoint(10, 10));
    QTest::mouseMove(view, to);
    QTest::mouseRelease(view, Qt::LeftButton, {}, to);
    QTRY_VERIFY(bed.window->banner().sentence().contains("Nothing can be stored here"));
    QPushButton* offer = nullptr;
    QVERIFY(bed::waitFor([&] {
        for (auto* button : child<QWidget>(*bed.window, "banner")->findChildren<QPushButton*>())
            if (button->text().startsWith("Store ")) offer = button;
        return offer != nullptr;
    }));
    QCOMPARE(bed::storedIds(bed.window->document()), before);
    QTest::mouseClick(offer, Qt::LeftButton);
    QTRY_COMPARE(bed.window->workbench().undoStack().count(), 1);
}

void TestEverywhere::thePaletteFindsColours()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    QTest::keyClick(bed.window.get(), Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    auto* palette = topLevel<QDialog>("palette");
    QVERIFY(palette);
    QTest::keyClicks(child<QLineEdit>(*palette, "paletteQuery"), "colour");
    auto* list = child<QListWidget>(*palette, "paletteList");
    QVERIFY(list->count() >= 3);
    QVERIFY2(list->item(0)->text().contains("Colour by"), qPrintable(list->item(0)->text()));
    palette->close();
}

HOPSCOPE_QT_SUITE(window_everywhere, TestEverywhere)
#include "test_everywhere.moc"
