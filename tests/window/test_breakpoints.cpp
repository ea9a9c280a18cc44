// Breakpoints in the window: set, marked, kept in session files; with recorded answers of the engine.

#include <QComboBox>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include "bed.h"
#include "models/run_log.h"
#include "session.h"
#include "support/qt_suites.h"

using namespace hopscope;
using bed::Bed;
using bed::child;

class TestBreakpoints : public QObject {
    Q_OBJECT
private slots:
    void aBreakpointIsSetByKeyAndSeen();
    void boxesAndBandsSayThatABreakpointIsInside();
    void sessionsKeepBreakpoints();
    void breakpointsWithoutAPlaceAreNamedOnce();
    void aReloadedModelKeepsItsBreakpoints();
    void aMenuSetsConditions();

private:
    static void select(Bed& bed, const char* op)
    {
        bed.window->selection().select(models::Target::op(bed.window->document().model()->findOp(op)));
    }
};

void TestBreakpoints::aBreakpointIsSetByKeyAndSeen()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    const auto& breakpoints = bed.window->document().settings().breakpoints;
    bed.window->docks().bring("breakpoints");
    QTest::keyClick(bed.window.get(), Qt::Key_F7);
    QVERIFY(breakpoints.empty());
    select(bed, "op5");
    QTest::keyClick(bed.window.get(), Qt::Key_F7);
    QCOMPARE(breakpoints.size(), std::size_t{1});
    const auto marks = [&] {
        return std::ranges::count(bed::view(bed).state().breakpoints, graphview::BreakMark::Here);
    };
    bed.window->graph().findChild<QAction*>("graphExpandAll")->trigger();
    QTRY_VERIFY(bed.window->graph().layoutReady());
    QCOMPARE(marks(), 1);
    QCOMPARE(child<QListWidget>(*bed.window, "breakList")->count(), 1);
    bed.window->selection().select(models::Target::stage(protocol::StageId(2)));
    QTest::keyClick(bed.window.get(), Qt::Key_F7);
    QCOMPARE(child<QListWidget>(*bed.window, "breakList")->item(1)->text(), QString("Stage 2"));
    QVERIFY(marks() > 2);
    QTest::keyClick(bed.window.get(), Qt::Key_F7);
    QCOMPARE(marks(), 1);
    bed.window->actionBook().find("run.clearBreakpoints")->trigger();
    QVERIFY(breakpoints.empty());
    QCOMPARE(marks(), 0);
}

void TestBreakpoints::boxesAndBandsSayThatABreakpointIsInside()
{
    using graphview::BreakMark;
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    const auto* legend = child<QWidget>(bed.window->graph(), "graphLegend");
    const auto& state = bed::view(bed).state();
    const auto marks = [](const std::vector<BreakMark>& list, BreakMark mark) {
        return std::ranges::count(list, mark);
    };
    const auto legendSays = [&](const char* words) {
        return legend->accessibleDescription().split(", ").contains(QLatin1String(words));
    };
    QVERIFY(!legendSays("breakpoint") && !legendSays("breakpoint inside"));
    bed.window->graph().findChild<QAction*>("graphCollapseAll")->trigger();
    QTRY_VERIFY(bed.window->graph().layoutReady());
    select(bed, "op5");
    QTest::keyClick(bed.window.get(), Qt::Key_F7);
    QCOMPARE(marks(state.breakpoints, BreakMark::Inside), 1);
    QCOMPARE(marks(state.breakpoints, BreakMark::Here), 0);
    QCOMPARE(marks(state.bandBreakpoints, BreakMark::Inside), 1);
    QVERIFY(legendSays("breakpoint inside") && !legendSays("breakpoint"));
    const auto box = std::ranges::find(state.breakpoints, BreakMark::Inside) - state.breakpoints.begin();
    const graphview::Hit hit{graphview::Hit::Kind::Node, static_cast<int>(box)};
    QVERIFY(graphview::tipAt(*bed::view(bed).scene(), state, hit, {}).contains("Breakpoint: "));
    bed.window->graph().findChild<QAction*>("graphExpandAll")->trigger();
    QTRY_VERIFY(bed.window->graph().layoutReady());
    QTRY_COMPARE(marks(state.breakpoints, BreakMark::Here), 1);
    QCOMPARE(marks(state.breakpoints, BreakMark::Inside), 0);
    QVERIFY(legendSays("breakpoint"));
    bed.window->selection().select(models::Target::stage(protocol::StageId(2)));
    QTest::keyClick(bed.window.get(), Qt::Key_F7);
    QCOMPARE(marks(state.bandBreakpoints, BreakMark::Here), 1);
    bed.window->actionBook().find("run.clearBreakpoints")->trigger();
    QVERIFY(state.breakpoints.empty() && state.bandBreakpoints.empty());
    QVERIFY(!legendSays("breakpoint") && !legendSays("breakpoint inside"));
}

