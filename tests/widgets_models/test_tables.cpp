#include <QAbstractItemModelTester>
#include <QTest>

#include "models/checkpoint_model.h"
#include "models/front.h"
#include "models/labels.h"
#include "models/op_names.h"
#include "models/outline_model.h"
#include "models/problem_model.h"
#include "models/run_log.h"
#include "models/run_model.h"
#include "models/selection.h"
#include "models/stage_model.h"
#include "support/qt_suites.h"
#include "widgets_models/drawn_model.h"

using namespace hopscope;
using models::Target;

class TestTables : public QObject {
    Q_OBJECT
private slots:
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral("."))); }

    void operatorsAreNamedByWhatTheyDo_data();
    void operatorsAreNamedByWhatTheyDo();
    void valuesAreNamedByTheModuleThatMakesThem();
    void shapesShowTheSizesOfTablesWhereTheyAreKnown();
    void checkpointsAreThoseOfThePlan();
    void forbiddenValuesAreListedUntilTheirPinIsGone();
    void stagesCountTheirDistinctOperatorsAndValues();
    void measuredSecondsComeFromTheRunBeforeTheReport();
    void theTreeHasEveryOperatorOnceAsALeaf();
    void theTreeFoldsStructureAwayAndShowsTheLargestDepth();
    void aSearchKeepsAncestorsOfWhatItFinds();
    void aSearchFindsByEveryWord();
    void problemsPutTheRefusalFirst();
    void runsShowTheirVerdict();
    void modelsSurviveBeingReplaced();
    void onlyPlansThatNoOtherBeatsAreOnTheFront();
};

namespace {

protocol::OpRecord op(const char* kind, const char* name)
{
    protocol::OpRecord record;
    record.kind = base::fromName<protocol::NodeKind>(kind).value();
    record.name = name;
    return record;
}

QString cell(const QAbstractItemModel& model, int row, int column)
{
    return model.index(row, column).data().toString();
}

int countLeaves(const QAbstractItemModel& model, const QModelIndex& parent = {})
{
    int leaves = 0;
    for (int row = 0; row < model.rowCount(parent); ++row) {
        const QModelIndex index = model.index(row, 0, parent);
        leaves += model.hasChildren(index) ? countLeaves(model, index) : 1;
    }
    return leaves;
}

QStringList visible(const QAbstractItemModel& model, const QModelIndex& parent = {})
{
    QStringList names;
    for (int row = 0; row < model.rowCount(parent); ++row) {
        const QModelIndex index = model.index(row, 0, parent);
        names << index.data().toString() << visible(model, index);
    }
    return names;
}

void show(models::OutlineModel& tree, const protocol::ModelRecord& model)
{
    tree.setModel(std::make_shared<const protocol::ModelRecord>(model),
                  std::make_shared<const models::ModelParts>(models::partsOf(model)));
}

void search(models::OutlineFilter& filter, const models::OutlineModel& tree, const QString& text)
{
    const models::ModelParts parts = models::partsOf(drawn::twoLayers());
    filter.setKept(text.isEmpty() ? std::vector<char>() : tree.withOps(parts.search.find(text)));
}

}  // namespace

void TestTables::onlyPlansThatNoOtherBeatsAreOnTheFront()
{
    const auto point = [](double seconds, std::int64_t memory, std::int64_t host) {
        auto plan = std::make_shared<protocol::PlanRecord>();
        plan->predicted.emplace();
        plan->predicted->seconds = seconds;
        plan->predicted->peakMemory = memory;
        plan->predicted->stores = host;
        return models::FrontPoint{plan, std::nullopt};
    };
    const auto memories = [](const std::vector<models::FrontPoint>& points) {
        std::vector<std::int64_t> found;
        for (const auto& each : models::paretoFront(points)) found.push_back(each.plan->predicted->peakMemory);
        return found;
    };
    QCOMPARE(memories({point(1, 9, 5), point(2, 5, 5), point(3, 7, 5)}), (std::vector<std::int64_t>{5, 9}));
    QCOMPARE(memories({point(3, 7, 1), point(2, 5, 5)}), (std::vector<std::int64_t>{5}));  // whatever the host holds
    QCOMPARE(memories({point(2, 5, 5), point(2, 5, 5)}), (std::vector<std::int64_t>{5}));
    QCOMPARE(memories({}), std::vector<std::int64_t>{});
    protocol::PlanRecord plan;
    QCOMPARE(models::proofLabel(plan), QString::fromUtf8("–"));
    plan.gap = 0.021;
    QCOMPARE(models::proofLabel(plan), QString("within 2.1 %"));
    plan.gap = 0;
    QCOMPARE(models::proofLabel(plan), QString("proven"));
}

