// What a run took by its operators, from reports that are made up here: all seconds are accounted for, and none twice.

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QStandardItemModel>
#include <QTableView>
#include <QTest>
#include <QTreeView>
#include <cmath>
#include <random>

#include "models/op_names.h"
#include "models/roles.h"
#include "panels/parts.h"
#include "study/monitor/flame_view.h"
#include "study/monitor/operator_table.h"
#include "support/qt_suites.h"
#include "widgets_models/drawn_model.h"

using namespace hopscope;
using namespace hopscope::study;
using models::Target;

namespace {

schema::OperatorTimeRecord pass(const char* op, double seconds, std::vector<std::string> fused = {},
                                std::int64_t bytes = 100)
{
    return {.op = op,
            .label = std::string("label of ") + op,
            .fused = std::move(fused),
            .seconds = seconds,
            .bytes = bytes};
}

schema::StageRecord stage(int number, double seconds, const plan::PhaseSeconds& phases,
                          std::vector<schema::OperatorTimeRecord> operators)
{
    schema::StageRecord made;
    made.index = plan::StageId{number};
    made.seconds = seconds;
    made.phases = phases;
    made.operators = std::move(operators);
    return made;
}

// A model of two modules, one in the other; m and s are computed in one pass.
protocol::ModelRecord nested()
{
    return drawn::model(R"(
x     input      x                   -                 0
edge_index input edge_index          -                 0
h     rowwise    aten::linear        convs.0.lin:Linear 0  < x %convs.0.lin.weight
m     gather     aten::index_select  convs.0:Conv      1  < h edge_index
s     aggregate  aten::scatter_add   convs.0:Conv      1  < m edge_index
r     rowwise    aten::relu          -                 1  < s
out   output     out                 -                 1  < r
)");
}

// 0.1 + stage 1 (1 s: 0.7 in operators, 0.25 in phases) + stage 2 (0.5 s: 0.2 in operators) + 0.4.
schema::Report usual()
{
    schema::Report report;
    report.device = "cpu";
    report.prologueSeconds = 0.1;
    report.seconds = 2;
    report.stages = {stage(1, 1, {.block = 0.05, .gather = 0.1, .h2d = 0, .compute = 0.7, .d2h = 0, .write = 0.1},
                           {pass("h", 0.25), pass("s", 0.5, {"m"}, 4096), pass("h", 0.05, {}, 300)}),
                     stage(2, 0.5, {}, {pass("r", 0.2)})};
    return report;
}

double sumOfRows(const RunProfile& profile)
{
    double sum = 0;
    for (const ProfileRow& row : profile.rows()) sum += row.seconds;
    return sum;
}

const ProfileRow& named(const RunProfile& profile, const QString& name)
{
    static const ProfileRow none;
    for (const ProfileRow& row : profile.rows())
        if (row.name == name) return row;
    return none;
}

bool near(double a, double b) { return std::abs(a - b) < 1e-9; }

// Empty: frames nest, follow each other, and add up.
QString faultOf(const RunProfile& profile)
{
    const auto& frames = profile.frames();
    std::vector<double> next(frames.size()), sums(frames.size());
    std::vector<int> children(frames.size());
    for (std::size_t at = 1; at < frames.size(); ++at) {
        const auto parent = static_cast<std::size_t>(frames[at].parent);
        if (parent >= at) return QString("%1 comes before its parent").arg(frames[at].name);
        if (frames[at].level != frames[parent].level + 1) return QString("%1 has a wrong level").arg(frames[at].name);
        const double from = children[parent] == 0 ? frames[parent].begin : next[parent];
        if (!near(frames[at].begin, from)) return QString("%1 begins elsewhere").arg(frames[at].name);
        next[parent] = frames[at].begin + frames[at].seconds;
        sums[parent] += frames[at].seconds;
        ++children[parent];
    }
    for (std::size_t at = 0; at < frames.size(); ++at) {
        if ((children[at] == 0) != (frames[at].row >= 0)) return QString("%1 is no leaf").arg(frames[at].name);
        if (children[at] > 0 && !near(sums[at], frames[at].seconds))
            return QString("%1 is not its children: %2, %3").arg(frames[at].name).arg(sums[at]).arg(frames[at].seconds);
    }
    return {};
}

}  // namespace

