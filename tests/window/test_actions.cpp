// Every action of the window by keyboard alone: through the palette, by its shortcut and through the menus.

#include <QAction>
#include <QDialog>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <iterator>

#include "bed.h"
#include "command_palette.h"
#include "models/run_log.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::window;
using bed::Bed;

namespace {

QWidget* openDialog()
{
    for (QWidget* widget : QApplication::topLevelWidgets())
        if (widget->isVisible() && (qobject_cast<QDialog*>(widget) || qobject_cast<QMenu*>(widget))) return widget;
    return nullptr;
}

// Escape, until nothing is in front of the window.
bool dismissAll()
{
    for (int i = 0; i < 20; ++i) {
        QWidget* dialog = openDialog();
        if (!dialog) return true;
        QTest::keyClick(dialog, Qt::Key_Escape);
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        QCoreApplication::processEvents();
    }
    return false;
}

// The states in one of which each action makes sense.
enum class State { Idle, Paused, Changed, Finished, Start };
constexpr State states[] = {State::Idle, State::Changed, State::Paused, State::Finished, State::Start};

bool bring(Bed& bed, State state)
{
    jobs::Workbench& bench = bed.window->workbench();
    models::Document& document = bed.window->document();
    if (state == State::Start) {
        if (document.model()) bed.window->closeFile();
        return bed::waitFor([&] { return !document.model(); });
    }
    if (bench.running()) bench.stopRun();
    if (!bed::waitFor([&] { return !bench.running(); })) return false;
    if (!document.model() && !bed.open("chain3-skips.pt")) return false;
    if (!bed::waitFor([&] {
            return document.plan() && !bench.busy() && bed.window->engine().state() == jobs::EngineState::Ready;
        }))
        return false;
    const protocol::ModelRecord& model = *document.model();
    bed.window->selection().select(models::Target::op(model.findOp("op5")));
    bed.window->selection().select(models::Target::op(model.findOp("op7")));
    if (state == State::Changed) {
        bench.pin({base::PinKind::Checkpoint, protocol::ValueId(15)});
        bench.pin({base::PinKind::NoCheckpoint, protocol::ValueId(15)});
        bench.undoStack().undo();
        bed.window->selection().back();
    }
    if (state == State::Paused) bench.startRun(true);
    if (state == State::Finished && document.runs().empty()) bed.run();
    if (state != State::Paused) return bed::waitFor([&] { return !bench.busy(); });
    return bed::waitFor([&] { return document.runLog() && document.runLog()->state() == protocol::RunState::Paused; });
}

void reach(Bed& bed, State state)
{
    if (!bring(bed, state))
        QTest::qFail(qPrintable(QStringLiteral("state %1 was not reached").arg(static_cast<int>(state))), __FILE__,
                     __LINE__);
    bed::waitFor([] { return false; }, 30);  // actions are refreshed by a timer: not what the last state left
}

// On a slow machine each state may take longer until it shows.
bool makeEnabled(Bed& bed, const QAction* action)
{
    const auto within = [&](int milliseconds) {
        return std::ranges::any_of(states, [&](State state) {
            reach(bed, state);
            return bed::waitFor([&] { return action->isEnabled(); }, milliseconds);
        });
    };
    return within(150) || within(10'000);
}

// There is no window manager to give the keyboard back after a dialog.
void activate(QWidget& window)
{
    window.activateWindow();
    if (!QTest::qWaitForWindowActive(&window, 1000)) qInfo("the window is not active: keys may not reach it");
}

void type(QWidget& window, const QString& text)
{
    activate(window);
    QTest::keyClick(&window, Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    QWidget* palette = openDialog();
    auto* query = palette ? palette->findChild<QLineEdit*>(QStringLiteral("paletteQuery")) : nullptr;
    if (!query) return;
    QTest::keyClicks(query, text);
    QTest::keyClick(query, Qt::Key_Return);
}

// Triggers it through the palette; whether it did, once.
bool triggerByKeys(Bed& bed, QAction* action)
{
    QSignalSpy triggered(action, &QAction::triggered);
    type(*bed.window, ActionBook::groupOf(action) + ": " + plainText(action));
    const bool done = bed::waitFor([&] { return triggered.count() == 1; }, 1500);
    const bool dismissed = dismissAll();
    if (!bed.window->isVisible()) bed.window->show();
    return done && dismissed;
}

// State after state, those that make sense in it; what is left makes sense in none, or only for a moment.
QList<QAction*> triggerAll(Bed& bed, QList<QAction*> left, QStringList& missed)
{
    for (const State state : states) {
        reach(bed, state);
        QList<QAction*> enabled;
        std::ranges::copy_if(left, std::back_inserter(enabled), &QAction::isEnabled);
        for (QAction* action : enabled) {
            reach(bed, state);
            if (!action->isEnabled()) continue;
            left.removeOne(action);
            if (!triggerByKeys(bed, action)) missed.append(action->objectName());
        }
    }
    return left;
}

}  // namespace

class TestActions : public QObject {
    Q_OBJECT
private slots:
    void everyActionHasANameATextAndATip();
    void noKeyIsGivenTwice();
    void everyActionIsReachedThroughThePaletteByKeys();
    void theMenusAreWalkedByKeys();
    void panelsAreVisitedByKeys();
    void questionMarkShowsTheKeys();
};

void TestActions::everyActionHasANameATextAndATip()
{
    Bed bed;
    QSet<QString> names;
    for (const QAction* action : bed.window->actionBook().all()) {
        if (action->isSeparator()) continue;
        QVERIFY2(!action->objectName().isEmpty(), qPrintable(action->text()));
        QVERIFY2(!names.contains(action->objectName()), qPrintable(action->objectName()));
        names.insert(action->objectName());
        QVERIFY2(!plainText(action).isEmpty(), qPrintable(action->objectName()));
        QVERIFY2(!action->statusTip().isEmpty() || !action->toolTip().isEmpty(), qPrintable(action->objectName()));
    }
    QVERIFY(names.size() > 50);
}

void TestActions::noKeyIsGivenTwice()
{
    Bed bed;
    QMap<QString, QString> taken;
    for (const QAction* action : bed.window->actionBook().all()) {
        for (const QKeySequence& keys : action->shortcuts()) {
            const QString text = keys.toString();
            QVERIFY2(!taken.contains(text),
                     qPrintable(text + ": " + action->objectName() + " and " + taken.value(text)));
            taken[text] = action->objectName();
        }
    }
}

void TestActions::everyActionIsReachedThroughThePaletteByKeys()
{
    WindowSetup setup = bed::playedSetup();
    setup.unattended = true;  // no question whether to save, which would wait for an answer
    Bed bed(setup);
    QVERIFY(bed.open("chain3-skips.pt"));
    QList<QAction*> all;
    for (QAction* action : bed.window->actionBook().all())
        if (!action->isSeparator() && action->objectName() != u"file.quit") all.append(action);
    QStringList missed;
    for (QAction* action : triggerAll(bed, all, missed)) {
        if (!makeEnabled(bed, action)) missed.append(action->objectName() + " is never enabled");
        else if (!triggerByKeys(bed, action)) missed.append(action->objectName());
    }
    QVERIFY2(missed.isEmpty(), qPrintable(missed.join('\n')));
    QAction* quit = bed.window->actionBook().find("file.quit");
    QVERIFY(quit != nullptr);
    activate(*bed.window);
    QTest::keyClick(bed.window.get(), Qt::Key_Q, Qt::ControlModifier);
    QTRY_VERIFY(!bed.window->isVisible() || openDialog());
}

void TestActions::theMenusAreWalkedByKeys()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    QTest::keyClick(bed.window.get(), Qt::Key_F, Qt::AltModifier);
    auto* menu = bed.window->findChild<QMenu*>(QStringLiteral("menu.File"));
    QTRY_VERIFY(menu->isVisible());
    QStringList visited;
    for (int i = 0; i < 40; ++i) {
        QTest::keyClick(menu, Qt::Key_Down);
        if (menu->activeAction()) visited.append(menu->activeAction()->objectName());
    }
    for (const QAction* action : bed.window->actionBook().all())
        if (ActionBook::groupOf(action) == u"File" && action->isEnabled())
            QVERIFY2(visited.contains(action->objectName()), qPrintable(action->objectName()));
    QTest::keyClick(menu, Qt::Key_Right);
    QVERIFY(dismissAll());
}

void TestActions::panelsAreVisitedByKeys()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    bed.window->activateWindow();
    bed.window->graph().setFocus();
    QSet<QWidget*> visited;
    for (int i = 0; i < 6; ++i) {
        QTest::keyClick(bed.window.get(), Qt::Key_F6);
        for (QDockWidget* dock : bed.window->docks().all())
            if (dock->isAncestorOf(bed.window->focusWidget())) visited.insert(dock);
    }
    QVERIFY(visited.contains(bed.window->docks().dock("outline")));
    QVERIFY(visited.contains(bed.window->docks().dock("plan")));
}

void TestActions::questionMarkShowsTheKeys()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt"));
    QTest::keyClick(bed.window.get(), Qt::Key_Question, Qt::ShiftModifier);
    QTRY_VERIFY(openDialog() && openDialog()->objectName() == "keysOverview");
    QVERIFY(dismissAll());
}

HOPSCOPE_QT_SUITE(window_actions, TestActions)
#include "test_actions.moc"
