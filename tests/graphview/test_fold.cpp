#include <QTest>

#include "graphview/fold/fold.h"
#include "graphview/fold/strong_components.h"
#include "graphview/fold/words.h"
#include "graphview/graph_samples.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::graphview;

namespace {

QStringList labels(const VisibleGraph& graph)
{
    QStringList all;
    for (const VisibleNode& node : graph.nodes) all << node.label;
    return all;
}

bool acyclic(const VisibleGraph& graph)
{
    std::vector<std::pair<int, int>> edges;
    for (const VisibleEdge& edge : graph.edges) edges.emplace_back(edge.from, edge.to);
    const auto components = strongComponents(static_cast<int>(graph.nodes.size()), edges);
    return std::set<int>(components.begin(), components.end()).size() == graph.nodes.size();
}

// Every operator is shown by the node that lists it, and by no other.
void checkOwners(const protocol::ModelRecord& model, const VisibleGraph& graph)
{
    std::size_t shown = 0;
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
        shown += graph.nodes[node].ops.size();
        for (const OpId op : graph.nodes[node].ops) QCOMPARE(graph.nodeOf[op], static_cast<int>(node));
    }
    const auto hidden = std::count(graph.nodeOf.begin(), graph.nodeOf.end(), -1);
    QCOMPARE(shown + hidden, model.ops.size());
}

}  // namespace

class FoldTest : public QObject {
    Q_OBJECT
private slots:
    void aSmallModelShowsWhatItsLayersDo()
    {
        const auto model = samples::layeredModel(3, false);
        const FoldModel fold = prepareFold(*model);
        const VisibleGraph graph = visibleGraph(fold, initialFold(fold));
        const QStringList all = labels(graph);
        QCOMPARE(all.count(QStringLiteral("gather source")), 3);
        QCOMPARE(all.count(QStringLiteral("sum aggregation")), 3);
        QCOMPARE(all.count(QStringLiteral("lin \u00d7 norm")), 3);
        QCOMPARE(all.count(QStringLiteral("relu")), 3);
        QVERIFY(all.contains(QStringLiteral("x")));
        QVERIFY(all.contains(QStringLiteral("out")));
        QCOMPARE(graph.frames.size(), std::size_t(3));
    }

    void structureIsAPrologueAndItsUsesAreStubs()
    {
        const auto model = samples::layeredModel(3, false);
        const FoldModel fold = prepareFold(*model);
        const VisibleGraph graph = visibleGraph(fold, initialFold(fold));
        const int box = graph.nodeByKey(QStringLiteral("structure:convs.0"));
        QVERIFY(box >= 0);
        QVERIFY(graph.nodes[box].prologue);
        for (const VisibleEdge& edge : graph.edges)
            QCOMPARE(graph.nodes[edge.from].prologue, graph.nodes[edge.to].prologue);
        int norm = 0, edges = 0;
        for (const Stub& stub : graph.stubs) {
            QCOMPARE(stub.source, box);
            norm += stub.label == QLatin1String("norm");
            edges += stub.label == QLatin1String("edge_index");
        }
        QCOMPARE(norm, 3);
        QCOMPARE(edges, 6);  // gather and sum of every layer
    }

    void parametersAreNoNodes()
    {
        const auto model = samples::layeredModel(2, false);
        const FoldModel fold = prepareFold(*model);
        for (const QString& label : labels(visibleGraph(fold, fullyExpanded(fold))))
            QVERIFY(!label.contains(QLatin1String("weight")));
    }

    void folding_data()
    {
        QTest::addColumn<int>("layers");
        QTest::addColumn<bool>("skips");
        QTest::addColumn<QString>("state");
        for (int layers : {1, 3, 64})
            for (bool skips : {false, true})
                for (const char* state : {"initial", "closed", "open", "every operator"})
                    QTest::addRow("%d layers %d %s", layers, skips, state)
                        << layers << skips << QString::fromLatin1(state);
    }
    void folding()
    {
        QFETCH(int, layers);
        QFETCH(bool, skips);
        QFETCH(QString, state);
        const auto model = samples::layeredModel(layers, skips);
        const FoldModel fold = prepareFold(*model);
        FoldState fold_state = state == QLatin1String("initial")  ? initialFold(fold)
                               : state == QLatin1String("closed") ? FoldState{}
                                                                  : fullyExpanded(fold);
        fold_state.everyOperator = state == QLatin1String("every operator");
        const VisibleGraph graph = visibleGraph(fold, fold_state);
        QVERIFY(acyclic(graph));
        checkOwners(*model, graph);
        if (fold_state.everyOperator) QCOMPARE(graph.nodes.size(), model->ops.size());
    }