class TestProfile : public QObject {
    Q_OBJECT
private slots:
    void allSecondsAreAccountedFor();
    void whatIsFusedCountsOnce();
    void loopsCountTogether();
    void phasesAreShortenedToWhatIsLeft();
    void operatorsThatTookLongerThanTheirStage();
    void modulesAreNested();
    void madeUpReportsAddUp();
    void unknownOperatorsKeepTheirNames();
    void withoutTimesThereIsNothing();
    void targetsAreFound();
    void theTableShowsAndCopiesIt();
    void framesAreAsWideAsTheyTook();
    void keysWalkAndZoom();
    void theMouseChoosesAndZooms();
    void selectedRowsStayWhereTheyAre_data();
    void selectedRowsStayWhereTheyAre();
};

void TestProfile::allSecondsAreAccountedFor()
{
    const RunProfile profile(nested(), usual());
    QVERIFY(near(sumOfRows(profile), 2));
    QVERIFY(near(profile.seconds(), 2));
    QCOMPARE(faultOf(profile), QString());
    QStringList names;
    double first = 0;
    for (const ProfileRow& row : profile.rows()) {
        names << row.name;
        if (row.stage.number == 1) first += row.seconds;
    }
    QVERIFY(near(first, 1));
    const protocol::ModelRecord model = nested();
    const auto label = [&](const char* id) { return models::opName(model, model.findOp(id)); };
    QCOMPARE(names, QStringList({"prologue", label("h"), label("s"), "structure", "reading rows", "writing rows",
                                 label("r"), "other work", "outside the stages"}));
    QVERIFY(near(named(profile, "structure").seconds, 0.04));  // 0.05 of 0.25, for which there are 0.2
    QVERIFY(near(named(profile, "other work").seconds, 0.3));
    QVERIFY(near(named(profile, "outside the stages").seconds, 0.4));
    QVERIFY(near(profile.share(named(profile, label("s")).seconds), 0.25));
}

void TestProfile::whatIsFusedCountsOnce()
{
    const protocol::ModelRecord model = nested();
    const RunProfile profile(model, usual());
    const int row = profile.rowOf(Target::op(model.findOp("s")));
    QCOMPARE(profile.rowOf(Target::op(model.findOp("m"))), row);
    const ProfileRow& shown = profile.rows()[static_cast<std::size_t>(row)];
    QVERIFY(near(shown.seconds, 0.5));
    QCOMPARE(shown.ops.size(), std::size_t(2));
    QCOMPARE(shown.fused, QStringList(models::opName(model, model.findOp("m"))));
    QCOMPARE(shown.target, Target::op(model.findOp("s")));
    QCOMPARE(shown.bytes, std::optional<std::int64_t>(4096));
}

void TestProfile::loopsCountTogether()
{
    const protocol::ModelRecord model = nested();
    const RunProfile profile(model, usual());
    const ProfileRow& row = profile.rows()[static_cast<std::size_t>(profile.rowOf(Target::op(model.findOp("h"))))];
    QVERIFY(near(row.seconds, 0.3));
    QCOMPARE(row.bytes, std::optional<std::int64_t>(300));
    QCOMPARE(row.module, QString("convs.0.lin"));
}

void TestProfile::phasesAreShortenedToWhatIsLeft()
{
    schema::Report report = usual();
    report.stages[0].phases = {.block = 3, .gather = 0, .h2d = 1, .compute = 9, .d2h = 1, .write = 0};
    const RunProfile profile(nested(), report);
    QVERIFY(near(sumOfRows(profile), 2));
    QVERIFY(near(named(profile, "structure").seconds, 0.12));
    QVERIFY(near(named(profile, "reading rows").seconds, 0.04));
    QVERIFY(near(named(profile, "writing rows").seconds, 0.04));
}

void TestProfile::operatorsThatTookLongerThanTheirStage()
{
    schema::Report report = usual();
    report.stages[1].operators.front().seconds = 0.9;
    report.seconds = 1.6;
    const RunProfile profile(nested(), report);
    QVERIFY(near(profile.seconds(), 2));  // 0.1, 1 and 0.9
    QVERIFY(near(sumOfRows(profile), profile.seconds()));
    QCOMPARE(faultOf(profile), QString());
    QVERIFY(named(profile, "outside the stages").name.isEmpty());
}

void TestProfile::modulesAreNested()
{
    const RunProfile profile(nested(), usual());
    QStringList path;
    const protocol::ModelRecord model = nested();
    for (int frame = profile.frameOf(Target::op(model.findOp("h"))); frame >= 0;
         frame = profile.frames()[static_cast<std::size_t>(frame)].parent)
        path << profile.frames()[static_cast<std::size_t>(frame)].name;
    path.removeFirst();
    QCOMPARE(path, QStringList({"lin", "convs.0", "convs", "stage 1", "run"}));
    const int module = profile.frameOf(Target::moduleAt("convs.0"));
    QVERIFY(near(profile.frames()[static_cast<std::size_t>(module)].seconds, 0.8));
    QVERIFY(profile.sentence(module).startsWith("module convs.0: 800 ms, 40.0 %"));
    QCOMPARE(profile.frames()[static_cast<std::size_t>(profile.frameOf(Target::op(model.findOp("r"))))].level, 2);
}

