// Pins in the graph: what the menus offer, what is marked, and what a drag shows on its way.

#include <QContextMenuEvent>
#include <QMenu>
#include <QSignalSpy>

#include "graphview/panel_bench.h"
#include "graphview/scene/scene.h"
#include "graphview/view/cut_preview.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::graphview;
using plan::Pin;
using plan::PinKind;

namespace {

QMenu* menuAt(Bench& bench, QPoint at)
{
    delete bench.panel.findChild<QMenu*>("graphMenu");
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, bench.view().mapToGlobal(at));
    QApplication::sendEvent(&bench.view(), &event);
    return bench.panel.findChild<QMenu*>("graphMenu");
}

QAction* entry(const QMenu* menu, const char* name) { return menu->findChild<QAction*>(QLatin1String(name)); }

// The plan of now with pins, as the engine would hand it out.
models::PlanPtr pinned(const Bench& bench, std::vector<Pin> pins)
{
    auto plan = std::make_shared<protocol::PlanRecord>(*bench.plan);
    plan->pins = std::move(pins);
    return plan;
}

// The plan of now without its first checkpoint: what it feeds is computed in the stage before.
models::PlanPtr withoutFirstStore(const Bench& bench)
{
    auto plan = std::make_shared<protocol::PlanRecord>(*bench.plan);
    std::erase_if(plan->checkpoints,
                  [&](const auto& each) { return each.value == bench.plan->checkpoints.front().value; });
    plan->stages[0].steps.insert(plan->stages[0].steps.end(), plan->stages[1].steps.begin(),
                                 plan->stages[1].steps.end());
    plan->stages[1].steps.clear();
    plan->indexStages();
    return plan;
}

const SceneEdge* edgeInto(Bench& bench, int node)
{
    for (const SceneEdge& edge : bench.scene().edges)
        if (edge.to == node && !bench.scene().graph->nodes[edge.from].prologue) return &edge;
    return nullptr;
}

}  // namespace

class GraphCutsTest : public QObject {
    Q_OBJECT
private slots:
    void anOperatorsMenuOffersEveryPin()
    {
        Bench bench;
        const int gather = bench.nth("sum aggregation", 1);
        QMenu* menu = menuAt(bench, bench.at(gather));
        for (const char* name : {"pin.checkpoint", "pin.no_checkpoint", "pin.no_recompute", "pin.cut"})
            QVERIFY2(entry(menu, name) && entry(menu, name)->isEnabled(), name);
        const auto stages = static_cast<int>(bench.plan->stages.size());
        QVERIFY(entry(menu, qPrintable(QStringLiteral("pin.hop_stage.%1").arg(stages + 1))));
        QVERIFY(!entry(menu, qPrintable(QStringLiteral("pin.hop_stage.%1").arg(stages + 2))));
        QVERIFY(!entry(menu, "pin.hop_stage.2")->toolTip().isEmpty());
        menu->close();
    }

    void anEdgeIsCutOffByItsMenu()
    {
        Bench bench;
        QSignalSpy toggled(&bench.panel, &GraphPanel::pinToggled);
        const SceneEdge* edge = edgeInto(bench, bench.nth("sum aggregation", 1));
        QVERIFY(edge);
        QMenu* menu = menuAt(bench, pathPoint(bench, *edge, 0.5));
        QAction* cut = entry(menu, "pin.cut");
        QVERIFY(cut && !cut->isChecked());
        cut->trigger();
        QCOMPARE(toggled.size(), 1);
        const auto pin = toggled[0][0].value<Pin>();
        QCOMPARE(pin.kind, PinKind::Cut);
        QCOMPARE(pin.value, edge->values.front());
        QVERIFY(bench.model->values.contains(pin.consumer));
        menu->close();
    }

