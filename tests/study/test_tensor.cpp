// The table of a tensor: what is fetched and when, what its cells say, and the heat map beside it.

#include <QHeaderView>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <cmath>
#include <limits>

#include "study/tensors/heat_map.h"
#include "study/tensors/histogram.h"
#include "study/tensors/tensor_model.h"
#include "study/tensors/tensor_text.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::study;

namespace {

constexpr int rows = 1'000'000, columns = 8;

double numberOf(qint64 row, int column)
{
    if (row == 2 && column == 1) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(row) + column / 10.0;
}

schema::TensorSummary summary(std::int64_t count = rows)
{
    schema::TensorSummary made;
    made.count = count;
    made.shape = {count, columns};
    made.dtype = "float32";
    made.axis = 0;
    made.statistics.numbers = count * columns;
    made.statistics.least = 0;
    made.statistics.most = static_cast<double>(count);
    return made;
}

protocol::NumberRows made(qint64 begin, qint64 end)
{
    protocol::NumberRows found{.begin = begin, .end = end, .width = columns};
    for (qint64 row = begin; row < end; ++row) {
        for (int column = 0; column < columns; ++column) found.numbers.push_back(numberOf(row, column));
        found.names.push_back({"node", row + 5, {}});
    }
    return found;
}

// A table whose rows come at once when they are asked for.
struct Table {
    TensorModel model;
    QTableView view;
    std::vector<std::pair<qint64, qint64>> asked;
    bool silent = false;

    explicit Table(std::int64_t count = rows)
    {
        QObject::connect(&model, &TensorModel::rowsWanted, &view, [this](qint64 begin, qint64 end) {
            asked.emplace_back(begin, end);
            if (!silent) model.give(made(begin, end));
        });
        QObject::connect(&model, &TensorModel::rowsCame, view.viewport(), qOverload<>(&QWidget::update));
        const schema::TensorSummary tensor = summary(count);
        model.setTensor(&tensor);
        model.setTheme(style::loadTheme(style::Mode::Light));
        view.setModel(&model);
        view.verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
        view.verticalHeader()->setDefaultSectionSize(20);
        view.resize(700, 400);
        view.show();
    }

    [[nodiscard]] QString cell(int row, int column) const
    {
        return model.index(row, column).data(Qt::DisplayRole).toString();
    }
};

}  // namespace

class TestTensorTable : public QObject {
    Q_OBJECT
private slots:
    void onlyWhatIsSeenIsFetched();
    void rowsAreNamedByTheirNodes();
    void whatIsScrolledPastIsNotAskedFor();
    void fewRowsAreKept();
    void rowsThatFailedAreAskedForAgain();
    void answersToAnotherTensorAreDropped();
    void edgesAreNamedByTheirEnds();
    void rowsAreFoundByTheirNumbers();
    void theHeatMapHasTheColoursOfItsRows();
    void theHistogramIsSaidInWords();
    void numbersAreSaidInWords();
};

