#include <QAction>
#include <QDir>
#include <QImageReader>
#include <QLineEdit>
#include <QMenu>
#include <QSignalSpy>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>

#include "graphview/panel_bench.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::graphview;
using models::Target;
using plan::Pin;
using plan::PinKind;
using protocol::ValueId;

class GraphPanelTest : public QObject {
    Q_OBJECT
private slots:
    void aClickSelectsAndTheSelectionIsShown()
    {
        Bench bench;
        const int relu = bench.nth("relu", 1);
        bench.click(relu);
        QCOMPARE(bench.selection.current(), Target::op(bench.scene().graph->nodes[relu].op));
        QVERIFY(bench.view().state().selected[relu]);
        const int concat = bench.node("concat");
        bench.selection.select(Target::op(bench.scene().graph->nodes[concat].op));
        QVERIFY(bench.view().state().selected[concat]);
        QVERIFY(!bench.view().state().selected[relu]);
        QVERIFY(bench.view().accessibleDescription().startsWith(QLatin1String("concat")));
    }

    void aClickOnNothingClearsTheSelection()
    {
        Bench bench;
        bench.click(bench.node("concat"));
        QTest::mouseClick(&bench.view(), Qt::LeftButton, {}, QPoint(6, 700));
        QCOMPARE(bench.selection.current(), Target());
    }

    void arrowsWalkTheGraph()
    {
        Bench bench;
        const int concat = bench.node("concat");
        bench.click(concat);
        bench.press(Qt::Key_Down);
        QCOMPARE(bench.selection.current(), Target::op(bench.scene().graph->nodes[bench.node("lin")].op));
        bench.press(Qt::Key_Up);
        QCOMPARE(bench.selection.current(), Target::op(bench.scene().graph->nodes[concat].op));
        bench.press(Qt::Key_Up);
        QCOMPARE(bench.selection.current(), Target::op(bench.scene().graph->nodes[bench.nth("relu", 2)].op));
        bench.press(Qt::Key_Left, Qt::AltModifier);
        QCOMPARE(bench.selection.current(), Target::op(bench.scene().graph->nodes[concat].op));
        bench.press(Qt::Key_Right, Qt::AltModifier);
        QCOMPARE(bench.selection.current(), Target::op(bench.scene().graph->nodes[bench.nth("relu", 2)].op));
    }

    void closingAndOpeningAModuleKeepsItInPlace()
    {
        Bench bench;
        const std::size_t before = bench.scene().nodes.size();
        const auto frameTop = [&] {
            const QRectF& frame = bench.scene().frames[1];
            return bench.view().camera().toScreen(QPointF(frame.center().x(), frame.top()));
        };
        const QPointF top = frameTop();
        const QPointF title = bench.view().camera().toScreen(bench.scene().frames[1].topLeft()) + QPointF(30, 8);
        QTest::mouseDClick(&bench.view(), Qt::LeftButton, {}, title.toPoint());
        bench.settle();
        const int box = bench.scene().graph->nodeByKey(QStringLiteral("module:convs.1"));
        QVERIFY(box >= 0);
        QVERIFY(bench.scene().nodes.size() < before);
        const QRectF& rect = bench.scene().nodes[box];
        const QPointF closed = bench.view().camera().toScreen(QPointF(rect.center().x(), rect.top()));
        QVERIFY2(QLineF(top, closed).length() <= 1, qPrintable(QString::number(QLineF(top, closed).length())));
        const QPointF glyph = bench.view().camera().toScreen(expanderRect(rect).center());
        QTest::mouseClick(&bench.view(), Qt::LeftButton, {}, glyph.toPoint());
        bench.settle();
        QCOMPARE(bench.scene().nodes.size(), before);
        QVERIFY(QLineF(closed, frameTop()).length() <= 1);
    }

    void keysOpenAndCloseModules()
    {
        Bench bench;
        const std::size_t before = bench.scene().nodes.size();
        bench.click(bench.nth("gather source", 1));
        bench.press(Qt::Key_Minus);
        bench.settle();
        QVERIFY(bench.scene().graph->nodeByKey(QStringLiteral("module:convs.1")) >= 0);
        bench.selection.select(Target::moduleAt(QStringLiteral("convs.1")));
        bench.action("graphExpand")->trigger();
        bench.settle();
        QCOMPARE(bench.scene().nodes.size(), before);
    }