    void whatIsPinnedIsCheckedAndMarked()
    {
        Bench bench;
        const int hop = bench.nth("sum aggregation", 1);
        const SceneEdge* edge = edgeInto(bench, hop);
        const protocol::ValueId made = bench.model->ops[bench.scene().graph->nodes[hop].op].outputs.front();
        const std::vector<Pin> pins{{PinKind::HopStage, made, {}, plan::StageId(2)},
                                    {PinKind::Cut, edge->values.front(), made}};
        models::Settings settings;
        settings.pins = pins;
        bench.document.setSettings(settings);
        bench.document.setPlan(pinned(bench, pins));
        bench.settle();
        QVERIFY(bench.scene().pins[hop].contains("in stage 2"));
        QVERIFY(edgeInto(bench, hop)->pins.contains("from a store"));
        QMenu* menu = menuAt(bench, bench.at(hop));
        QVERIFY(entry(menu, "pin.hop_stage.2")->isChecked());
        QVERIFY(!entry(menu, "pin.hop_stage.1")->isChecked());
        QVERIFY(bench.panel.faults().isEmpty());
        bench.view().grab();
        menu->close();
    }

    void aRulesMenuSaysThatThePlanWouldChange()
    {
        Bench bench;
        models::Settings settings;
        settings.strategy = base::Strategy::Depth;
        bench.document.setSettings(settings);
        QMenu* menu = menuAt(bench, bench.at(bench.nth("sum aggregation", 1)));
        QVERIFY(entry(menu, "pin.no_recompute")->toolTip().contains("optimal plan around your pins"));
        QVERIFY(!entry(menu, "pin.checkpoint")->toolTip().contains("optimum"));
        menu->close();
    }