void TestTables::operatorsAreNamedByWhatTheyDo_data()
{
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("label");
    const auto row = [](const char* kind, const char* name, const char* label) {
        QTest::addRow("%s %s", kind, name) << kind << name << label;
    };
    row("aggregate", "aten::index_add", "sum aggregation");
    row("aggregate", "aten::scatter_add_", "sum aggregation");
    row("aggregate", "aten::scatter_reduce.two", "aggregation");
    row("gather", "aten::index_select", "gather source");
    row("rowwise", "aten::linear", "linear");
    row("rowwise", "aten::add.Tensor", "add");
    row("rowwise", "aten::cat", "concat");
    row("rowwise", "aten::leaky_relu", "leaky relu");
    row("rowwise", "aten::relu_", "relu");
    row("rowwise", "aten::sum.dim_IntList", "sum");
    row("reduce", "aten::mean.dim", "mean over all rows");
    row("structure", "aten::index_select", "select rows");
    row("structure", "scalar::size", "size");
    row("input", "edge_index", "edge_index");
    row("rowwise", "", "");
}

void TestTables::operatorsAreNamedByWhatTheyDo()
{
    QFETCH(QString, kind);
    QFETCH(QString, name);
    QFETCH(QString, label);
    QCOMPARE(models::humanLabel(op(kind.toUtf8().constData(), name.toUtf8().constData())), label);
}

void TestTables::valuesAreNamedByTheModuleThatMakesThem()
{
    const protocol::ModelRecord model = drawn::twoLayers();
    QCOMPARE(models::valueLabel(model, model.findValue("v.x")), QStringLiteral("x"));
    QCOMPARE(models::valueLabel(model, model.findValue("v.s0")), QStringLiteral("convs.0 output"));
    QCOMPARE(models::valueLabel(model, model.findValue("v.r0")), QStringLiteral("relu after convs.0"));
    QCOMPARE(models::valueLabel(model, model.findValue("convs.0.lin.weight")), QStringLiteral("convs.0.lin.weight"));
    QCOMPARE(models::valueLabel(model, {}), QString());
}

void TestTables::shapesShowTheSizesOfTablesWhereTheyAreKnown()
{
    protocol::ModelRecord model = drawn::twoLayers();
    const protocol::ValueRecord& value = model.values[model.findValue("v.h0")];
    QCOMPARE(models::shapeLabel(model, value), QStringLiteral("34 × 8 float32"));
    model.sizes.clear();
    QCOMPARE(models::shapeLabel(model, value), QStringLiteral("|node| × 8 float32"));
}

void TestTables::checkpointsAreThoseOfThePlan()
{
    const protocol::ModelRecord model = drawn::twoLayers();
    protocol::PlanRecord plan = drawn::twoLayerPlan(model);
    plan.pins = {{base::PinKind::Checkpoint, model.findValue("v.r0")}};
    models::CheckpointModel table;
    const QAbstractItemModelTester tester(&table);
    table.setRows(models::checkpointRows(model, plan));
    QCOMPARE(table.rowCount(), 2);
    QCOMPARE(cell(table, 0, 0), QStringLiteral("relu after convs.0"));
    QCOMPARE(cell(table, 0, 1), QStringLiteral("1"));
    QCOMPARE(cell(table, 0, 2), QStringLiteral("100 B"));
    QCOMPARE(cell(table, 0, 4), QStringLiteral("●"));
    QCOMPARE(cell(table, 1, 4), QString());
    QCOMPARE(table.at(1).state, models::CheckpointRow::State::Output);
    QCOMPARE(table.index(0, 0).data(models::TargetRole).value<Target>(), Target::value(model.findValue("v.r0")));
}

