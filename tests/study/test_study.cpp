// What the panels that explain and debug say and draw, from findings that are made up here.

#include <QSignalSpy>
#include <QTest>
#include <cmath>

#include "models/roles.h"
#include "plots/label_place.h"
#include "study/debugger/finding_table.h"
#include "study/debugger/growth_plot.h"
#include "study/receptive/explosion_plot.h"
#include "study/receptive/field_flow.h"
#include "study/receptive/field_model.h"
#include "study/receptive/field_text.h"
#include "study/tensors/follow_model.h"
#include "support/qt_suites.h"
#include "widgets_models/drawn_model.h"

using namespace hopscope;
using namespace hopscope::study;

namespace {

// Two rounds on a path 0 - 1 - 2 - 3 - 4, around node 2.
schema::ReceptiveField pathField(std::int64_t rows = 5)
{
    schema::ReceptiveField field{.table = "node", .node = 2, .nodes = rows, .depth = 2};
    const auto edges = [](std::vector<std::int64_t> from, std::vector<std::int64_t> to) {
        schema::FieldEdges made{.table = "edge_index", .from = "node", .to = "node"};
        made.edges = std::ssize(from);
        made.of = 8;
        made.parents = {{"edge_index", made.edges, {}}};
        for (std::int64_t i = 0; i < made.edges; ++i) made.parents.front().ids.push_back(i);
        made.fromIds = std::move(from);
        made.toIds = std::move(to);
        return made;
    };
    field.levels = {{2, {{"node", 1, rows, 8, {2}}}, {edges({1, 3}, {2, 2})}},
                    {1, {{"node", 2, rows, 16, {1, 3}}}, {edges({0, 2, 2, 4}, {1, 1, 3, 3})}},
                    {0, {{"node", 3, rows, 40, {0, 2, 4}}}, {}}};
    field.blocks = {{2, "edge_index", 2, 2}, {1, "edge_index", 2, 2}};
    return field;
}

schema::FieldExplosion averages(schema::MeanMethod method)
{
    const double error = method == schema::MeanMethod::Exact ? 0 : 0.2;
    return {method,
            method == schema::MeanMethod::Exact ? 5 : 4,
            1,
            {{2, "node", false, 1, 0, 1, 40, 40},
             {1, "node", false, 1.6, error, 1.6, 128, 80},
             {0, "node", false, 2.4, error, 2.4, 480, 200},
             {0, "edge_index", true, 9, 0, 9, 0, 0}}};
}

// Its operators have the ids that documents give them as well.
protocol::ModelRecord numbered()
{
    protocol::ModelRecord model = drawn::twoLayers();
    for (std::size_t at = 0; at < model.ops.size(); ++at) model.opsById[ir::opName(ir::OpId(at))] = protocol::OpId(at);
    return model;
}

schema::OperatorRecord placeOf(const protocol::ModelRecord& model, int at, const char* name)
{
    const protocol::OpRecord& op = model.ops[protocol::OpId(at)];
    return {.op = ir::OpId(at), .value = ir::ValueId(0), .name = name, .kind = op.name, .module = op.module};
}

schema::DivergenceRecord divergenceAt(const protocol::ModelRecord& model, std::size_t at)
{
    schema::DifferenceRecord difference{.place = placeOf(model, static_cast<int>(at), "h1")};
    difference.what = "values";
    difference.rows = 2;
    difference.of = 9;
    difference.maxAbsolute = 0.25;
    difference.maxRelative = 0.5;
    difference.shown = {{.table = "node", .row = 17, .element = 3, .first = 1.5, .second = 1.25}};
    schema::DivergenceRecord found{.first = "a.pt", .second = "b.pt", .compared = 5};
    found.divergence = found.nodes = difference;
    for (std::size_t each = 0; each < model.ops.size(); ++each)
        if (model.ops[each].computes())
            found.growth.push_back({.op = ir::OpId(each),
                                    .value = ir::ValueId(0),
                                    .depth = model.ops[each].depth,
                                    .maxAbsolute = each == at ? 0.25 : 0});
    return found;
}

}  // namespace

