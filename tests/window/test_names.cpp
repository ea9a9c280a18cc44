// An operator has one name in the graph, the outline, the inspector and the plan: all operators of all samples.

#include <QLabel>
#include <QTest>
#include <QTreeView>

#include "bed.h"
#include "graphview/view/graph_view.h"
#include "models/labels.h"
#include "models/op_names.h"
#include "models/outline_model.h"
#include "support/qt_suites.h"

using namespace hopscope;
using bed::Bed;
using bed::child;

namespace {

// The tooltips of nodes that stand for one operator.
QMap<protocol::OpId, QString> namesInGraph(Bed& bed)
{
    QMap<protocol::OpId, QString> names;
    for (const graphview::VisibleNode& node : bed::view(bed).scene()->graph->nodes)
        if (node.ops.size() <= 1 && node.expands.isEmpty()) names[node.op] = node.tip;
    return names;
}

void addNames(QMap<protocol::OpId, QString>& names, const QAbstractItemModel& outline, const QModelIndex& parent)
{
    for (int row = 0; row < outline.rowCount(parent); ++row) {
        const QModelIndex index = outline.index(row, 0, parent);
        const auto target = index.data(models::TargetRole).value<models::Target>();
        if (target.kind == models::Target::Kind::Op) names[target.opId()] = index.data(Qt::ToolTipRole).toString();
        addNames(names, outline, index);
    }
}

QMap<protocol::OpId, QString> namesInOutline(Bed& bed)
{
    QMap<protocol::OpId, QString> names;
    addNames(names, *child<QTreeView>(*bed.window, "outlineTree")->model(), {});
    return names;
}

}  // namespace

class TestNames : public QObject {
    Q_OBJECT
private slots:
    void operatorsHaveTheSameNameEverywhere_data();
    void operatorsHaveTheSameNameEverywhere();
};

void TestNames::operatorsHaveTheSameNameEverywhere_data()
{
    QTest::addColumn<QString>("name");
    for (const char* name :
         {"karate/gcn.pt", "digits/gcn.pt", "digits/sage.pt", "digits/jknet.pt", "digits/gat.pt", "digits/residual.pt"})
        QTest::newRow(name) << name;
}

// Boxes of the graph and rows of the outline show a short word; their tooltips begin with the name.
void TestNames::operatorsHaveTheSameNameEverywhere()
{
    QFETCH(QString, name);
    Bed bed(bed::realSetup());
    const QString file = bed::sample(name);
    QVERIFY2(bed.open(file, {QFileInfo(file).path() + "/graph.safetensors"}),
             qPrintable(bed.window->banner().sentence()));
    const protocol::ModelRecord& model = *bed.window->document().model();
    bed.window->actionBook().find("graphEveryOperator")->trigger();
    bed.window->actionBook().find("graphExpandAll")->trigger();
    QVERIFY(bed::waitFor([&] { return bed.window->graph().layoutReady(); }));
    const QMap<protocol::OpId, QString> drawn = namesInGraph(bed), listed = namesInOutline(bed);
    QVERIFY2(drawn.size() > 10 && listed.size() > 10,
             qPrintable(QString("%1 %2").arg(drawn.size()).arg(listed.size())));
    QSet<QString> different;
    for (std::size_t at = 0; at < model.ops.size(); ++at) {
        const protocol::OpId op(at);
        if (!model.ops[op].computes()) continue;
        const QString full = models::opName(model, op);
        bed.window->selection().select(models::Target::op(op));
        QTRY_COMPARE(child<QLabel>(*bed.window, "inspectorTitle")->text(), full);
        for (const auto& tips : {drawn, listed})
            if (tips.contains(op)) QVERIFY2(tips[op].startsWith(full), qPrintable(tips[op] + " is the tip of " + full));
        QVERIFY2(!different.contains(full), qPrintable("two operators are called " + full));
        different << full;
    }
    for (const protocol::PlanCheckpoint& stored : bed.window->document().plan()->checkpoints)
        if (!stored.output)
            QCOMPARE(models::opName(model, model.values[stored.value].producer),
                     models::valueLabel(model, stored.value));
}

HOPSCOPE_QT_SUITE(window_names, TestNames)
#include "test_names.moc"