void TestTables::forbiddenValuesAreListedUntilTheirPinIsGone()
{
    const protocol::ModelRecord model = drawn::twoLayers();
    protocol::PlanRecord plan = drawn::twoLayerPlan(model);
    plan.pins = {{base::PinKind::NoCheckpoint, model.findValue("v.h1")},
                 {base::PinKind::NoCheckpoint, protocol::ValueId(model.values.size())}};
    std::vector<models::CheckpointRow> rows = models::checkpointRows(model, plan);
    QCOMPARE(rows.size(), std::size_t(3));
    QCOMPARE(rows.back().state, models::CheckpointRow::State::Forbidden);
    QVERIFY(rows.back().pinned);
    plan.pins.clear();
    QCOMPARE(models::checkpointRows(model, plan).size(), std::size_t(2));
}

void TestTables::stagesCountTheirDistinctOperatorsAndValues()
{
    const protocol::ModelRecord model = drawn::twoLayers();
    protocol::PlanRecord plan = drawn::twoLayerPlan(model);
    plan.stages[0].steps.push_back(plan.stages[0].steps.front());  // the same operator on other rows
    models::StageModel table;
    const QAbstractItemModelTester tester(&table);
    table.setRows(models::stageRows(plan, nullptr, nullptr));
    QCOMPARE(table.rowCount(), 2);
    QCOMPARE(table.at(0).ops, 4);
    QCOMPARE(table.at(1).reads, 1);
    QCOMPARE(cell(table, 0, static_cast<int>(models::StageColumn::Bytes)), QStringLiteral("200 B"));
    QCOMPARE(cell(table, 1, static_cast<int>(models::StageColumn::Peak)), QStringLiteral("2.0 KiB"));
    QCOMPARE(cell(table, 1, static_cast<int>(models::StageColumn::Seconds)), QStringLiteral("–"));
    QCOMPARE(cell(table, 1, static_cast<int>(models::StageColumn::Expected)), QStringLiteral("–"));
}

void TestTables::measuredSecondsComeFromTheRunBeforeTheReport()
{
    const protocol::ModelRecord model = drawn::twoLayers();
    const protocol::PlanRecord plan = drawn::twoLayerPlan(model);
    schema::Report report;
    report.stages.resize(2);
    report.stages[0].index = protocol::StageId(1);
    report.stages[0].seconds = 5;
    report.stages[1].index = protocol::StageId(2);
    report.stages[1].seconds = 6;
    models::RunLog log;
    log.apply(
        {1,
         protocol::RunState::Running,
         {protocol::StageEvent{protocol::StageId(1), 2, 10, 0}, protocol::StageEndEvent{protocol::StageId(1), 2.5, 2.5},
          protocol::StageEvent{protocol::StageId(2), 2, 10, 2.5}}});  // which still runs
    const std::vector<models::StageRow> rows = models::stageRows(plan, &log, &report);
    QCOMPARE(rows[0].seconds.value(), 2.5);
    QCOMPARE(rows[1].seconds.value(), 6.0);
}

void TestTables::theTreeHasEveryOperatorOnceAsALeaf()
{
    const protocol::ModelRecord model = drawn::twoLayers();
    models::OutlineModel tree;
    const QAbstractItemModelTester tester(&tree);
    show(tree, model);
    QCOMPARE(countLeaves(tree), static_cast<int>(model.ops.size()));
    for (std::size_t at = 0; at < model.ops.size(); ++at) {
        const QModelIndex index = tree.indexOf(tree.find(Target::op(protocol::OpId(at))));
        QVERIFY(index.isValid());
        const protocol::OpId op(at);
        QCOMPARE(index.data().toString(), models::opLabel(model, model.ops[op]));
        QVERIFY(index.data(Qt::ToolTipRole).toString().startsWith(models::opName(model, op)));
    }
    QCOMPARE(tree.find(Target::stage(protocol::StageId(1))), -1);
}

void TestTables::theTreeFoldsStructureAwayAndShowsTheLargestDepth()
{
    const protocol::ModelRecord model = drawn::twoLayers();
    models::OutlineModel tree;
    show(tree, model);
    const QModelIndex layer = tree.indexOf(tree.find(Target::moduleAt(QStringLiteral("convs.0"))));
    QCOMPARE(layer.data().toString(), QStringLiteral("0  Conv"));
    QCOMPARE(layer.data(models::DepthRole).toInt(), 1);
    const QModelIndex last = tree.index(tree.rowCount(layer) - 1, 0, layer);
    QCOMPARE(last.data().toString(), QStringLiteral("structure only"));
    QCOMPARE(tree.rowCount(last), 2);
    QVERIFY(!last.data(models::DepthRole).isValid());
    QCOMPARE(tree.index(0, 0).data(models::DepthRole).toInt(), 2);
}