void TestBreakpoints::sessionsKeepBreakpoints()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    select(bed, "op5");
    QTest::keyClick(bed.window.get(), Qt::Key_F7);
    bed.window->selection().select(models::Target::stage(protocol::StageId(2)));
    QTest::keyClick(bed.window.get(), Qt::Key_F7);
    bed.window->docks().bring("breakpoints");
    child<QListWidget>(*bed.window, "breakList")->setCurrentRow(0);
    child<QComboBox>(*bed.window, "breakCondition")->setCurrentIndex(3);
    const auto before = bed.window->document().settings().breakpoints;
    QCOMPARE(before.size(), std::size_t{2});
    const QString file = bed.folder.filePath("kept.hopscope");
    QVERIFY(bed.window->keeper().save(file).has_value());
    bed.window->closeFile();
    QVERIFY(bed.window->document().settings().breakpoints.empty() || !bed.window->document().model());
    bed.window->openFile({file, {}, {}});
    QTRY_VERIFY(bed.window->document().plan() && !bed.window->workbench().busy());
    QVERIFY(bed.window->document().settings().breakpoints == before);
    QCOMPARE(child<QListWidget>(*bed.window, "breakList")->count(), 2);
    QVERIFY(!bed.window->keeper().modified());
    QVERIFY(!bed.window->banner().sentence().contains("Breakpoints"));
    bed.window->workbench().startRun();  // and they are sent
    QTRY_VERIFY(bed.window->document().runLog() && bed.window->document().runLog()->stop());
}

void TestBreakpoints::breakpointsWithoutAPlaceAreNamedOnce()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    window::Session session;
    session.model = "chain3.pt";
    session.data = QStringList{"graph.safetensors"};
    session.perspective = "analyse";
    const QString kept = models::placeText(*bed.window->document().model(),
                                           models::Target::op(bed.window->document().model()->findOp("op5")));
    session.breakpoints = {{"op5", kept, {}},
                           {"op5", "another operator", {}},
                           {"op999", "relu of old", {}},
                           {"stage 2", "Stage 2", {}},
                           {"stage 77", "Stage 77", {}}};
    const QString file = bed.folder.filePath("old.hopscope");
    QVERIFY(window::saveSession(session, file).has_value());
    bed.window->openFile({file, {}, {}});
    const auto& found = bed.window->document().settings().breakpoints;
    QTRY_VERIFY(bed.window->banner().sentence().contains("Stage 77"));
    QVERIFY(bed.window->banner().sentence().contains("another operator, relu of old, Stage 77"));
    QCOMPARE(found.size(), std::size_t{2});
    QCOMPARE(found.back().place, models::Target::stage(protocol::StageId(2)));
    QTest::mouseClick(bed.window->banner().findChildren<QPushButton*>().last(), Qt::LeftButton);
    QTRY_VERIFY(!bed.window->banner().sentence().contains("Stage 77"));
    bed.window->workbench().setStrategy(base::Strategy::Depth);
    QTRY_VERIFY(!bed.window->workbench().busy());
    QVERIFY(!bed.window->banner().sentence().contains("Breakpoints"));
}

void TestBreakpoints::aReloadedModelKeepsItsBreakpoints()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    select(bed, "op5");
    QTest::keyClick(bed.window.get(), Qt::Key_F7);
    QSignalSpy opened(&bed.window->workbench(), &jobs::Workbench::opened);
    bed.window->actionBook().find("file.reload")->trigger();
    QVERIFY(opened.wait(60'000));
    QCOMPARE(bed.window->document().settings().breakpoints.size(), std::size_t{1});
}

void TestBreakpoints::aMenuSetsConditions()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    bed.window->graph().findChild<QAction*>("graphExpandAll")->trigger();
    QTRY_VERIFY(bed.window->graph().layoutReady());
    select(bed, "op5");
    QContextMenuEvent event(QContextMenuEvent::Keyboard, {10, 10}, bed::view(bed).mapToGlobal(QPoint(10, 10)));
    QCoreApplication::sendEvent(&bed::view(bed), &event);
    auto* menu = child<QMenu>(bed.window->graph(), "graphBreakpoint");
    QVERIFY(menu);
    const auto choose = [&](const char* name) { child<QAction>(*menu, name)->trigger(); };
    QVERIFY(child<QAction>(*menu, "break.none")->isChecked());
    choose("break.nan");
    const auto& breakpoints = bed.window->document().settings().breakpoints;
    QCOMPARE(breakpoints.size(), std::size_t{1});
    QVERIFY(breakpoints.front().condition == models::BreakOn::NotFinite);
    choose("break.always");
    QCOMPARE(breakpoints.size(), std::size_t{1});
    QVERIFY(breakpoints.front().condition == models::BreakOn::Always);
    delete child<QMenu>(bed.window->graph(), "graphMenu");
}

HOPSCOPE_QT_SUITE(window_breakpoints, TestBreakpoints)
#include "test_breakpoints.moc"
