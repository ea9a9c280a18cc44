// Menus and the dialog that opens a model, with real events: what they promise is there, and keys are said where they act.

#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QDockWidget>
#include <QFileDialog>
#include <QLineEdit>
#include <QListWidget>
#include <QMenuBar>
#include <QMessageBox>
#include <QPushButton>
#include <QRegularExpression>
#include <QTest>
#include <QTimer>

#include "bed.h"
#include "graphview/view/graph_view.h"
#include "open_dialog.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::window;
using bed::Bed;
using bed::child;

namespace {

QMenu* menuAt(Bed& bed, QPoint at)
{
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, view(bed).mapToGlobal(at));
    QApplication::sendEvent(&view(bed), &event);
    return child<QMenu>(bed.window->graph(), "graphMenu");
}

QPoint placeOf(Bed& bed, graphview::Shape shape)
{
    const graphview::Scene& scene = *view(bed).scene();
    const auto node = std::ranges::find(scene.graph->nodes, shape, &graphview::VisibleNode::shape);
    const auto index = static_cast<std::size_t>(node - scene.graph->nodes.begin());
    return view(bed).camera().toScreen(scene.nodes[index].center()).toPoint();
}

// Down, into submenus and back, until everything has been active once.
QStringList walked(QMenu& menu)
{
    QStringList names;
    QSet<QAction*> seen;
    QTest::keyClick(&menu, Qt::Key_Down);
    for (QAction* at = menu.activeAction(); at && !seen.contains(at); at = menu.activeAction()) {
        seen.insert(at);
        if (at->menu()) {
            QTest::keyClick(&menu, Qt::Key_Right);
            if (bed::waitFor([&] { return at->menu()->isVisible(); }, 20'000)) names += walked(*at->menu());
            QTest::keyClick(at->menu(), Qt::Key_Left);
        } else {
            names << at->objectName();
        }
        QTest::keyClick(&menu, Qt::Key_Down);
    }
    return names;
}

}  // namespace

class TestMenus : public QObject {
    Q_OBJECT
private slots:
    void comboBoxesChooseByEnterAndSpace_data();
    void comboBoxesChooseByEnterAndSpace();
    void enterOpensTheSampleThatHasTheFocus();
    void panelsOpenAtAUsableSizeFromEverywhere_data();
    void panelsOpenAtAUsableSizeFromEverywhere();
    void savingCompletesWhatWasWanted_data();
    void savingCompletesWhatWasWanted();
    void contextMenusShowTheKeysOfWhatTheyOffer();
    void theGraphMenuIsShortAndItsSubmenusAreWalkedByKeys();
    void aFolderIsAddedToTheData();
};

void TestMenus::contextMenusShowTheKeysOfWhatTheyOffer()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    QMenu* menu = menuAt(bed, placeOf(bed, graphview::Shape::Rowwise));
    QVERIFY(menu);
    const std::pair<const char*, const char*> expected[] = {{"pin.checkpoint", "S"},
                                                            {"pin.no_checkpoint", "N"},
                                                            {"graphLetPlan", "U"},
                                                            {"graphBookmark", "Ctrl+B"},
                                                            {"graphFit", "F"}};
    for (const auto& [name, key] : expected) {
        QAction* action = child<QAction>(*menu, name);
        QVERIFY2(action, name);
        QCOMPARE(action->shortcut().toString(), QLatin1String(key));
        QVERIFY(action->isShortcutVisibleInContextMenu());
    }
    // The key still does what it says, once, while no menu is open.
    QTest::keyClick(menu, Qt::Key_Escape);
    QTRY_VERIFY(!child<QMenu>(bed.window->graph(), "graphMenu"));
    bed.window->activateWindow();  // there is no window manager to do it when a menu closes
    QVERIFY(QTest::qWaitForWindowActive(bed.window.get()));
    QTest::mouseClick(&view(bed), Qt::LeftButton, {}, placeOf(bed, graphview::Shape::Rowwise));
    const auto before = bed.window->document().settings().pins.size();
    QTRY_COMPARE(QApplication::focusWidget(), static_cast<QWidget*>(&view(bed)));
    QTest::keyClick(&view(bed), Qt::Key_S);
    QTRY_COMPARE(bed.window->document().settings().pins.size(), before + 1);
}

void TestMenus::theGraphMenuIsShortAndItsSubmenusAreWalkedByKeys()
{
    constexpr int mostEntries = 10;
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    QTest::keyClick(bed.window.get(), Qt::Key_G, Qt::AltModifier);
    auto* menu = child<QMenu>(*bed.window, "menu.Graph");
    QTRY_VERIFY(menu->isVisible());
    QVERIFY2(menu->actions().size() <= mostEntries, qPrintable(QString::number(menu->actions().size())));
    const QStringList names = walked(*menu);
    for (const QAction* action : bed.window->actionBook().all())
        if (ActionBook::groupOf(action) == u"Graph" && action->isEnabled())
            QVERIFY2(names.contains(action->objectName()), qPrintable(action->objectName()));
}

void TestMenus::aFolderIsAddedToTheData()
{
    Bed bed;
    QTemporaryDir folder;
    QVERIFY(QDir(folder.path()).mkdir("arrays"));
    QTest::keyClick(bed.window.get(), Qt::Key_O, Qt::ControlModifier);
    auto* dialog = bed.window->findChild<OpenDialog*>();
    QTRY_VERIFY(dialog && dialog->isVisible());
    QTest::mouseClick(child<QPushButton>(*dialog, "openAddFolder"), Qt::LeftButton);
    auto* chooser = child<QFileDialog>(*dialog, "fileDialog");
    QTRY_VERIFY(chooser && chooser->isVisible());
    QCOMPARE(chooser->fileMode(), QFileDialog::Directory);
    chooser->setDirectory(folder.path());
    chooser->selectFile(folder.filePath("arrays"));
    QMetaObject::invokeMethod(chooser, "accept");
    auto* data = child<QListWidget>(*dialog, "openData");
    QTRY_VERIFY(data->count() > 0);
    QCOMPARE(data->count(), 1);
    QCOMPARE(data->item(0)->text(), folder.filePath("arrays"));
    QTest::keyClick(dialog, Qt::Key_Escape);
}