    void animationsEndWhereTheLayoutIs()
    {
        Bench bench;
        bench.panel.setReducedMotion(false);
        bench.click(bench.nth("gather source", 0));
        bench.press(Qt::Key_Minus);
        bench.settle();
        QVERIFY(bench.view().animating());
        QTRY_VERIFY(!bench.view().animating());
        const int box = bench.scene().graph->nodeByKey(QStringLiteral("module:convs.0"));
        QCOMPARE(bench.view().hitAt(bench.at(box)), (Hit{Hit::Kind::Node, box}));
    }

    void aDoubleClickOnAnEdgeCutsIt()
    {
        Bench bench;
        QSignalSpy pinned(&bench.panel, &GraphPanel::pinRequested);
        for (const SceneEdge& edge : bench.scene().edges) {
            if (edge.from != bench.nth("sum aggregation", 0)) continue;
            QTest::mouseDClick(&bench.view(), Qt::LeftButton, {}, pathPoint(bench, edge, 0.5));
            QCOMPARE(pinned.size(), 1);
            QCOMPARE(pinned[0][0].value<Pin>(), (Pin{PinKind::Checkpoint, edge.values.front()}));
            return;
        }
        QFAIL("no such edge");
    }

    void aCheckpointIsDraggedToAnotherNode()
    {
        Bench bench;
        QSignalSpy moved(&bench.panel, &GraphPanel::checkpointMoved);
        const SceneStore store = bench.scene().stores.front();
        const QPoint from = bench.view().camera().toScreen(store.rect.center()).toPoint();
        const int sum = bench.nth("sum aggregation", 0);
        QTest::mousePress(&bench.view(), Qt::LeftButton, {}, from);
        QTest::mouseMove(&bench.view(), from + QPoint(10, 10));
        QTest::mouseMove(&bench.view(), bench.at(sum));
        bench.view().grab();  // the ghost and its target are painted on the way
        QTest::mouseRelease(&bench.view(), Qt::LeftButton, {}, bench.at(sum));
        QCOMPARE(moved.size(), 1);
        QCOMPARE(moved[0][0].value<ValueId>(), store.value);
        const OpId op = bench.scene().graph->nodes[sum].op;
        QCOMPARE(moved[0][1].value<ValueId>(), bench.model->ops[op].outputs.front());
    }

    void aCheckpointDroppedOnNothingStays()
    {
        Bench bench;
        QSignalSpy moved(&bench.panel, &GraphPanel::checkpointMoved),
            help(&bench.panel, &GraphPanel::contextHelpRequested);
        const QPoint from = bench.view().camera().toScreen(bench.scene().stores.front().rect.center()).toPoint();
        QTest::mousePress(&bench.view(), Qt::LeftButton, {}, from);
        QTest::mouseMove(&bench.view(), QPoint(8, 600));
        QTest::mouseRelease(&bench.view(), Qt::LeftButton, {}, QPoint(8, 600));
        QCOMPARE(moved.size(), 0);
        QCOMPARE(help.size(), 1);
    }

    void keysPin_data()
    {
        QTest::addColumn<int>("key");
        QTest::addColumn<std::optional<PinKind>>("kind");
        QTest::newRow("S stores") << int(Qt::Key_S) << std::optional(PinKind::Checkpoint);
        QTest::newRow("N never stores") << int(Qt::Key_N) << std::optional(PinKind::NoCheckpoint);
        QTest::newRow("U lets the plan decide") << int(Qt::Key_U) << std::optional<PinKind>();
    }
    void keysPin()
    {
        QFETCH(int, key);
        QFETCH(std::optional<PinKind>, kind);
        Bench bench;
        QSignalSpy pinned(&bench.panel, &GraphPanel::pinRequested), unpinned(&bench.panel, &GraphPanel::unpinRequested);
        bench.click(bench.nth("relu", 0));
        bench.press(Qt::Key(key));
        QCOMPARE(pinned.size(), kind ? 1 : 0);
        QCOMPARE(unpinned.size(), kind ? 0 : 1);
        if (kind) QCOMPARE(pinned[0][0].value<Pin>(), (Pin{*kind, ValueId(30)}));
    }

