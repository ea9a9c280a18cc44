// The window with recorded answers of the engine: what is shown, opened, saved, undone and survived.

#include <QAction>
#include <QDir>
#include <QDragEnterEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMimeData>
#include <QPushButton>
#include <QSignalSpy>
#include <QStackedWidget>
#include <QTest>
#include <QTreeWidget>

#include "bed.h"
#include "checks.h"
#include "command_palette.h"
#include "models/run_log.h"
#include "remote_files.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::window;
using bed::Bed;
using bed::child;
using bed::topLevel;

namespace {

bool drop(MainWindow& window, const QStringList& files)
{
    QMimeData data;
    QList<QUrl> urls;
    for (const QString& file : files) urls.append(QUrl::fromLocalFile(file));
    data.setUrls(urls);
    QDragEnterEvent enter({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &enter);
    QDropEvent dropped({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &dropped);
    return enter.isAccepted();
}

}  // namespace

class TestWindow : public QObject {
    Q_OBJECT
private slots:
    void theStartPageOpensASampleWithOneKey();
    void anOpenModelShowsPanelsTitleAndStatus();
    void perspectivesRememberHowTheyWereLeft();
    void cutsAreUndoneAndRedoneByKeys();
    void aRefusedCutIsSaidInTheBanner();
    void aFileThatCannotBeOpenedIsSaidInTheBanner();
    void sessionsAreSavedAndOpenedAgain();
    void theTitleShowsUnsavedCutsUntilTheyAreSaved();
    void droppedFilesAreOpened();
    void aKilledEngineIsReportedAndComesBack();
    void reloadingKeepsCutsAndView();
    void filesAreChosenWhereTheEngineIs();
    void theOpenDialogSaysWhatIsMissing_data();
    void theOpenDialogSaysWhatIsMissing();
    void thePaletteFindsActionsByAFewLetters_data();
    void thePaletteFindsActionsByAFewLetters();
    void themesChangeEverythingAtOnce();
    void aThemeOfTheCommandLineIsNotRemembered();
    void lostWorkIsOfferedAndBroughtBack();
    void everyInteractiveWidgetHasAName();
    void nothingIsClippedOnTheStartPage();
    void nothingIsClippedInASmallWindow_data();
    void nothingIsClippedInASmallWindow();
    void exportsAreWritten();
};

void TestWindow::theStartPageOpensASampleWithOneKey()
{
    Bed bed;
    auto* sample = bed.window->findChild<QPushButton*>(QStringLiteral("sample.Karate club, GCN"));
    QVERIFY(sample && sample->isVisible());
    sample->setFocus();
    QTest::keyClick(sample, Qt::Key_Space);
    QTRY_VERIFY(bed.window->document().model() != nullptr);
    QTRY_VERIFY(!sample->isVisible());
    QVERIFY(bed.window->document().data().first().endsWith("graph.safetensors"));
}

void TestWindow::anOpenModelShowsPanelsTitleAndStatus()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    QTRY_COMPARE(bed.window->windowTitle(), QString("chain3.pt[*] – Hopscope"));
    QVERIFY(child<QLabel>(*bed.window, "status.model")->text().contains("depth 3"));
    QVERIFY(child<QLabel>(*bed.window, "status.model")->text().contains("10,000 nodes"));
    QTRY_VERIFY(child<QLabel>(*bed.window, "status.engine")->text().contains("local"));
    QVERIFY(bed.window->docks().dock("outline")->isVisible());
    QVERIFY(bed.window->docks().dock("inspector")->isVisible());
    bed.window->closeFile();
    QTRY_VERIFY(!bed.window->docks().dock("outline")->isVisible());
    QVERIFY(child<QWidget>(*bed.window, "startPage")->isVisible());
}

void TestWindow::perspectivesRememberHowTheyWereLeft()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    Docks& docks = bed.window->docks();
    QTest::keyClick(bed.window.get(), Qt::Key_2, Qt::ControlModifier);
    QCOMPARE(docks.perspective(), QString("run"));
    QVERIFY(docks.dock("run")->isVisible() && docks.dock("plots")->isVisible() && !docks.dock("outline")->isVisible());
    docks.dock("plots")->close();
    QTest::keyClick(bed.window.get(), Qt::Key_1, Qt::ControlModifier);
    QVERIFY(docks.dock("outline")->isVisible() && !docks.dock("run")->isVisible());
    auto* run = child<QPushButton>(*bed.window, "perspective.run");
    QTest::mouseClick(run, Qt::LeftButton);
    QVERIFY(run->isChecked() && !docks.dock("plots")->isVisible());
    bed.window->actionBook().find("view.reset")->trigger();
    QVERIFY(docks.dock("plots")->isVisible());
    QVERIFY(bed.window->settings().layouts.contains("analyse"));
}