void TestTensorTable::onlyWhatIsSeenIsFetched()
{
    Table table;
    QTRY_COMPARE(table.cell(1, 3), QString("1.3"));
    QCOMPARE(table.cell(2, 1), QString("NaN"));
    QVERIFY(table.asked.size() <= 1);
    table.view.scrollTo(table.model.index(777'777, 0), QAbstractItemView::PositionAtTop);
    QTRY_COMPARE(table.cell(777'780, 2), QString::number(777780.2, 'g', 5));
    for (const auto& [begin, end] : table.asked) QVERIFY(begin < 256 || (begin > 777'000 && end < 779'000));
    QCOMPARE(table.cell(500'000, 0), QString("…"));
    QVERIFY(table.model.index(2, 1).data(Qt::ForegroundRole).isValid());
    QVERIFY(!table.model.index(2, 2).data(Qt::ForegroundRole).isValid());
}

void TestTensorTable::rowsAreNamedByTheirNodes()
{
    Table table;
    QTRY_COMPARE(table.model.headerData(3, Qt::Vertical, Qt::DisplayRole).toString(), QString("8"));
    QCOMPARE(table.model.headerData(3, Qt::Horizontal, Qt::DisplayRole).toString(), QString("3"));
    QCOMPARE(table.model.headerData(900'000, Qt::Vertical, Qt::DisplayRole).toString(), QString("…"));
}

void TestTensorTable::whatIsScrolledPastIsNotAskedFor()
{
    Table table;
    QTRY_COMPARE(table.cell(0, 0), QString("0"));
    table.silent = true;
    const std::size_t before = table.asked.size();
    for (int step = 1; step <= 400; ++step) {
        table.view.verticalScrollBar()->setValue(step * 2000);
        table.view.viewport()->repaint();
    }
    QTest::qWait(50);
    QVERIFY2(table.asked.size() - before <= 2, qPrintable(QString::number(table.asked.size() - before)));
    table.silent = false;  // what is under way comes now, and then what is seen
    for (const auto& [begin, end] :
         std::vector(table.asked.begin() + static_cast<std::ptrdiff_t>(before), table.asked.end()))
        table.model.give(made(begin, end));
    QTRY_VERIFY(table.cell(800'001, 0) != QString("…"));
}

void TestTensorTable::fewRowsAreKept()
{
    Table table;
    for (int step = 0; step < 200; ++step) {
        table.view.verticalScrollBar()->setValue(step * 4999);
        table.view.viewport()->repaint();
        QTest::qWait(1);
    }
    QVERIFY(table.asked.size() > 100);
    QVERIFY(table.model.keptBlocks() <= 48);
}

void TestTensorTable::rowsThatFailedAreAskedForAgain()
{
    Table table;
    table.silent = true;
    QTRY_COMPARE(table.asked.size(), std::size_t{1});
    table.model.failed(table.asked.front().first);
    table.silent = false;
    table.view.viewport()->update();
    QTRY_COMPARE(table.cell(0, 1), QString("0.1"));
}

void TestTensorTable::answersToAnotherTensorAreDropped()
{
    Table table;
    table.silent = true;
    QTRY_VERIFY(!table.asked.empty());
    const schema::TensorSummary other = summary(3);
    table.model.setTensor(&other);
    table.model.give(made(0, 256));
    QCOMPARE(table.cell(0, 0), QString("…"));
    table.model.setTensor(nullptr);
    QCOMPARE(table.model.rowCount(), 0);
    QCOMPARE(table.model.columnCount(), 0);
}

void TestTensorTable::edgesAreNamedByTheirEnds()
{
    Table table(2);
    table.silent = true;
    QTRY_VERIFY(!table.asked.empty());
    protocol::NumberRows edges = made(0, 2);
    edges.names = {{"edge_index", 7, {3, 4}}, {"node", 9, {}}};
    table.model.give(edges);
    QCOMPARE(table.model.rowName(0), QString("7: 3 → 4"));
    QCOMPARE(table.model.rowName(1), QString("9"));
}

void TestTensorTable::rowsAreFoundByTheirNumbers()
{
    Table table;  // row 0 has the number 5
    QTRY_COMPARE(table.cell(0, 0), QString("0"));
    QCOMPARE(table.model.find(17, 17), 12);
    QCOMPARE(table.model.find(17, 12), 12);
    QCOMPARE(table.model.find(7, rows), 2);
    QCOMPARE(table.model.find(900'000, 900'000), 900'000);  // not fetched yet
    QCOMPARE(table.model.find(2, 2), -1);
    QCOMPARE(table.model.find(rows + 5, rows + 5), -1);
}

void TestTensorTable::theHeatMapHasTheColoursOfItsRows()
{
    const style::Theme theme = style::loadTheme(style::Mode::Light);
    QCOMPARE(heatColour(theme, -1, 0, 1), theme.scale.first());
    QCOMPARE(heatColour(theme, 2, 0, 1), theme.scale.last());
    QCOMPARE(heatColour(theme, std::nan(""), 0, 1), theme.bad);
    QWidget both;
    Table table(12);
    table.view.setParent(&both);
    table.view.setGeometry(0, 0, 400, 300);
    HeatMap map(table.model, table.view, &both);
    map.setGeometry(400, 0, 80, 300);
    map.setTheme(theme);
    map.setRange(0, 12);
    both.resize(480, 300);
    both.show();
    table.view.show();
    QTRY_COMPARE(table.cell(0, 0), QString("0"));
    QTest::qWait(20);
    const QImage picture = both.grab().toImage();
    const int header = table.view.viewport()->mapTo(&both, QPoint()).y();
    QCOMPARE(picture.pixelColor(405, header + 10), heatColour(theme, 0, 0, 12));
    QCOMPARE(picture.pixelColor(475, header + 7 * 20 + 10), heatColour(theme, 7.7, 0, 12));
    QCOMPARE(picture.pixelColor(415, header + 2 * 20 + 10), theme.bad);  // NaN in row 2, column 1
}

void TestTensorTable::theHistogramIsSaidInWords()
{
    Histogram histogram;
    schema::Statistics statistics{.numbers = 50, .finite = 50, .least = -1, .most = 3};
    statistics.histogram.assign(schema::histogramBins, 0);
    statistics.histogram.front() = 20;
    statistics.histogram.back() = 30;
    histogram.setTheme(style::loadTheme(style::Mode::Dark));
    histogram.display(statistics);
    histogram.resize(400, 90);
    histogram.grab();
    QCOMPARE(histogram.accessibleDescription(), QString("-1 to -0.9: 20; 2.9 to 3: 30"));
}

void TestTensorTable::numbersAreSaidInWords()
{
    schema::TensorSummary tensor = summary(270);
    tensor.stage = plan::StageId(1);
    tensor.rows = "rows of node in the batch";
    tensor.batch = schema::BatchPlace{4, 270, 90};
    QCOMPARE(tensorFacts(tensor),
             QString("float32 · 270 × 8 · rows of node in the batch · stage 1, batch 4: destinations 270 to 359"));
    tensor.statistics = {.numbers = 2160, .finite = 2158, .zeros = 40, .nan = 2, .least = -1.5, .most = 2};
    QCOMPARE(tensorNumbers(tensor.statistics),
             QString("min −1.5 · max 2 · mean – · std – · 40 of 2,160 numbers are zero · 2 NaN · 0 infinite"));
}

HOPSCOPE_QT_SUITE(tensor, TestTensorTable)
#include "study/test_tensor.moc"