void TestTables::aSearchKeepsAncestorsOfWhatItFinds()
{
    models::OutlineModel tree;
    show(tree, drawn::twoLayers());
    models::OutlineFilter filter;
    const QAbstractItemModelTester tester(&filter);
    filter.setSourceModel(&tree);
    search(filter, tree, QStringLiteral("relu"));
    QCOMPARE(visible(filter), QStringList({"Drawn", "relu"}));
    search(filter, tree, QStringLiteral("INDEX_ADD"));
    QCOMPARE(visible(filter),
             QStringList({"Drawn", "convs", "0  Conv", "sum aggregation", "1  Conv", "sum aggregation"}));
    search(filter, tree, {});
    QCOMPARE(countLeaves(filter), 12);
}

void TestTables::aSearchFindsByEveryWord()
{
    models::OutlineModel tree;
    show(tree, drawn::twoLayers());
    models::OutlineFilter filter;
    filter.setSourceModel(&tree);
    search(filter, tree, QStringLiteral("  convs.1   sum "));
    QCOMPARE(visible(filter), QStringList({"Drawn", "convs", "1  Conv", "sum aggregation"}));
    search(filter, tree, QStringLiteral("convs.1 nothing"));
    QCOMPARE(filter.rowCount(), 0);
}

void TestTables::problemsPutTheRefusalFirst()
{
    protocol::ModelRecord model = drawn::twoLayers();
    model.lints.push_back({"baked-size", "a size is baked in", model.findOp("h0")});
    model.notes = {"'y' is not an argument of the model: ignored"};
    models::ProblemModel table;
    const QAbstractItemModelTester tester(&table);
    table.setRows(models::problemRows(&model, QStringLiteral("refused")));
    QCOMPARE(table.rowCount(), 3);
    using Severity = models::ProblemRow::Severity;
    QCOMPARE(table.at(0).severity, Severity::Error);
    QCOMPARE(table.at(1).severity, Severity::Warning);
    QCOMPARE(table.at(2).severity, Severity::Note);
    QCOMPARE(table.index(1, 0).data(models::TargetRole).value<Target>(), Target::op(model.findOp("h0")));
    QVERIFY(!table.index(2, 0).data(models::TargetRole).isValid());
    model.splittable = false;
    model.lints.back().blocking = true;
    model.lints.back().hint = "export it again";
    QVERIFY(models::problemRows(&model, {}).front().hint == QStringLiteral("export it again"));
    QCOMPARE(models::problemRows(&model, {}).front().severity, Severity::Error);
    QVERIFY(models::problemRows(nullptr, {}).empty());
}

void TestTables::runsShowTheirVerdict()
{
    auto report = std::make_shared<schema::Report>();
    report->device = "cpu";
    report->seconds = 1.5;
    report->stages.resize(2);
    report->stages[0].bytes.d2h = 1024;
    report->stages[1].bytes.h2d = 1024;
    report->verify.emplace().verdict = schema::Verdict::Equal;
    models::RunModel table;
    const QAbstractItemModelTester tester(&table);
    table.setRows(models::runRows(
        {{QStringLiteral("run 1"), report, nullptr, {}}, {QStringLiteral("old"), nullptr, nullptr, {}}}));
    QCOMPARE(cell(table, 0, static_cast<int>(models::RunColumn::Verdict)), QStringLiteral("equal"));
    QCOMPARE(cell(table, 0, static_cast<int>(models::RunColumn::Moved)), QStringLiteral("2.0 KiB"));
    QCOMPARE(cell(table, 1, static_cast<int>(models::RunColumn::Verdict)), QStringLiteral("not verified"));
}

void TestTables::modelsSurviveBeingReplaced()
{
    models::OutlineModel tree;
    const QAbstractItemModelTester tester(&tree);
    const QPersistentModelIndex kept(tree.index(0, 0));
    show(tree, drawn::twoLayers());
    const QPersistentModelIndex old(tree.index(0, 0));
    tree.setModel(nullptr, nullptr);
    QVERIFY(!old.isValid());
    QCOMPARE(tree.rowCount(), 0);
    QVERIFY(!kept.isValid());
}

HOPSCOPE_QT_SUITE(widgets_tables, TestTables)
#include "test_tables.moc"