void TestWindow::cutsAreUndoneAndRedoneByKeys()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    bed.window->workbench().movePin(protocol::ValueId(14), protocol::ValueId(15));
    QTRY_COMPARE(bed::storedIds(bed.window->document()), (QStringList{"v15", "v19"}));
    QTest::keyClick(bed.window.get(), Qt::Key_Z, Qt::ControlModifier);
    QTRY_COMPARE(bed::storedIds(bed.window->document()), (QStringList{"v14", "v19"}));
    QTest::keyClick(bed.window.get(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(bed::storedIds(bed.window->document()), (QStringList{"v15", "v19"}));
}

void TestWindow::aRefusedCutIsSaidInTheBanner()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    bed.window->workbench().pin({base::PinKind::Checkpoint, protocol::ValueId(9)});
    QTRY_VERIFY(bed.window->banner().sentence().contains("cannot be stored"));
    bed.window->workbench().pin({base::PinKind::Checkpoint, protocol::ValueId(8)});
    QTRY_VERIFY(!bed.window->banner().sentence().contains("cannot be stored"));
}

void TestWindow::aFileThatCannotBeOpenedIsSaidInTheBanner()
{
    Bed bed;
    bed.window->openFile({"bad.pt", {}, {}});
    QTRY_VERIFY(bed.window->banner().sentence().contains("not a TorchScript archive"));
    QVERIFY(child<QWidget>(*bed.window, "startPage")->isVisible());
    bed.window->openFile({"missing.hopscope", {}, {}});
    QVERIFY(bed.window->banner().sentence().contains("missing.hopscope"));
}

void TestWindow::sessionsAreSavedAndOpenedAgain()
{
    Bed bed;
    QVERIFY(bed.open("/models/chain3.pt"));
    bed.window->workbench().pin({base::PinKind::Checkpoint, protocol::ValueId(8)});
    QTRY_COMPARE(bed::storedIds(bed.window->document()).size(), 3);
    bed.window->docks().setPerspective("compare");
    const QString file = bed.folder.filePath("s.hopscope");
    QVERIFY(bed.window->keeper().save(file).has_value());

    Bed other;
    other.window->openFile({file, {}, {}});
    QTRY_VERIFY(other.window->document().plan() != nullptr);
    QCOMPARE(other.window->document().modelPath(), QString("/models/chain3.pt"));
    QCOMPARE(bed::storedIds(other.window->document()).size(), 3);
    QCOMPARE(other.window->docks().perspective(), QString("compare"));
    QTRY_COMPARE(other.window->windowTitle(), QString("s.hopscope[*] – Hopscope"));
    QVERIFY(!other.window->isWindowModified());
    QCOMPARE(other.window->settings().recent.first().file, file);
}

void TestWindow::theTitleShowsUnsavedCutsUntilTheyAreSaved()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    QVERIFY(!bed.window->isWindowModified());
    bed.window->workbench().pin({base::PinKind::Checkpoint, protocol::ValueId(8)});
    QTRY_VERIFY(bed.window->isWindowModified());
    bed.window->workbench().undoStack().undo();
    QTRY_VERIFY(!bed.window->isWindowModified());
    bed.window->workbench().undoStack().redo();
    QTRY_VERIFY(bed.window->isWindowModified());
    QVERIFY(bed.window->keeper().save(bed.folder.filePath("s.hopscope")).has_value());
    QTRY_VERIFY(!bed.window->isWindowModified());
}