class TestStudy : public QObject {
    Q_OBJECT
private slots:
    void aFieldIsATableOfRounds();
    void sentencesSayWhatTheFieldCosts();
    void averagesSayHowTheyAreKnown();
    void aRoundListsItsRowsAndEdges();
    void smallFieldsAreDrawnRowByRowLargeOnesAsBars();
    void roundsAreChosenByKeyboardAndMouse();
    void theDivergenceLinksItsOperator();
    void noDivergenceIsSaid();
    void makersOfNaNAreATable();
    void messagesAreSortedAsTheyCome();
    void errorsGrowAlongThePlot();
    void aPlotWithoutErrorsOrWithNaNStands();
    void aFollowedNodeHasARowForEachStore();
    void neighboursAreSortedByWhatTheyAdd();
    void noLineCrossesTheFirstDifference();
    void noLineCrossesTheNumbersOfTheExplosion();
};

void TestStudy::aFieldIsATableOfRounds()
{
    FieldModel model;
    model.setRows(fieldRows(pathField()));
    QCOMPARE(model.rowCount(), 3);
    const auto cell = [&](int row, FieldColumn column) {
        return model.index(row, static_cast<int>(column)).data().toString();
    };
    QCOMPARE(cell(0, FieldColumn::Round), QString("result"));
    QCOMPARE(cell(1, FieldColumn::Round), QString("hop 1"));
    QCOMPARE(cell(2, FieldColumn::Round), QString("input"));
    QCOMPARE(cell(1, FieldColumn::Edges), QString("4"));
    QCOMPARE(cell(1, FieldColumn::Block), QString("2"));
    QCOMPARE(cell(2, FieldColumn::Share), QString("60 %"));
    QCOMPARE(cell(2, FieldColumn::Bytes), QString("120 B"));
    QCOMPARE(cell(2, FieldColumn::Edges), QString("–"));
}

void TestStudy::sentencesSayWhatTheFieldCosts()
{
    QCOMPARE(fieldSentence(pathField()),
             QString("The result of node 2 depends on 3 of 5 input rows, through 6 edges in 2 hops."));
    QVERIFY(blockSentence(pathField()).contains("its own 4 edges"));
    QCOMPARE(inputRows(pathField()), 3);
}

void TestStudy::averagesSayHowTheyAreKnown()
{
    schema::ReceptiveField field = pathField();
    QVERIFY(explosionSentences(field).isEmpty());
    field.explosion = averages(schema::MeanMethod::Exact);
    QVERIFY(explosionSentences(field).join(' ').contains("exact: computed for all 5 nodes"));
    QVERIFY(explosionSentences(field).join(' ').contains("480 B of input rows"));
    QVERIFY(explosionSentences(field).join(' ').contains("after hop 1 would be computed 1.6 times on average"));
    QCOMPARE(meanInputRows(field), 2.4);  // edges are not rows
    field.explosion = averages(schema::MeanMethod::Sampled);
    QVERIFY(explosionSentences(field).front().contains("± 0.2"));
    QVERIFY(explosionSentences(field).front().contains("estimated from 4 nodes"));
}

void TestStudy::aRoundListsItsRowsAndEdges()
{
    const QString text = levelText(pathField(), 1);
    QVERIFY2(text.contains("2 rows of node: 1, 3"), qPrintable(text));
    QVERIFY2(text.contains("3 ← 2, 4"), qPrintable(text));
    QVERIFY2(text.contains("rows of edge_index: 0, 1, 2, 3"), qPrintable(text));
    QVERIFY2(levelText(pathField(), 0).startsWith("1 row of node: "), qPrintable(levelText(pathField(), 0)));
    schema::ReceptiveField large = pathField();
    large.levels[2].rows[0] = {"node", 30'000, 50'000, 40, {}};
    QVERIFY(levelText(large, 2).contains("too many to list"));
    QVERIFY(levelText(large, 7).isEmpty());
}