void TestProfile::madeUpReportsAddUp()
{
    const protocol::ModelRecord model = nested();
    const char* const ids[] = {"h", "m", "s", "r"};
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        const auto draw = [&](double most) { return std::uniform_real_distribution<double>(0, most)(random); };
        const auto some = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
        schema::Report report;
        report.prologueSeconds = some(1) * draw(1);
        for (int number = 1, stages = 1 + some(3); number <= stages; ++number) {
            std::vector<schema::OperatorTimeRecord> operators;
            for (int i = 0, count = some(6); i < count; ++i)
                operators.push_back(
                    pass(ids[some(3)], draw(0.2),
                         some(1) ? std::vector<std::string>{ids[some(3)]} : std::vector<std::string>{}));
            report.stages.push_back(stage(number, draw(1),
                                          {.block = some(1) * draw(1), .gather = draw(0.2), .write = draw(0.2)},
                                          std::move(operators)));
        }
        report.stages.front().operators.push_back(pass("h", draw(0.2)));
        double least = report.prologueSeconds, operators = 0, counted = 0;
        for (const schema::StageRecord& each : report.stages) {
            double sum = 0;
            for (const auto& op : each.operators) sum += op.seconds;
            operators += sum;
            least += std::max(sum, each.seconds);
        }
        report.seconds = draw(2 * least);
        const RunProfile profile(model, report);
        for (const ProfileRow& row : profile.rows()) counted += row.ops.empty() ? 0 : row.seconds;
        const QByteArray which = QByteArray::number(seed);
        QVERIFY2(near(counted, operators), which);
        QVERIFY2(near(sumOfRows(profile), profile.seconds()), which);
        QVERIFY2(std::abs(profile.seconds() - std::max(least, report.seconds)) < 1e-6, which);
        QVERIFY2(faultOf(profile).isEmpty(), qPrintable(which + ": " + faultOf(profile)));
        QVERIFY2(std::ranges::none_of(profile.rows(), [](const auto& row) { return row.seconds < 0; }), which);
    }
}

void TestProfile::unknownOperatorsKeepTheirNames()
{
    schema::Report report = usual();
    report.stages[0].operators = {pass("other", 0.5, {"one", "two"})};
    const RunProfile profile(nested(), report);
    const ProfileRow& row = named(profile, "label of other");
    QCOMPARE(row.target, Target::stage(protocol::StageId(1)));
    QCOMPARE(row.fused, QStringList({"one", "two"}));
    QVERIFY(row.ops.empty());
    QVERIFY(near(sumOfRows(profile), 2));
}

void TestProfile::withoutTimesThereIsNothing()
{
    schema::Report report = usual();
    for (schema::StageRecord& each : report.stages) each.operators.clear();
    QVERIFY(!RunProfile::measured(report));
    const RunProfile profile(nested(), report);
    QVERIFY(profile.rows().empty() && profile.frames().empty());
    QCOMPARE(profile.seconds(), 0.0);
    QCOMPARE(profile.rowOf(Target()), -1);
    QCOMPARE(profile.frameOf(Target::stage(protocol::StageId(1))), -1);
}

void TestProfile::targetsAreFound()
{
    const protocol::ModelRecord model = nested();
    const RunProfile profile(model, usual());
    QCOMPARE(profile.rowOf(Target()), -1);
    QCOMPARE(profile.frameOf(Target()), -1);
    QCOMPARE(profile.rowOf(Target::op(model.findOp("x"))), -1);
    const int stage = profile.frameOf(Target::stage(protocol::StageId(2)));
    QCOMPARE(profile.frames()[static_cast<std::size_t>(stage)].name, QString("stage 2"));
    QVERIFY(profile.rows()[static_cast<std::size_t>(profile.rowOf(Target::stage(protocol::StageId(2))))].name ==
            "other work");
}