void TestWindow::droppedFilesAreOpened()
{
    Bed bed;
    QVERIFY(drop(*bed.window, {"/d/x.safetensors"}));
    QVERIFY(bed.window->banner().sentence().contains("drop a model"));
    QVERIFY(drop(*bed.window, {"/d/x.safetensors", "/d/chain2.pt"}));
    QTRY_VERIFY(bed.window->document().model() != nullptr);
    QCOMPARE(bed.window->document().modelPath(), QString("/d/chain2.pt"));
    QCOMPARE(bed.window->document().data(), QStringList{"/d/x.safetensors"});
    QVERIFY(drop(*bed.window, {"/e/y.safetensors"}));  // other data for the same model
    QTRY_COMPARE(bed.window->document().data(), QStringList{"/e/y.safetensors"});
}

void TestWindow::aKilledEngineIsReportedAndComesBack()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    bed.window->workbench().pin({base::PinKind::Checkpoint, protocol::ValueId(8)});
    QTRY_COMPARE(bed::storedIds(bed.window->document()).size(), 3);
    bed.window->workbench().startRun(true);
    QTRY_VERIFY(bed.window->workbench().running());
    QSignalSpy back(&bed.window->workbench(), &jobs::Workbench::engineBack);
    const auto model = bed.window->document().model();
    bed.window->engine().request("test/die", json::Value::object(), this, [](const base::Result<json::Value>&) {});
    QTRY_VERIFY(bed.window->banner().sentence().contains("signal 9"));
    QVERIFY(bed.window->graph().isVisible());
    QTRY_COMPARE(back.count(), 1);
    QVERIFY(bed.window->banner().sentence().contains("has been restarted"));
    QCOMPARE(bed.window->document().model(), model);
    QVERIFY(bed.run());
    QCOMPARE(bed::storedIds(bed.window->document()).size(), 3);
}

void TestWindow::reloadingKeepsCutsAndView()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    bed.window->workbench().pin({base::PinKind::Checkpoint, protocol::ValueId(8)});
    QTRY_COMPARE(bed::storedIds(bed.window->document()).size(), 3);
    QSignalSpy opened(&bed.window->workbench(), &jobs::Workbench::opened);
    QTest::keyClick(bed.window.get(), Qt::Key_F5);
    QTRY_COMPARE(opened.count(), 1);
    QTRY_VERIFY(bed.window->document().plan() != nullptr);
    QCOMPARE(bed::storedIds(bed.window->document()).size(), 3);
    QTRY_VERIFY(bed.window->isWindowModified());
}

void TestWindow::filesAreChosenWhereTheEngineIs()
{
    Bed bed;
    RemoteFiles dialog(bed.window->engine(), "Choose a model", "Models (*.pt)", Wanted::File, bed.window.get());
    dialog.show();
    auto* entries = child<QTreeWidget>(dialog, "remoteEntries");
    QTRY_COMPARE(entries->topLevelItemCount(), 3);  // "..", a folder and the model: notes.txt is no model
    entries->setCurrentItem(entries->topLevelItem(2));
    QSignalSpy accepted(&dialog, &QDialog::accepted);
    QTest::keyClick(entries, Qt::Key_Return);
    QTRY_COMPARE(accepted.count(), 1);
    QCOMPARE(dialog.chosen(), QStringList{"/home/engine/chain3.pt"});
}

