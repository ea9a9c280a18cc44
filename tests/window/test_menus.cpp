// Menus and the dialog that opens a model, with real events: what they promise is there, and keys are said where they act.

#include <QApplication>
#include <QContextMenuEvent>
#include <QFileDialog>
#include <QLineEdit>
#include <QListWidget>
#include <QMenuBar>
#include <QPushButton>
#include <QTest>

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
            if (bed::waitFor([&] { return at->menu()->isVisible(); }, 1000)) names += walked(*at->menu());
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

HOPSCOPE_QT_SUITE(window_menus, TestMenus)
#include "test_menus.moc"