void TestStudy::smallFieldsAreDrawnRowByRowLargeOnesAsBars()
{
    FieldFlow flow;
    flow.resize(500, 300);
    flow.setTheme(style::loadTheme(style::Mode::Light));
    QVERIFY(!flow.drawsRows());
    flow.display(std::make_shared<schema::ReceptiveField>(pathField()));
    QVERIFY(flow.drawsRows());
    const QImage rows = flow.grab().toImage();
    schema::ReceptiveField large = pathField(50'000);
    large.levels[2].rows[0] = {"node", 30'000, 50'000, 40, {}};
    flow.display(std::make_shared<schema::ReceptiveField>(large));
    QVERIFY(!flow.drawsRows());
    QVERIFY(flow.grab().toImage() != rows);
}

void TestStudy::roundsAreChosenByKeyboardAndMouse()
{
    FieldFlow flow;
    flow.resize(500, 300);
    flow.display(std::make_shared<schema::ReceptiveField>(pathField()));
    QSignalSpy chosen(&flow, &FieldFlow::levelChosen);
    QTest::keyClick(&flow, Qt::Key_Up);  // there is nothing above the result
    QCOMPARE(chosen.size(), 0);
    QTest::keyClick(&flow, Qt::Key_Down);
    QCOMPARE(flow.chosen(), 1);
    QTest::mouseClick(&flow, Qt::LeftButton, {}, QPoint(100, 290));
    QCOMPARE(flow.chosen(), 2);
    QCOMPARE(chosen.size(), 2);
}

void TestStudy::theDivergenceLinksItsOperator()
{
    const protocol::ModelRecord model = numbered();
    const schema::DivergenceRecord found = divergenceAt(model, 3);
    const QString text = sentencesOf(model, found);
    QVERIFY2(text.contains("href=\"op:3\"") && text.contains("Rows that differ: 2 of 9"), qPrintable(text));
    FindingModel table;
    table.setTable(tableOf(model, found));
    QCOMPARE(table.rowCount(), 1);
    QCOMPARE(table.index(0, 0).data().toString(), QString("row 17 of node"));
    QCOMPARE(table.index(0, 2).data().toString(), QString("1.5"));
    QCOMPARE(table.index(0, 4).data().toString(), QString("0.25"));
    QCOMPARE(table.index(0, 0).data(models::TargetRole).value<models::Target>(), models::Target::op(protocol::OpId(3)));
    QCOMPARE(table.headerData(2, Qt::Horizontal, Qt::DisplayRole).toString(), QString("a.pt"));
}

void TestStudy::noDivergenceIsSaid()
{
    const protocol::ModelRecord model = numbered();
    const schema::DivergenceRecord found{.first = "staged", .second = "unsplit", .compared = 5};
    QVERIFY(sentencesOf(model, found).contains("No difference beyond the tolerance. Values compared: 5"));
    QVERIFY(tableOf(model, found).lines.empty());
}

void TestStudy::makersOfNaNAreATable()
{
    const protocol::ModelRecord model = numbered();
    schema::NonFiniteRecord harmless{.place = placeOf(model, 2, "rsqrt")};
    harmless.infinite = 4;
    schema::NonFiniteReport found{.makers = {harmless}};
    QVERIFY(sentencesOf(model, found).contains("do no harm"));
    schema::NonFiniteRecord harmful{.place = placeOf(model, 3, "log of x")};
    harmful.nan = 1;
    harmful.stage = protocol::StageId(2);
    harmful.batch = 3;
    harmful.reachesOutput = true;
    harmful.shown = {{.table = "node", .row = 17}};
    found.makers.push_back(harmful);
    QVERIFY(sentencesOf(model, found).contains("href=\"op:3\""));
    const FindingTable table = tableOf(model, found);
    QCOMPARE(table.lines.at(0).cells.value(3), QString("before"));
    QCOMPARE(table.lines.at(1).cells, (QStringList{"log of x", "1", "0", "2", "3", "yes", "row 17 of node"}));
    QVERIFY(sentencesOf(model, schema::NonFiniteReport{.makers = {}}).contains("All numbers are finite"));
}

void TestStudy::messagesAreSortedAsTheyCome()
{
    const protocol::ModelRecord model = numbered();
    schema::AggregationRecord sum{.place = placeOf(model, 3, "sum"), .node = 7, .messages = 2};
    sum.contributions = {{{.table = "edge_index", .row = 5, .ends = {3, 7}, .element = 0, .first = 2}, 0.8},
                         {{.table = "edge_index", .row = 6, .ends = {4, 7}, .element = 0, .first = 0.5}, 0.2}};
    const schema::WatchReport found{.hits = {}, .seen = 0, .watched = {}, .aggregations = {sum}};
    const FindingTable table = tableOf(model, found);
    QCOMPARE(table.lines.size(), std::size_t{2});
    QCOMPARE(table.lines[0].cells, (QStringList{"7", "3", "edge_index 5", "2", "80.0 %"}));
    QVERIFY(sentencesOf(model, found).contains("Node 7 receives 2 messages"));
    const schema::WatchRecord rows{.place = sum.place, .nodes = {7}, .numbers = {{0.5, NAN}}};
    const FindingTable numbers = tableOf(model, schema::WatchReport{.hits = {}, .seen = 0, .watched = {rows}});
    QCOMPARE(numbers.lines.at(0).cells, (QStringList{"7", "0.5", "NaN"}));
    QCOMPARE(numbers.headers, (QStringList{"Row", "0", "1"}));
}

void TestStudy::errorsGrowAlongThePlot()
{
    const protocol::ModelRecord model = numbered();
    GrowthPlot plot;
    plot.resize(400, 200);
    plot.setTheme(style::loadTheme(style::Mode::Dark));
    const std::vector<GrowthPoint> points = growthOf(model, divergenceAt(model, 3));
    plot.display(points);
    const auto first = std::ranges::find_if(points, &GrowthPoint::first);
    QVERIFY(first != points.end());
    const int at = static_cast<int>(first - points.begin());
    QVERIFY(plot.placeOf(at).y() < plot.placeOf(at == 0 ? 1 : 0).y());
    QSignalSpy chosen(&plot, &GrowthPlot::chosen);
    QTest::mouseClick(&plot, Qt::LeftButton, {}, plot.placeOf(at).toPoint());
    QCOMPARE(chosen.size(), 1);
    QCOMPARE(chosen.front().front().value<protocol::OpId>(), first->op);
    for (int step = 0; step <= at; ++step) QTest::keyClick(&plot, Qt::Key_Right);
    QTest::keyClick(&plot, Qt::Key_Return);
    QCOMPARE(chosen.back().front().value<protocol::OpId>(), first->op);
    QVERIFY(!plot.grab().isNull());
}

void TestStudy::aPlotWithoutErrorsOrWithNaNStands()
{
    GrowthPlot plot;
    plot.resize(300, 160);
    plot.setTheme(style::loadTheme(style::Mode::Light));
    plot.display({{.op = protocol::OpId(1), .name = "a", .depth = 0, .error = NAN, .first = true}});
    QVERIFY(!plot.grab().isNull());
    plot.display({});
    QVERIFY(!plot.grab().isNull());
    ExplosionPlot explosion;
    explosion.resize(300, 180);
    explosion.setTheme(style::loadTheme(style::Mode::Light));
    schema::ReceptiveField field = pathField();
    field.explosion = averages(schema::MeanMethod::Sampled);
    explosion.display(field);
    QVERIFY(explosion.accessibleDescription().contains("input: 2.4"));
    QVERIFY(!explosion.grab().isNull());
}

void TestStudy::aFollowedNodeHasARowForEachStore()
{
    protocol::ModelRecord model = drawn::twoLayers();
    protocol::PlanRecord plan = drawn::twoLayerPlan(model);
    for (protocol::PlanStage& stage : plan.stages)
        stage.loops.push_back({.destination = "node", .frontier = {}, .reads = {}, .writes = {}, .reductions = {}});
    const FollowPlaces places = placesToFollow(model, plan);
    QCOMPARE(places.values.size(), static_cast<qsizetype>(plan.checkpoints.size()));
    QCOMPARE(places.aggregations.size(), 2);
    QCOMPARE(mostNodes(model, plan), std::optional<std::int64_t>(34));
    schema::WatchReport found;
    for (auto stored = plan.checkpoints.rbegin(); stored != plan.checkpoints.rend(); ++stored) {
        const schema::OperatorRecord place{.op = {}, .value = stored->value, .name = {}, .kind = {}, .module = {}};
        found.watched.push_back({.place = place, .nodes = {33}, .numbers = {{3, -4, 0}}});
    }
    const schema::OperatorRecord unknown{.op = {}, .value = ir::ValueId(999), .name = {}, .kind = {}, .module = {}};
    found.watched.push_back({.place = unknown, .nodes = {33}, .numbers = {{1}}});
    std::vector<FollowedRow> rows = followedRows(model, plan, found);
    QCOMPARE(rows.size(), plan.checkpoints.size());
    QVERIFY(std::ranges::is_sorted(rows, {}, &FollowedRow::stage));
    QVERIFY(rows.back().output && !rows.front().output);
    QCOMPARE(rows.front().norm, 5.0);
    QCOMPARE(rows.front().least, -4.0);
    QCOMPARE(rows.front().most, 3.0);
    QCOMPARE(rows.front().table, QString("node"));
    FollowModel table;
    found.watched.front().numbers = {{1, NAN}};
    table.setRows(followedRows(model, plan, found));
    QCOMPARE(table.index(table.rowCount() - 1, static_cast<int>(FollowColumn::Most)).data().toString(), QString("NaN"));
    // The table has 34 rows: what the engine says of another one was never computed.
    for (schema::WatchRecord& each : found.watched) each.nodes = {34};
    QVERIFY(followedRows(model, plan, found).empty());
}

void TestStudy::neighboursAreSortedByWhatTheyAdd()
{
    schema::AggregationRecord aggregation{.place = {}, .node = 7, .messages = 3};
    aggregation.contributions = {{{.table = "edge_index", .row = 5, .ends = {12, 7}, .first = 2.5}, 0.5},
                                 {{.table = "node", .row = 7, .ends = {}, .first = 1.5}, 0.3},
                                 {{.table = "edge_index", .row = 9, .ends = {3, 7}, .first = 1.0}, 0.2}};
    NeighbourModel table;
    table.setRows(neighbourRows(aggregation));
    const auto cell = [&](int row, NeighbourColumn column) {
        return table.index(row, static_cast<int>(column)).data().toString();
    };
    QCOMPARE(cell(0, NeighbourColumn::Neighbour), QString("12"));
    QCOMPARE(cell(0, NeighbourColumn::Edge), QString("edge_index 5"));
    QCOMPARE(cell(1, NeighbourColumn::Neighbour), QString("7"));
    QCOMPARE(cell(1, NeighbourColumn::Edge), QString("self-loop of the model"));
    QCOMPARE(cell(2, NeighbourColumn::Share), QString("20.0 %"));
}

namespace {

// As far as it is inside of the widget, and nothing that is drawn goes through it.
bool readable(const QRectF& label, const QList<QLineF>& lines, const QWidget& widget)
{
    return !label.isEmpty() && QRectF(widget.rect()).contains(label) &&
           std::ranges::none_of(lines, [&](const QLineF& line) { return plots::crosses(line, label); });
}

}  // namespace

void TestStudy::noLineCrossesTheFirstDifference()
{
    const protocol::ModelRecord model = numbered();
    for (std::size_t first : {3, 5}) {
        GrowthPlot plot;
        plot.setTheme(style::loadTheme(style::Mode::Light));
        plot.resize(420, 180);
        QVERIFY(plot.firstLabel().isEmpty());
        plot.display(growthOf(model, divergenceAt(model, first)));
        QList<QPointF> places;
        for (int i = 0; i < static_cast<int>(growthOf(model, divergenceAt(model, first)).size()); ++i)
            places.append(plot.placeOf(i));
        QVERIFY(readable(plot.firstLabel(), plots::linesBetween(places), plot));
    }
}

void TestStudy::noLineCrossesTheNumbersOfTheExplosion()
{
    schema::ReceptiveField field = pathField(2'000'000);
    for (const double growth : {1.1, 3.0, 9.0, 900.0})
        for (const QSize size : {QSize(600, 190), QSize(360, 190), QSize(280, 170)}) {
            field.explosion = averages(schema::MeanMethod::Sampled);
            double mean = 1;
            for (schema::FieldMean& each : field.explosion.means)
                if (!each.edges) each.mean = std::exchange(mean, mean * growth);
            ExplosionPlot plot;
            plot.setTheme(style::loadTheme(style::Mode::Light));
            plot.resize(size);
            plot.display(field);
            QCOMPARE(plot.labels().size(), 4);
            for (const QRectF& label : plot.labels())
                QVERIFY2(readable(label, plot.obstacles(), plot),
                         qPrintable(QString("%1 at %2: %3").arg(growth).arg(size.width()).arg(label.top())));
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < i; ++j) QVERIFY(!plot.labels()[i].intersects(plot.labels()[j]));
        }
}

HOPSCOPE_QT_SUITE(study, TestStudy)
#include "test_study.moc"