void TestWindow::theOpenDialogSaysWhatIsMissing_data()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QStringList>("data");
    QTest::addColumn<QString>("words");
    QTest::newRow("nothing") << "" << QStringList() << "Choose a model first";
    QTest::newRow("no such model") << "/none/m.pt" << QStringList() << "not found: /none/m.pt";
    QTest::newRow("no data") << bed::sample("karate/gcn.pt") << QStringList() << "Without data";
    QTest::newRow("no such data") << bed::sample("karate/gcn.pt") << QStringList{"x=/none/x.npy"}
                                  << "not found: /none/x.npy";
    QTest::newRow("all") << bed::sample("karate/gcn.pt") << QStringList{bed::sample("karate/graph.safetensors")}
                         << "Ready";
}

void TestWindow::theOpenDialogSaysWhatIsMissing()
{
    QFETCH(QString, model);
    QFETCH(QStringList, data);
    QFETCH(QString, words);
    OpenDialog dialog({}, {model, data, {}});
    QVERIFY2(child<QLabel>(dialog, "openAdvice")->text().contains(words),
             qPrintable(child<QLabel>(dialog, "openAdvice")->text()));
    QCOMPARE(child<QPushButton>(dialog, "openAccept")->isEnabled(), !model.isEmpty());
    QCOMPARE(dialog.choice().data, data);
}

void TestWindow::thePaletteFindsActionsByAFewLetters_data()
{
    QTest::addColumn<QString>("query");
    QTest::addColumn<QString>("first");
    QTest::newRow("word") << "dark"
                          << "View: Theme: Dark";
    QTest::newRow("beginnings") << "stra so"
                                << "Plan: Strategy: Source Rule";
    QTest::newRow("menu and word") << "run st"
                                   << "Run: Start";
}

void TestWindow::thePaletteFindsActionsByAFewLetters()
{
    QFETCH(QString, query);
    QFETCH(QString, first);
    Bed bed;
    QTest::keyClick(bed.window.get(), Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY(topLevel<CommandPalette>("palette") != nullptr);
    auto* palette = topLevel<CommandPalette>("palette");
    QTest::keyClicks(child<QLineEdit>(*palette, "paletteQuery"), query);
    const QString text = child<QListWidget>(*palette, "paletteList")->currentItem()->text();
    QVERIFY2(text.startsWith(first), qPrintable(text));
    QTest::keyClick(child<QLineEdit>(*palette, "paletteQuery"), Qt::Key_Escape);
    QTRY_VERIFY(topLevel<CommandPalette>("palette") == nullptr);
}

void TestWindow::themesChangeEverythingAtOnce()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    const QImage light = bed.window->grab().toImage();
    bed.window->actionBook().find("view.themeDark")->trigger();
    QVERIFY(bed.window->theme().dark);
    const QImage dark = bed.window->grab().toImage();
    int lighter = 0;
    for (int y = 5; y < light.height(); y += 10)
        for (int x = 5; x < light.width(); x += 10)
            lighter += dark.pixelColor(x, y).lightness() < light.pixelColor(x, y).lightness();
    QVERIFY2(lighter > 0.9 * (light.width() / 10) * (light.height() / 10), qPrintable(QString::number(lighter)));
    QCOMPARE(bed.window->settings().theme, style::Mode::Dark);
    bed.window->actionBook().find("view.themeLight")->trigger();
}

void TestWindow::aThemeOfTheCommandLineIsNotRemembered()
{
    WindowSetup setup = bed::playedSetup();
    setup.settings.theme = style::Mode::Light;
    setup.theme = style::Mode::Dark;
    Bed bed(setup);
    QVERIFY(bed.window->theme().dark);
    QVERIFY(bed.window->actionBook().find("view.themeDark")->isChecked());
    QCOMPARE(bed.window->settings().theme, style::Mode::Light);
    bed.window->actionBook().find("view.themeLight")->trigger();
    QVERIFY(!bed.window->theme().dark);
}