void TestProfile::theTableShowsAndCopiesIt()
{
    OperatorModel table;
    const QAbstractItemModelTester tester(&table);
    const RunProfile profile(nested(), usual());
    table.setProfile(profile);
    QCOMPARE(table.rowCount(), static_cast<int>(profile.rows().size()));
    const auto cell = [&](int row, ProfileColumn column, int role = Qt::DisplayRole) {
        return table.index(row, static_cast<int>(column)).data(role);
    };
    QCOMPARE(cell(2, ProfileColumn::Seconds).toString(), QString("500 ms"));
    QCOMPARE(cell(2, ProfileColumn::Share).toString(), QString("25.0 %"));
    QCOMPARE(cell(2, ProfileColumn::Bytes).toString(), QString("4.0 KiB"));
    QCOMPARE(cell(2, ProfileColumn::Stage).toString(), QString("1"));
    QCOMPARE(cell(0, ProfileColumn::Stage).toString(), QString("–"));
    QCOMPARE(cell(2, ProfileColumn::Share, RowPainter::PictureRole).toDouble(), 1.0);
    QVERIFY(cell(2, ProfileColumn::Operator, Qt::ToolTipRole).toString().contains("In one pass over the edges with: "));
    QVERIFY(cell(2, ProfileColumn::Operator, Qt::ToolTipRole).toString().contains("Module: convs.0\n"));
    QVERIFY(cell(3, ProfileColumn::Operator, Qt::ToolTipRole).toString().contains("frontiers"));
    const QStringList lines = panels::copiedTable(table).split('\n');
    QCOMPARE(lines[0], QString("Operator\tStage\tModule\tSeconds\tShare\tBytes"));
    QVERIFY(lines[3].endsWith("\t1\tconvs.0\t0.5\t0.25\t4096"));
    double sum = 0;
    for (qsizetype row = 1; row + 1 < lines.size(); ++row) sum += lines[row].split('\t')[3].toDouble();
    QVERIFY(std::abs(sum - 2) < 1e-4);
}

void TestProfile::framesAreAsWideAsTheyTook()
{
    const protocol::ModelRecord model = nested();
    FlameView view;
    view.resize(1000, 200);
    view.display(RunProfile(model, usual()));
    const RunProfile& profile = view.profile();
    QCOMPARE(view.placeOf(0).width(), 1000.0);
    const int second = profile.frameOf(Target::stage(protocol::StageId(2)));
    QVERIFY(near(view.placeOf(second).width(), 250));
    QVERIFY(near(view.placeOf(second).left(), 550));
    view.zoomTo(second);
    QVERIFY(near(view.placeOf(second).width(), 1000));
    QVERIFY(view.placeOf(0).width() == 1000);
    QVERIFY(view.placeOf(profile.frameOf(Target::stage(protocol::StageId(1)))).isEmpty());
    QVERIFY(near(view.placeOf(profile.frameOf(Target::op(model.findOp("r")))).width(), 400));
    // Names are written where they fit, shortened where they do not, and left out where nothing of them could be read.
    view.resize(4000, 200);
    for (int frame = 0; frame < static_cast<int>(profile.frames().size()); ++frame) {
        const QString text = view.textOf(frame);
        QVERIFY(text.isEmpty() || view.fontMetrics().horizontalAdvance(text) <= view.placeOf(frame).width());
    }
    QCOMPARE(view.textOf(second), QString("stage 2"));
    view.zoomTo(0);
    view.resize(60, 200);
    QVERIFY(view.textOf(second).isEmpty());
}

void TestProfile::keysWalkAndZoom()
{
    const protocol::ModelRecord model = nested();
    FlameView view;
    view.resize(1000, 200);
    view.display(RunProfile(model, usual()));
    const RunProfile& profile = view.profile();
    const auto name = [&] { return profile.frames()[static_cast<std::size_t>(view.current())].name; };
    const auto press = [&](std::initializer_list<Qt::Key> keys) {
        for (const Qt::Key key : keys) QTest::keyClick(&view, key);
        return name();
    };
    QCOMPARE(name(), QString("run"));
    QVERIFY(view.accessibleDescription().startsWith("the run: 2"));
    QCOMPARE(press({Qt::Key_Up, Qt::Key_Left, Qt::Key_Right}), QString("run"));
    QCOMPARE(press({Qt::Key_Down}), QString("stage 1"));  // the longest
    QVERIFY(view.accessibleDescription().startsWith("stage 1: 1"));
    QCOMPARE(press({Qt::Key_Left}), QString("prologue"));
    QCOMPARE(press({Qt::Key_Right, Qt::Key_Right}), QString("stage 2"));
    QCOMPARE(press({Qt::Key_Left, Qt::Key_Return}), QString("stage 1"));
    QCOMPARE(profile.frames()[static_cast<std::size_t>(view.zoomed())].name, QString("stage 1"));
    QCOMPARE(press({Qt::Key_Right}), QString("stage 1"));  // nothing else is in sight
    QCOMPARE(press({Qt::Key_Down, Qt::Key_Down}), QString("convs.0"));
    QSignalSpy chosen(&view, &FlameView::chosen);
    QTest::keyClick(&view, Qt::Key_Space);
    QCOMPARE(chosen.size(), 1);
    QCOMPARE(chosen[0][0].value<Target>(), Target::moduleAt("convs.0"));
    QCOMPARE(press({Qt::Key_Enter, Qt::Key_Up, Qt::Key_Up}), QString("stage 1"));
    QCOMPARE(press({Qt::Key_Down, Qt::Key_Down}), QString("convs.0"));
    QCOMPARE(press({Qt::Key_Escape}), QString("convs.0"));
    QCOMPARE(profile.frames()[static_cast<std::size_t>(view.zoomed())].name, QString("convs"));
    QCOMPARE(press({Qt::Key_Backspace, Qt::Key_Backspace}), QString("stage 1"));
    QCOMPARE(view.zoomed(), 0);
    QCOMPARE(press({Qt::Key_Escape}), QString("stage 1"));
    // Whoever selects something outside sees it.
    QTest::keyClick(&view, Qt::Key_Return);
    view.follow(Target::op(model.findOp("r")));
    QCOMPARE(view.zoomed(), 0);
    QVERIFY(!view.placeOf(view.current()).isEmpty());
    FlameView none;
    QTest::keyClick(&none, Qt::Key_Down);
    QTest::keyClick(&none, Qt::Key_Return);
    QCOMPARE(none.current(), -1);
}