    void deleteRemovesASelectedCheckpoint()
    {
        Bench bench;
        QSignalSpy pinned(&bench.panel, &GraphPanel::pinRequested);
        bench.press(Qt::Key_Delete);
        QCOMPARE(pinned.size(), 0);
        const SceneStore& store = bench.scene().stores.front();
        QTest::mouseClick(&bench.view(), Qt::LeftButton, {},
                          bench.view().camera().toScreen(store.rect.center()).toPoint());
        QCOMPARE(bench.selection.current(), Target::value(store.value));
        bench.press(Qt::Key_Delete);
        QCOMPARE(pinned.size(), 1);
        QCOMPARE(pinned[0][0].value<Pin>().kind, PinKind::NoCheckpoint);
    }

    void whatCannotBeStoredIsRefusedInWords()
    {
        Bench bench;
        QSignalSpy pinned(&bench.panel, &GraphPanel::pinRequested),
            help(&bench.panel, &GraphPanel::contextHelpRequested);
        bench.press(Qt::Key_S);
        bench.selection.select(Target::value(bench.model->findValue("v1")));  // edge_index
        bench.press(Qt::Key_S);
        QCOMPARE(pinned.size(), 0);
        QCOMPARE(help.size(), 2);
        QVERIFY(!help[1][0].toString().isEmpty());
    }

    void searchMarksAndWalksWhatItFinds()
    {
        Bench bench;
        bench.press(Qt::Key_F, Qt::ControlModifier);
        auto* field = bench.panel.findChild<QLineEdit*>("graphSearchField");
        QVERIFY(field->isVisible());
        QTest::keyClicks(field, "aten::relu");
        const auto& found = bench.view().state().found;
        QCOMPARE(std::count(found.begin(), found.end(), 1), 3);
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(bench.selection.current(), Target::op(bench.scene().graph->nodes[bench.nth("relu", 1)].op));
        QTest::keyClick(field, Qt::Key_Return, Qt::ShiftModifier);
        QCOMPARE(bench.selection.current(), Target::op(bench.scene().graph->nodes[bench.nth("relu", 0)].op));
        QTest::keyClick(field, Qt::Key_Escape);
        QVERIFY(!field->isVisible());
        QVERIFY(bench.view().state().found.empty());
    }

    void revealOpensWhatHidesAnOperator()
    {
        Bench bench;
        bench.action("graphCollapseAll")->trigger();
        bench.settle();
        const protocol::OpId op = bench.model->findOp("op32");
        bench.selection.reveal(Target::op(op));
        bench.settle();
        const int node = bench.scene().graph->nodeOf[op.at()];
        QCOMPARE(bench.scene().graph->nodes[node].op, op);
        QVERIFY(bench.view().rect().contains(bench.at(node)));
    }