void TestMenus::comboBoxesChooseByEnterAndSpace_data()
{
    QTest::addColumn<int>("key");
    QTest::newRow("Return") << static_cast<int>(Qt::Key_Return);
    QTest::newRow("Enter") << static_cast<int>(Qt::Key_Enter);
    QTest::newRow("Space") << static_cast<int>(Qt::Key_Space);
}

void TestMenus::comboBoxesChooseByEnterAndSpace()
{
    QFETCH(int, key);
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    int tried = 0;
    for (const char* perspective : {"analyse", "run", "compare", "explain"}) {
        bed.window->docks().setPerspective(perspective);
        QCoreApplication::processEvents();
        for (QComboBox* combo : bed.window->findChildren<QComboBox*>()) {
            if (!combo->isVisible() || !combo->isEnabled() || combo->count() < 2) continue;
            combo->setCurrentIndex(0);
            combo->setFocus();
            QTest::keyClick(combo, Qt::Key_Down, Qt::AltModifier);
            QVERIFY2(bed::waitFor([&] { return combo->view()->isVisible(); }), qPrintable(combo->objectName()));
            QTest::keyClick(combo->view(), Qt::Key_Down);
            QTest::keyClick(combo->view(), static_cast<Qt::Key>(key));
            QVERIFY2(bed::waitFor([&] { return !combo->view()->isVisible(); }), qPrintable(combo->objectName()));
            QVERIFY2(combo->currentIndex() != 0, qPrintable(combo->objectName()));
            combo->setCurrentIndex(0);
            ++tried;
        }
    }
    QVERIFY2(tried >= 5, qPrintable(QString::number(tried)));
}

void TestMenus::enterOpensTheSampleThatHasTheFocus()
{
    Bed bed;
    auto* sample = bed.window->findChildren<QPushButton*>(QRegularExpression(QStringLiteral("^sample\\."))).value(0);
    QVERIFY(sample != nullptr);
    sample->setFocus();
    QTest::keyClick(sample, Qt::Key_Return);
    QVERIFY(bed::waitFor([&] { return bed.window->workbench().busy() || bed.window->document().model() != nullptr; }));
}

void TestMenus::panelsOpenAtAUsableSizeFromEverywhere_data()
{
    QTest::addColumn<QString>("perspective");
    QTest::addColumn<QSize>("size");
    for (const QString& perspective : perspectiveNames())
        for (const QSize& size : {QSize(1280, 800), QSize(800, 480)})
            QTest::addRow("%s in %d x %d", qPrintable(perspective), size.width(), size.height()) << perspective << size;
}

// One after the other, as the shortcuts bring them, and again after the panels have been put back.
void TestMenus::panelsOpenAtAUsableSizeFromEverywhere()
{
    QFETCH(QString, perspective);
    QFETCH(QSize, size);
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    bed.window->resize(size);
    bed.window->docks().setPerspective(perspective);
    bed.window->docks().reset();  // as it is made in a window of this size
    QTest::qWait(50);
    const int least = size.height() * 3 / 16;
    for (int round = 0; round < 2; ++round) {
        for (const QDockWidget* dock : bed.window->docks().all()) {
            bed.window->docks().bring(dock->objectName().section(u'.', 1));
            const bool usable =
                bed::waitFor([&] { return !dock->visibleRegion().isEmpty() && dock->widget()->height() >= least; });
            QVERIFY2(usable, qPrintable(QString("%1: %2").arg(dock->objectName()).arg(dock->widget()->height())));
        }
        bed.window->docks().reset();
        QTest::qWait(50);
    }
}

void TestMenus::savingCompletesWhatWasWanted_data()
{
    QTest::addColumn<QString>("wanted");
    for (const char* wanted : {"close", "quit", "another"}) QTest::newRow(wanted) << wanted;
}

// "Save" without a file asks for a name; then the interrupted action continues.
void TestMenus::savingCompletesWhatWasWanted()
{
    QFETCH(QString, wanted);
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    bed.window->workbench().pin({base::PinKind::Checkpoint, protocol::ValueId(8)});
    QVERIFY(bed::waitFor([&] { return !bed.window->workbench().busy(); }));
    QTimer::singleShot(0, bed.window.get(), [&] {
        auto* question = bed::topLevel<QMessageBox>("askSave");
        QVERIFY(question != nullptr);
        QTest::mouseClick(question->button(QMessageBox::Save), Qt::LeftButton);
    });
    if (wanted == u"close") bed.window->actionBook().find("file.close")->trigger();
    else if (wanted == u"quit") bed.window->close();
    else bed.window->openFile({"chain4.pt", {"graph.safetensors"}, {}});
    auto* dialog = child<QFileDialog>(*bed.window, "saveDialog");
    QVERIFY(dialog != nullptr);
    const QString file = bed.folder.filePath("kept.hopscope");
    dialog->selectFile(file);
    QMetaObject::invokeMethod(dialog, "accept");
    QVERIFY(QFile::exists(file));
    const models::Document& document = bed.window->document();
    QVERIFY(bed::waitFor([&] {
        if (wanted == u"quit") return !bed.window->isVisible();
        return wanted == u"close" ? document.model() == nullptr : document.modelPath() == u"chain4.pt";
    }));
}

HOPSCOPE_QT_SUITE(window_menus, TestMenus)
#include "test_menus.moc"