void TestProfile::theMouseChoosesAndZooms()
{
    const protocol::ModelRecord model = nested();
    FlameView view;
    view.resize(1000, 200);
    view.display(RunProfile(model, usual()));
    const int second = view.profile().frameOf(Target::stage(protocol::StageId(2)));
    QSignalSpy chosen(&view, &FlameView::chosen);
    const QPoint there = view.placeOf(second).center().toPoint();
    QTest::mouseClick(&view, Qt::LeftButton, {}, there);
    QCOMPARE(chosen[0][0].value<Target>(), Target::stage(protocol::StageId(2)));
    QCOMPARE(view.current(), second);
    QTest::mouseDClick(&view, Qt::LeftButton, {}, there);
    QCOMPARE(view.zoomed(), second);
    QTest::mouseDClick(&view, Qt::LeftButton, {}, view.placeOf(0).center().toPoint());
    QCOMPARE(view.zoomed(), 0);
    QTest::mouseClick(&view, Qt::LeftButton, {}, {999, 199});  // below all frames
    QCOMPARE(view.current(), second);
}

// What is drawn of a row moves by no pixel when it is selected, in whatever column.
void TestProfile::selectedRowsStayWhereTheyAre_data()
{
    QTest::addColumn<bool>("tree");
    QTest::addColumn<bool>("painted");
    QTest::newRow("by the row painter") << false << true;
    QTest::newRow("as other tables") << false << false;
    QTest::newRow("as trees") << true << false;
}

void TestProfile::selectedRowsStayWhereTheyAre()
{
    QFETCH(bool, tree);
    QFETCH(bool, painted);
    const style::Theme theme = style::loadTheme(style::Mode::Light);
    style::applyTheme(theme);
    QStandardItemModel model(3, 2);
    for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 2; ++column) model.setItem(row, column, new QStandardItem("Hinge 12.5 %"));
    QWidget window;
    QAbstractItemView* view = panels::makeTable(QStringLiteral("rows"), &model, &window);
    if (tree) view = new QTreeView(&window);
    view->setModel(&model);
    RowPainter painter;
    painter.setTheme(theme);
    if (painted) view->setItemDelegate(&painter);
    view->resize(400, 200);
    window.show();
    const auto inkOf = [&](const QModelIndex& index) {
        const QImage picture = view->viewport()->grab(view->visualRect(index)).toImage();
        const QRgb ground = picture.pixel(picture.width() - 3, 2);
        QRect ink;
        for (int y = 0; y < picture.height(); ++y)
            for (int x = 0; x < picture.width(); ++x)
                if (std::abs(qGray(picture.pixel(x, y)) - qGray(ground)) > 90) ink |= QRect(x, y, 1, 1);
        return ink;
    };
    for (const int column : {0, 1}) {
        const QModelIndex index = model.index(1, column);
        view->clearSelection();
        const QRect before = inkOf(index);
        QVERIFY(before.width() > 20);
        view->selectionModel()->select(index, QItemSelectionModel::Select | QItemSelectionModel::Rows);
        QCOMPARE(inkOf(index), before);
    }
}

HOPSCOPE_QT_SUITE(profile, TestProfile)
#include "test_profile.moc"