    void aDragTellsWhereItIsAndShowsWhatWouldFollow()
    {
        Bench bench;
        QSignalSpy over(&bench.panel, &GraphPanel::checkpointDragged), ended(&bench.panel, &GraphPanel::dragEnded),
            moved(&bench.panel, &GraphPanel::checkpointMoved);
        const QPoint from = bench.view().camera().toScreen(bench.scene().stores.front().rect.center()).toPoint();
        const int sum = bench.nth("sum aggregation", 0);
        QTest::mousePress(&bench.view(), Qt::LeftButton, {}, from);
        QTest::mouseMove(&bench.view(), bench.at(sum));
        QTest::mouseMove(&bench.view(), bench.at(sum) + QPoint(3, 1));
        QCOMPARE(over.size(), 1);
        const QImage before = bench.view().grab().toImage();
        bench.document.setPreview({withoutFirstStore(bench), {}});
        QTRY_VERIFY(bench.view().grab().toImage() != before);
        QVERIFY(QTest::qWaitFor([&] { return bench.view().colouring().fill.size() == bench.scene().nodes.size(); },
                                60'000));
        const qsizetype ends = ended.size();
        QTest::keyClick(&bench.view(), Qt::Key_Escape);
        QCOMPARE(ended.size(), ends + 1);
        bench.document.setPreview({});
        QTest::mouseRelease(&bench.view(), Qt::LeftButton, {}, bench.at(sum));
        QCOMPARE(moved.size(), 0);
    }

    void aPreviewMovesNothing()
    {
        Bench bench;
        const ScenePtr preview = previewScene(bench.scene(), *bench.model, *withoutFirstStore(bench));
        QCOMPARE(preview->nodes, bench.scene().nodes);
        QVERIFY(preview->stores.size() < bench.scene().stores.size());
        QVERIFY(std::ranges::any_of(preview->moved, &StageId::valid));
        const auto cuts = [](const Scene& scene) { return std::ranges::count_if(scene.edges, &SceneEdge::cut); };
        QVERIFY(cuts(*preview) < cuts(bench.scene()));
    }

    void whatAPreviewStoresAnewIsWhereItIsMade()
    {
        Bench bench;
        auto moved = std::make_shared<protocol::PlanRecord>(*bench.plan);
        const int aggregation = bench.node("sum aggregation");
        QVERIFY(aggregation >= 0);
        const auto& made = bench.model->ops[bench.scene().graph->nodes[aggregation].op];
        for (protocol::PlanCheckpoint& checkpoint : moved->checkpoints)
            if (!checkpoint.output && checkpoint.stage.number == 1) checkpoint.value = made.outputs.front();
        const ScenePtr preview = previewScene(bench.scene(), *bench.model, *moved);
        const auto store = std::ranges::find(preview->stores, made.outputs.front(), &SceneStore::value);
        QVERIFY(store != preview->stores.end());
        const qreal below = store->rect.center().y() - preview->nodes[aggregation].bottom();
        QVERIFY2(below > 0 && below < 40, qPrintable(QString("%1 below its node").arg(below)));
    }

    void aCutEdgeSaysWhatIsReadAlongIt()
    {
        Bench bench;
        auto plan = std::make_shared<protocol::PlanRecord>(*bench.plan);
        std::vector<const SceneEdge*> edges;
        const auto sharedBy = [&](ValueId value) {
            edges.clear();
            for (const SceneEdge& edge : bench.scene().edges)
                if (edge.cut && edge.stored == value) edges.push_back(&edge);
            return edges.size() > 1;
        };
        const auto& stores = bench.scene().stores;
        const auto shared =
            std::ranges::find_if(stores, [&](const SceneStore& store) { return sharedBy(store.value); });
        QVERIFY2(shared != stores.end(), "no value is read by two stages");
        plan->predicted.emplace();
        for (const protocol::PlanStage& stage : plan->stages) {
            plan->predicted->stages.emplace_back().index = stage.index;
            plan->predicted->stages.back().reads = {{shared->value, stage.index.number << 20}};
        }
        const ScenePtr scene = previewScene(bench.scene(), *bench.model, *plan);
        QStringList labels;
        for (const SceneEdge* edge : edges) {
            const SceneEdge& same = scene->edges[static_cast<std::size_t>(edge - bench.scene().edges.data())];
            labels << same.bytes;
            QCOMPARE(same.bytes, QString("%1.0 MiB").arg(scene->staging.stage[edge->to].number));
        }
        QVERIFY2(labels.removeDuplicates() + labels.size() > 1, qPrintable(labels.join(", ")));
    }

    void anotherPlanIsSeenBesideThisOne()
    {
        Bench bench;
        bench.document.setReference(base::Strategy::Depth, samples::depthPlan(bench.model));
        auto* other = bench.panel.findChild<GraphView*>("graphOther");
        QVERIFY(!other->isVisible());
        bench.action("graphCompareDepth")->trigger();
        QTRY_VERIFY(other->isVisible() && other->scene());
        QCOMPARE(other->scene()->nodes, bench.scene().nodes);
        QVERIFY(other->scene()->moved.size() == bench.scene().nodes.size());
        QCOMPARE(other->colouring().fill.size(), bench.scene().nodes.size());
        bench.view().viewport().zoomBy(1.3);
        QCOMPARE(other->camera(), bench.view().camera());
        other->viewport().zoomBy(0.7);
        QCOMPARE(other->camera(), bench.view().camera());
        const int concat = bench.node("concat");
        QTest::mouseClick(other, Qt::LeftButton, {}, bench.at(concat));
        QCOMPARE(bench.selection.current(), models::Target::op(bench.scene().graph->nodes[concat].op));
        bench.action("graphCompareNothing")->trigger();
        QVERIFY(!other->isVisible());
    }

    void aPreviewSaysWhatItCosts()
    {
        protocol::PlanRecord now, then;
        now.stages.resize(2), then.stages.resize(3);
        QCOMPARE(previewText(now, then), QString("3 stages instead of 2"));
        now.predicted.emplace(), then.predicted.emplace();
        now.predicted->d2h = 1 << 20, then.predicted->d2h = 3 << 20;
        now.predicted->seconds = 0.004, then.predicted->seconds = 0.003;
        const QString text = previewText(now, then);
        QVERIFY2(text.startsWith(QString::fromUtf8("About 3.0 ms (\u22121.0 ms), moves 3.0 MiB (+2.0 MiB)\n")),
                 qPrintable(text));
    }

    void aPlanWithTheSameCutsLeavesThePictureAlone()
    {
        Bench bench;
        const ScenePtr before = bench.view().scene();
        auto again = std::make_shared<protocol::PlanRecord>(*bench.plan);
        again->gap = 0.5;
        bench.document.setPlan(again);
        QVERIFY(bench.panel.layoutReady());
        QCOMPARE(bench.view().scene(), before);
    }
};

HOPSCOPE_QT_SUITE(graph_cuts, GraphCutsTest)
#include "test_graph_cuts.moc"