    // The layers call for a relu of their parent between them: closing all of them must not make a loop.
    void aClosedContainerTakesInWhatLiesBetweenItsLayers()
    {
        const auto model = samples::layeredModel(4, false);
        const FoldModel fold = prepareFold(*model);
        const VisibleGraph graph = visibleGraph(fold, {});
        const int box = graph.nodeByKey(QStringLiteral("module:convs"));
        QVERIFY(box >= 0);
        int relus = 0;
        for (const OpId op : graph.nodes[box].ops) relus += model->ops[op].name == "aten::relu";
        QCOMPARE(relus, 3);  // the last one is behind the box
    }

    void repeatedLayersOfALongModelAreOneBox()
    {
        const auto model = samples::layeredModel(64, false);
        const FoldModel fold = prepareFold(*model);
        const VisibleGraph graph = visibleGraph(fold, initialFold(fold));
        QVERIFY2(graph.nodes.size() <= 60, qPrintable(QString::number(graph.nodes.size())));
        const auto run =
            std::find_if(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) { return node.repeat > 1; });
        QVERIFY(run != graph.nodes.end());
        QCOMPARE(run->repeat, 64);
        QVERIFY(run->detail.contains(QLatin1String("identical")));
    }

    void equalBlocksOfASmallModelAreOneBoxThatCountsThem()
    {
        const auto model = samples::layeredModel(40, false);
        const FoldModel fold = prepareFold(*model);
        const VisibleGraph graph = visibleGraph(fold, initialFold(fold));
        QVERIFY2(graph.nodes.size() <= 8, qPrintable(labels(graph).join(QLatin1Char('|'))));
        const int box = graph.nodeByKey(QStringLiteral("module:convs.[0\u201339]"));
        QVERIFY(box >= 0);
        QCOMPARE(graph.nodes[box].label, QStringLiteral("convs 0\u201339 \u00d740"));
        QCOMPARE(graph.nodes[box].repeat, 40);
    }

    // A row of boxes that look the same says less than one.
    void aRunIsOpenedWithAllThatIsInItOrNotAtAll()
    {
        const auto repeats = [](int layers) {
            const auto model = samples::layeredModel(layers, false);
            const FoldModel fold = prepareFold(*model);
            const VisibleGraph graph = visibleGraph(fold, initialFold(fold));
            int closed = 0, run = 0;
            for (const VisibleNode& node : graph.nodes) {
                closed += node.shape == Shape::Module && node.repeat == 1 ? 1 : 0;
                run += node.repeat > 1 ? 1 : 0;
            }
            return std::pair(run, closed);
        };
        QCOMPARE(repeats(10), std::pair(0, 0));  // 52 nodes
        QCOMPARE(repeats(20), std::pair(1, 0));  // would be 102
    }

    void aBoxSaysWhatElseIsInIt()
    {
        samples::ModelWriter writer;
        int h = writer.input("x");
        for (const std::string layer : {"0", "1", "2"}) {
            h = writer.op(protocol::NodeKind::Rowwise, "aten::layer_norm", "norms." + layer, "LayerNorm", {h});
            h = writer.op(protocol::NodeKind::Rowwise, "aten::relu", "convs." + layer, "Conv", {h});
            h = writer.op(protocol::NodeKind::Rowwise, "aten::tanh", "convs." + layer, "Conv", {h});
        }
        writer.output(h);
        const auto model = writer.finish();
        const VisibleGraph graph = visibleGraph(prepareFold(*model), {});
        const auto box = std::ranges::find(graph.nodes, Shape::Module, &VisibleNode::shape);
        QVERIFY(box != graph.nodes.end());
        QCOMPARE(box->label, QStringLiteral("convs and 1 more"));
        QCOMPARE(box->detail, QStringLiteral("9 ops"));
        QVERIFY2(box->tip.startsWith(QStringLiteral("9 operators; double-click to expand\n")), qPrintable(box->tip));
        QCOMPARE(operatorsText(1), QStringLiteral("1 operator"));
    }

    void aLargeModelOpensWithItsTopModules()
    {
        const auto model = samples::largeModel(10'000);
        QVERIFY(model->ops.size() >= 10'000);
        const FoldModel fold = prepareFold(*model);
        QVERIFY(fold.tree.modules.size() >= 500);
        const VisibleGraph graph = visibleGraph(fold, initialFold(fold));
        QVERIFY2(graph.nodes.size() <= 60, qPrintable(QString::number(graph.nodes.size())));
        checkOwners(*model, graph);
    }

    void lessIsOpenedWhereItWouldNotFitOnTheScreen()
    {
        const auto model = samples::layeredModel(3, false);
        const FoldModel fold = prepareFold(*model);
        const auto count = [&](int longest) { return visibleGraph(fold, initialFold(fold, 60, longest)).nodes.size(); };
        const auto all = visibleGraph(fold, initialFold(fold)).nodes.size();
        QCOMPARE(count(1000), all);
        QVERIFY2(count(10) < all, qPrintable(QString::number(count(10))));
        QCOMPARE(count(1), all);  // nothing would help
    }

    void openingAndClosingAModuleLeavesTheRestAlone()
    {
        const auto model = samples::layeredModel(3, false);
        const FoldModel fold = prepareFold(*model);
        FoldState state = initialFold(fold);
        const VisibleGraph open = visibleGraph(fold, state);
        state.expanded.remove(QStringLiteral("convs.1"));
        const VisibleGraph closed = visibleGraph(fold, state);
        QCOMPARE(closed.nodes.size(), open.nodes.size() - 3);  // four nodes become one box
        const int box = closed.nodeByKey(QStringLiteral("module:convs.1"));
        QVERIFY(box >= 0);
        QCOMPARE(
            enclosing(
                fold, initialFold(fold),
                open.nodes[open.nodeByKey(closed.nodes[box].ops.empty()
                                              ? QString()
                                              : QString::fromStdString(model->ops[closed.nodes[box].ops.front()].id))]),
            QStringLiteral("convs.1"));
        state.expanded.insert(QStringLiteral("convs.1"));
        QCOMPARE(labels(visibleGraph(fold, state)), labels(open));
    }

    void framesAreConvex()
    {
        // a.1 -> b -> a.2: the module `a` cannot be drawn as one box around its operators.
        samples::ModelWriter writer;
        const int x = writer.input("x");
        const int first = writer.op(protocol::NodeKind::Rowwise, "aten::relu", "a", "A", {x});
        const int between = writer.op(protocol::NodeKind::Rowwise, "aten::tanh", "", "", {first});
        writer.output(writer.op(protocol::NodeKind::Rowwise, "aten::sigmoid", "a", "A", {between}));
        const auto model = writer.finish();
        const FoldModel fold = prepareFold(*model);
        const VisibleGraph graph = visibleGraph(fold, fullyExpanded(fold));
        QVERIFY(graph.frames.empty());
        QCOMPARE(graph.nodes.size(), std::size_t(5));
    }

    void whatHasManyUsesIsAStub()
    {
        samples::ModelWriter writer;
        const int weight = writer.input("edge_weight");
        int h = writer.input("x");
        for (int i = 0; i < 8; ++i) h = writer.op(protocol::NodeKind::Rowwise, "aten::mul.Tensor", "", "", {h, weight});
        writer.output(h);
        const auto model = writer.finish();
        const FoldModel fold = prepareFold(*model);
        const VisibleGraph graph = visibleGraph(fold, {});
        QCOMPARE(graph.stubs.size(), std::size_t(8));
        QCOMPARE(graph.stubs.front().label, QStringLiteral("edge_weight"));
    }

    void modulesWithNumbersForNamesSayWhatTheyAre()
    {
        samples::ModelWriter writer;
        int h = writer.input("x");
        h = writer.op(protocol::NodeKind::Rowwise, "aten::linear", "mlp.0", "Linear", {h});
        h = writer.op(protocol::NodeKind::Rowwise, "aten::relu", "mlp.1", "ReLU", {h});
        h = writer.op(protocol::NodeKind::Rowwise, "aten::linear", "mlp.2", "Linear", {h});
        writer.output(h);
        const auto model = writer.finish();
        const FoldModel fold = prepareFold(*model);
        const QStringList all = labels(visibleGraph(fold, fullyExpanded(fold)));
        for (const char* label : {"Linear mlp.0", "ReLU mlp.1", "Linear mlp.2"})
            QVERIFY2(all.contains(QLatin1String(label)), qPrintable(all.join(u'|')));
    }

    void realModels_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QStringList>("expected");
        QTest::newRow("jknet")
            << "jknet"
            << QStringList{"lin \u00d7 norm", "gather source", "add \u00d7 norm + bias", "relu", "concat", "lin"};
        QTest::newRow("gat") << "gat"
                             << QStringList{"gather source", "gather destination", "leaky relu",
                                            "sum aggregation + bias"};
    }
    void realModels()
    {
        QFETCH(QString, name);
        QFETCH(QStringList, expected);
        const auto model = samples::readModelFile(QStringLiteral(GRAPH_DATA "/%1.inspect.json").arg(name));
        QVERIFY(model);
        const FoldModel fold = prepareFold(*model);
        const VisibleGraph graph = visibleGraph(fold, initialFold(fold));
        for (const QString& label : expected) QVERIFY2(labels(graph).contains(label), qPrintable(label));
        QVERIFY(acyclic(graph));
        checkOwners(*model, graph);
    }
};

HOPSCOPE_QT_SUITE(fold, FoldTest)
#include "test_fold.moc"