void TestWindow::lostWorkIsOfferedAndBroughtBack()
{
    QTemporaryDir home;
    Session session;
    session.model = "chain3.pt";
    session.data = QStringList{"graph.safetensors"};
    session.settings.pins = {{base::PinKind::Checkpoint, protocol::ValueId(8)}};
    session.perspective = "analyse";
    QVERIFY(QDir().mkpath(home.filePath("recovery")));
    QVERIFY(saveSession(session, home.filePath("recovery/lost.hopscope")).has_value());
    WindowSetup setup = bed::playedSetup();
    setup.recoveryFolder = home.filePath("recovery");
    Bed bed(setup);
    QVERIFY(bed.window->banner().sentence().contains("terminated unexpectedly"));
    auto* button = child<QPushButton>(*bed.window, "banner.Restore");
    QVERIFY(button);
    QTest::mouseClick(button, Qt::LeftButton);
    QTRY_VERIFY(bed.window->document().plan() != nullptr);
    QCOMPARE(bed::storedIds(bed.window->document()).size(), 3);
    QVERIFY(!QFile::exists(home.filePath("recovery/lost.hopscope")));
}

void TestWindow::everyInteractiveWidgetHasAName()
{
    Bed bed;
    QStringList found = checks::unnamedWidgets(*bed.window);
    QVERIFY(bed.open("chain3.pt"));
    QVERIFY(bed.run());
    for (const QString& name : perspectiveNames()) {
        bed.window->docks().setPerspective(name);
        found += checks::unnamedWidgets(*bed.window);
    }
    found.removeDuplicates();
    QVERIFY2(found.isEmpty(), qPrintable(found.join('\n')));
}

void TestWindow::nothingIsClippedOnTheStartPage()
{
    Bed bed;
    const QStringList found = checks::lasting([&] {
        return checks::clippedTexts(*bed.window) + checks::overlaps(*bed.window) +
               checks::paleTexts(*bed.window, bed.window->grab().toImage());
    });
    QVERIFY2(found.isEmpty(), qPrintable(found.join('\n')));
}

void TestWindow::nothingIsClippedInASmallWindow_data()
{
    QTest::addColumn<QString>("perspective");
    QTest::addColumn<QSize>("size");
    for (const QString& name : perspectiveNames())
        for (const QSize& size : {QSize(1000, 700), QSize(800, 480)})
            QTest::addRow("%s in %d x %d", qPrintable(name), size.width(), size.height()) << name << size;
}

void TestWindow::nothingIsClippedInASmallWindow()
{
    QFETCH(QString, perspective);
    QFETCH(QSize, size);
    Bed bed;
    bed.window->resize(size);
    QVERIFY(bed.open("chain3.pt"));
    bed.window->docks().setPerspective(perspective);
    QVERIFY(bed.run());
    bed.window->resize(size);
    QVERIFY2(bed::waitFor([&] { return bed.window->size() == size; }),
             qPrintable(QString("%1 x %2: ").arg(bed.window->width()).arg(bed.window->height()) +
                        bed::leastWidths(*bed.window)));
    const QStringList found =
        checks::lasting([&] { return checks::clippedTexts(*bed.window) + checks::overlaps(*bed.window); });
    QVERIFY2(found.isEmpty(), qPrintable(found.join(QStringLiteral("; "))));
}

void TestWindow::exportsAreWritten()
{
    Bed bed;
    QVERIFY(!bed.window->exportTo({"graph", bed.folder.filePath("g.svg")}, 0).isEmpty());
    QVERIFY(bed.open("chain3.pt"));
    QVERIFY(bed.run());
    for (const char* kind : {"graph=g.svg", "graph=g.pdf", "graph=g.png", "ops=ops.csv", "stages=stages.csv",
                             "trace=t.json", "report=r.json"}) {
        const QString text = QLatin1String(kind), file = bed.folder.filePath(text.section('=', 1));
        QCOMPARE(bed.window->exportTo({text.section('=', 0, 0), file}, 0), QString());
        QVERIFY2(QFileInfo(file).size() > 50, kind);
    }
    QVERIFY(!bed.window->exportTo({"ops", "/nowhere/at/all.csv"}, 0).isEmpty());
}

HOPSCOPE_QT_SUITE(window_window, TestWindow)
#include "test_window.moc"