    void theWheelZoomsAtThePointer()
    {
        Bench bench;
        const QPoint pointer = bench.at(bench.nth("relu", 1));
        const QPointF under = bench.view().camera().toScene(QPointF(pointer));
        const qreal before = bench.view().camera().scale;
        QWheelEvent wheel(pointer, bench.view().mapToGlobal(pointer), {}, {0, 240}, Qt::NoButton, Qt::NoModifier,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(&bench.view(), &wheel);
        QVERIFY(bench.view().camera().scale > 1.2 * before);
        QVERIFY(QLineF(bench.view().camera().toScreen(under), QPointF(pointer)).length() < 0.01);
        bench.press(Qt::Key_F);
        QVERIFY(bench.view().rect().contains(bench.at(bench.node("x"))));
        QVERIFY(bench.view().rect().contains(bench.at(bench.node("out"))));
    }

    void draggingPans()
    {
        Bench bench;
        const QPointF before = bench.view().camera().offset;
        QTest::mousePress(&bench.view(), Qt::LeftButton, {}, QPoint(40, 300));
        QTest::mouseMove(&bench.view(), QPoint(60, 330));
        QTest::mouseMove(&bench.view(), QPoint(90, 350));
        QTest::mouseRelease(&bench.view(), Qt::LeftButton, {}, QPoint(90, 350));
        QCOMPARE(bench.view().camera().offset - before, QPointF(50, 50));
        QCOMPARE(bench.selection.current(), Target());
    }

    void hoveringShowsTheCone()
    {
        Bench bench;
        QSignalSpy hovered(&bench.selection, &models::Selection::hoverChanged);
        QTest::mouseMove(&bench.view(), bench.at(bench.nth("gather source", 2)));
        QVERIFY(!hovered.isEmpty());
        const auto& cone = bench.view().state().cone;
        QCOMPARE(cone.size(), bench.scene().nodes.size());
        QVERIFY(cone[bench.nth("relu", 0)]);
        QVERIFY(cone[bench.node("out")]);
    }

    void bookmarksAreWalkedAndSaved()
    {
        Bench bench;
        for (const char* label : {"concat", "lin"}) {
            bench.click(bench.node(label));
            bench.press(Qt::Key_B, Qt::ControlModifier);
            QVERIFY(bench.view().state().bookmarked[bench.node(label)]);
        }
        const QByteArray state = bench.panel.saveView();
        bench.click(bench.nth("relu", 0));
        bench.press(Qt::Key_B);
        QCOMPARE(bench.selection.current(), Target::op(bench.scene().graph->nodes[bench.node("concat")].op));
        bench.press(Qt::Key_B);
        QCOMPARE(bench.selection.current(), Target::op(bench.scene().graph->nodes[bench.node("lin")].op));
        bench.press(Qt::Key_B, Qt::ControlModifier);
        QVERIFY(!bench.view().state().bookmarked[bench.node("lin")]);
        bench.panel.restoreView(state);
        bench.settle();
        QVERIFY(bench.view().state().bookmarked[bench.node("lin")]);
    }

    void theViewIsSavedAndRestored()
    {
        Bench bench;
        bench.click(bench.nth("gather source", 0));
        bench.press(Qt::Key_Minus);
        bench.settle();
        bench.panel.setColourMode(ColourMode::Kind);
        bench.view().viewport().setCamera({0.5, {120, 30}});
        const QByteArray state = bench.panel.saveView();
        const std::size_t nodes = bench.scene().nodes.size();
        Bench other;
        other.panel.restoreView(state);
        other.settle();
        QCOMPARE(other.scene().nodes.size(), nodes);
        QCOMPARE(other.panel.colourMode(), ColourMode::Kind);
        QCOMPARE(other.view().camera(), (Camera{0.5, {120, 30}}));
        QCOMPARE(other.panel.saveView(), state);
        other.panel.restoreView("not json");
        QCOMPARE(other.panel.saveView(), state);
    }

    void picturesAreReadable_data()
    {
        QTest::addColumn<QString>("suffix");
        for (const char* suffix : {"svg", "pdf", "png"}) QTest::newRow(suffix) << suffix;
    }
    void picturesAreReadable()
    {
        QFETCH(QString, suffix);
        Bench bench;
        QTemporaryDir folder;
        const QString file = folder.filePath("graph." + suffix);
        QCOMPARE(bench.panel.exportPicture(file, 3000), QString());
        QFile written(file);
        QVERIFY(written.open(QIODevice::ReadOnly));
        if (suffix == QLatin1String("svg")) {
            QSvgRenderer renderer(file);
            QVERIFY(renderer.isValid());
            QVERIFY(written.readAll().contains("sum aggregation"));
        } else if (suffix == QLatin1String("pdf")) {
            QVERIFY(written.readAll().startsWith("%PDF-"));
        } else {
            const QImage image(file);
            QVERIFY(std::abs(image.width() - 3000) <= 1);
            const QRectF area = bench.scene().bounds.adjusted(-120, 0, 20, 0);
            const qreal scale = image.width() / area.width();
            const QRectF& box = bench.scene().nodes[bench.node("concat")];
            const QPoint inside = ((QPointF(box.left() + 8, box.center().y()) - area.topLeft()) * scale).toPoint();
            QCOMPARE(QColor(image.pixel(inside)), bench.view().colouring().fill[bench.node("concat")]);
        }
    }

    void exportsThatCannotBeWrittenSayWhy()
    {
        Bench bench;
        QVERIFY(!bench.panel.exportPicture("picture.bmp").isEmpty());
        QVERIFY(!bench.panel.exportPicture("/no/such/folder/graph.svg").isEmpty());
        bench.document.setModel(nullptr);
        QVERIFY(!bench.panel.exportPicture(QDir::temp().filePath("graph.png")).isEmpty());
    }

    void everyActionIsNamedAndReachable()
    {
        Bench bench;
        QSet<QString> names, keys;
        for (QAction* action : bench.panel.viewActions()) {
            QVERIFY(!action->objectName().isEmpty() && !names.contains(action->objectName()));
            QVERIFY(!action->text().isEmpty());
            QVERIFY2(!action->toolTip().isEmpty(), qPrintable(action->objectName()));
            names << action->objectName();
            for (const QKeySequence& key : action->shortcuts()) {
                QVERIFY2(!keys.contains(key.toString()), qPrintable(key.toString()));
                keys << key.toString();
            }
        }
        for (QWidget* widget : bench.panel.findChildren<QToolButton*>()) QVERIFY(!widget->accessibleName().isEmpty());
        QVERIFY(!bench.action("graphColour_time")->isEnabled());
        QVERIFY(bench.action("graphColour_time")->toolTip().contains("run"));
    }

    void anotherPlanKeepsFoldAndCamera()
    {
        Bench bench;
        const int concat = bench.node("concat");
        bench.click(concat);
        const QPoint place = bench.at(concat);
        const qreal scale = bench.view().camera().scale;
        const std::size_t nodes = bench.scene().nodes.size();
        QSignalSpy laidOut(&bench.panel, &GraphPanel::layoutFinished);
        bench.document.setPlan(samples::depthPlan(bench.model));
        QTRY_COMPARE(laidOut.size(), 1);
        QCOMPARE(bench.scene().nodes.size(), nodes);
        QCOMPARE(bench.view().camera().scale, scale);
        QVERIFY((bench.at(bench.node("concat")) - place).manhattanLength() <= 1);  // below the pointer
    }

    void aLargeModelOpensFoldedAndUnfolds()
    {
        Bench bench(QStringLiteral("large"));
        QVERIFY(bench.scene().nodes.size() <= 60);
        bench.action("graphExpandAll")->trigger();
        bench.settle();
        QVERIFY(bench.scene().nodes.size() > 8000);
        bench.press(Qt::Key_F);
        QVERIFY(!bench.view().grab().isNull());
        bench.action("graphFoldLayers")->trigger();
        bench.settle();
        QVERIFY(bench.scene().nodes.size() <= 60);
    }

    void everyOperatorIsDrawnByItselfAndModulesOpenWithoutThePrologue()
    {
        Bench bench;
        const auto ofThePrologue = [&] {
            return std::ranges::count_if(bench.scene().graph->nodes,
                                         [](const VisibleNode& node) { return node.prologue && node.op.valid(); });
        };
        const auto closed = ofThePrologue();
        bench.action("graphExpandAll")->trigger();
        bench.settle();
        const std::size_t open = bench.scene().nodes.size();
        QCOMPARE(ofThePrologue(), closed);
        bench.action("graphEveryOperator")->trigger();
        bench.settle();
        QCOMPARE(bench.scene().nodes.size(), bench.model->ops.size());
        QVERIFY(ofThePrologue() > closed);
        bench.action("graphEveryOperator")->trigger();
        bench.settle();
        QCOMPARE(bench.scene().nodes.size(), open);
    }

    void theContextMenuStoresAndOpens()
    {
        Bench bench;
        QSignalSpy toggled(&bench.panel, &GraphPanel::pinToggled);
        const QPoint at = bench.at(bench.nth("relu", 0));
        QContextMenuEvent event(QContextMenuEvent::Mouse, at, bench.view().mapToGlobal(at));
        QApplication::sendEvent(&bench.view(), &event);
        auto* menu = bench.panel.findChild<QMenu*>("graphMenu");
        QVERIFY(menu);
        for (QAction* action : menu->actions())
            if (action->text() == QLatin1String("Never Store")) action->trigger();
        QCOMPARE(toggled.size(), 1);
        QCOMPARE(toggled[0][0].value<Pin>(), (Pin{PinKind::NoCheckpoint, ValueId(30)}));
        menu->close();
    }
};

HOPSCOPE_QT_SUITE(graph_panel, GraphPanelTest)
#include "test_graph_panel.moc"
