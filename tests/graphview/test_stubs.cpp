// Labels of stubs: beside a node, or over it where a neighbour is near.

#include <QTest>

#include "graphview/graph_samples.h"
#include "graphview/scene/check_geometry.h"
#include "graphview/scene/scene_builder.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::graphview;

namespace {

using Place = std::function<QRectF(const VisibleNode&, const QSizeF&)>;

// The scene of all operators, each where `place` puts it.
ScenePtr sceneOf(const models::ModelPtr& model, const Place& place)
{
    const FoldModel fold = prepareFold(*model);
    const auto graph = std::make_shared<const VisibleGraph>(visibleGraph(fold, fullyExpanded(fold)));
    SceneMemory memory;
    SceneInput input{
        .graph = graph, .sizes = nodeSizes(*graph, memory.texts), .arranged = {}, .model = model.get(), .stop = {}};
    for (std::size_t at = 0; at < graph->nodes.size(); ++at)
        input.arranged.push_back(place(graph->nodes[at], input.sizes[at]));
    return buildScene(std::move(input));
}

}  // namespace

class StubsTest : public QObject {
    Q_OBJECT
private slots:
    void aLabelIsLegibleBesideANearNeighbour()
    {
        qreal x = 0;
        const ScenePtr scene = sceneOf(samples::layeredModel(1, false), [&x](const VisibleNode&, const QSizeF& size) {
            return QRectF(QPointF(std::exchange(x, x + size.width() + 12), 200), size);
        });
        QVERIFY(!scene->stubs.empty());
        for (const SceneStub& stub : scene->stubs) {
            QVERIFY2(QString(stub.text).remove(QChar(0x2026)).size() >= 3, qPrintable(stub.text));
            QCOMPARE(scene->nodeIndex.count(stub.textRect, 1), 0);
        }
    }

    void aLabelOverANodeLeavesTheEndsOfItsEdgesFree_data()
    {
        QTest::addColumn<qreal>("aside");
        QTest::addRow("an edge from the left") << qreal(-150);
        QTest::addRow("an edge from the right") << qreal(150);
    }
    // Another edge comes from straight above, and a neighbour leaves no room for the label on the left.
    void aLabelOverANodeLeavesTheEndsOfItsEdgesFree()
    {
        QFETCH(qreal, aside);
        samples::ModelWriter writer;
        const int x = writer.input("x"), weight = writer.input("weight"),
                  index = writer.input("edge_index_of_all", true);
        writer.output(writer.op(protocol::NodeKind::Rowwise, "aten::relu", "", "", {x}));
        writer.output(writer.op(protocol::NodeKind::Rowwise, "aten::add.Tensor", "", "", {x, weight, index}));
        const models::ModelPtr model = writer.finish();
        const QMap<QString, QPointF> centres{
            {"x", {400 + aside, 0}}, {"weight", {400, 0}}, {"add", {400, 100}}, {"relu", {400 - 120, 100}}};
        const ScenePtr scene = sceneOf(model, [&](const VisibleNode& node, const QSizeF& size) {
            QRectF box({}, size);
            box.moveCenter(centres.value(node.label, {900, 300}));
            return box;
        });
        QVERIFY(std::ranges::any_of(scene->stubs, [&](const SceneStub& stub) {
            return scene->graph->nodes[stub.node].label == "add" &&
                   stub.textRect.bottom() < scene->nodes[stub.node].top();
        }));
        const style::Theme theme = style::loadTheme(style::Mode::Light);
        const ColourData data{model.get(), nullptr, nullptr};
        const QStringList faults = checkGeometry(*scene, colourNodes(*scene, ColourMode::Depth, data, theme), theme);
        QVERIFY2(faults.filter("covers the end of an edge").isEmpty(), qPrintable(faults.join("; ")));
    }
};

HOPSCOPE_QT_SUITE(stubs, StubsTest)
#include "test_stubs.moc"
