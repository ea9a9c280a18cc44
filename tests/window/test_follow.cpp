// A node followed through the stages, by real events, with recorded answers of the engine.

#include <QClipboard>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <cmath>
#include <numeric>

#include "bed.h"
#include "checks.h"
#include "study/tensors/follow_panel.h"
#include "support/qt_suites.h"

using namespace hopscope;
using bed::Bed;
using bed::child;

class TestFollow : public QObject {
    Q_OBJECT
private slots:
    void aNodeIsFollowedByKeyboard();
    void rowsAreSortedAndReveal();
    void messagesFollowTheSelection();
    void aNeighbourIsFollowedInTurn();
    void whatIsMissingIsSaid();
    void followingIsCancelled();
    void tablesAreCopied();
    void anotherPlanIsSaid();
    void anotherModelForgetsTheNode();
    void nothingIsClippedAlongTheWay();

private:
    static study::FollowPanel& panelOf(Bed& bed)
    {
        return *static_cast<study::FollowPanel*>(bed.window->docks().dock("follow")->widget());
    }
    static QTableView& table(Bed& bed, const char* name) { return *child<QTableView>(*bed.window, name); }
    static QString said(Bed& bed) { return child<QLabel>(*bed.window, "followState")->text(); }
    static QString cell(Bed& bed, const char* name, int row, int column)
    {
        return table(bed, name).model()->index(row, column).data().toString();
    }
    static bool follow(Bed& bed, const QString& node)
    {
        QTest::keyClick(bed.window.get(), Qt::Key_L, Qt::ControlModifier);
        auto* edit = child<QLineEdit>(*bed.window, "followNode");
        edit->setFocus();
        edit->selectAll();
        QTest::keyClicks(edit, node);
        QSignalSpy finished(&panelOf(bed), &study::FollowPanel::finished);
        QTest::keyClick(edit, Qt::Key_Return);
        const bool came = finished.size() > 0 || finished.wait(60'000);
        QCoreApplication::processEvents();  // what has been shown has its place
        return came && panelOf(bed).followed() == node.toLongLong();
    }
};

void TestFollow::aNodeIsFollowedByKeyboard()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    QVERIFY(follow(bed, "17"));
    QVERIFY(panelOf(bed).isVisible());
    const auto stored = static_cast<int>(bed.window->document().plan()->checkpoints.size());
    QVERIFY(stored > 1);
    QCOMPARE(table(bed, "followRows").model()->rowCount(), stored);
    for (int row = 1; row < stored; ++row)
        QVERIFY(cell(bed, "followRows", row - 1, 1).toInt() <= cell(bed, "followRows", row, 1).toInt());
    const QModelIndex numbers = table(bed, "followRows").model()->index(0, 3);
    QCOMPARE(numbers.data(Qt::AccessibleTextRole).toString(), numbers.data(Qt::ToolTipRole).toString());
    const QStringList row = numbers.data(Qt::ToolTipRole).toString().split(", ");
    QCOMPARE(row.size(), 6);  // columns of the first layer's result
    std::vector<double> values;
    std::ranges::transform(row, std::back_inserter(values), [](const QString& number) { return number.toDouble(); });
    const double norm = std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
    QVERIFY(std::abs(cell(bed, "followRows", 0, 4).toDouble() / norm - 1) < 1e-3);
    QVERIFY(cell(bed, "followRows", stored - 1, 0).contains("(output)"));
    for (const auto& [at, node] : {std::pair{0, "18"}, std::pair{1, "17"}, std::pair{2, "16"}})
        QCOMPARE(cell(bed, "followMessages", at, 0), QString(node));  // numbers of x grow with the rows
    QCOMPARE(cell(bed, "followMessages", 1, 3), QString("33.3 %"));
    QVERIFY(child<QLabel>(*bed.window, "followSentence")->text().contains("3 messages"));
    QCOMPARE(said(bed), QString("Node 17."));
    // The colours of the row are painted: from one end of the scale to the other.
    const QTableView& rows = table(bed, "followRows");
    const QImage picture = rows.viewport()->grab(rows.visualRect(numbers)).toImage();
    const auto colourOf = [&](auto value) {
        const auto at = static_cast<int>(value - values.begin());
        return picture.pixelColor(picture.width() * (2 * at + 1) / 12, picture.height() / 2);
    };
    QCOMPARE(colourOf(std::ranges::min_element(values)), bed.window->theme().scale.first());
    QCOMPARE(colourOf(std::ranges::max_element(values)), bed.window->theme().scale.last());
}

void TestFollow::rowsAreSortedAndReveal()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    QVERIFY(follow(bed, "3"));
    QTableView& rows = table(bed, "followRows");
    const QString before = cell(bed, "followRows", 0, 1);
    QHeaderView* header = rows.horizontalHeader();
    QTest::mouseClick(header->viewport(), Qt::LeftButton, {},
                      {header->sectionViewportPosition(1) + 10, header->height() / 2});
    QVERIFY(cell(bed, "followRows", 0, 1).toInt() > before.toInt());
    rows.setFocus();
    QTest::keyClick(&rows, Qt::Key_Down);
    const models::Target target = rows.currentIndex().data(models::TargetRole).value<models::Target>();
    QVERIFY(target.kind == models::Target::Kind::Value);
    QCOMPARE(bed.window->selection().current(), target);
}

void TestFollow::messagesFollowTheSelection()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    QVERIFY(follow(bed, "3"));
    auto* choice = child<QComboBox>(*bed.window, "followAggregation");
    QVERIFY(choice->count() > 1);
    const QString last = choice->itemData(choice->count() - 1).toString();
    QVERIFY(choice->currentData().toString() != last);
    bed.window->selection().select(models::Target::op(bed.window->document().model()->findOp(last.toStdString())));
    QCOMPARE(choice->currentData().toString(), last);
    choice->setFocus();
    QTest::keyClick(choice, Qt::Key_Up);
    QVERIFY(choice->currentData().toString() != last);
    QVERIFY(follow(bed, "4"));  // stays at what has been chosen
    QVERIFY(choice->currentData().toString() != last);
}

void TestFollow::aNeighbourIsFollowedInTurn()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    QVERIFY(follow(bed, "17"));
    auto* next = child<QPushButton>(*bed.window, "followNext");
    QVERIFY(!next->isEnabled());
    QTableView& messages = table(bed, "followMessages");
    messages.setFocus();
    messages.setCurrentIndex(messages.model()->index(0, 0));
    QVERIFY(next->isEnabled());
    QTest::keyClick(&messages, Qt::Key_Return);
    QTRY_COMPARE(panelOf(bed).followed(), std::optional<qint64>(18));
    QCOMPARE(child<QLineEdit>(*bed.window, "followNode")->text(), QString("18"));
    messages.setCurrentIndex(messages.model()->index(0, 0));
    QTest::mouseClick(next, Qt::LeftButton);
    QTRY_COMPARE(panelOf(bed).followed(), std::optional<qint64>(19));
}

void TestFollow::whatIsMissingIsSaid()
{
    Bed bed;
    bed.window->docks().bring("follow");
    QVERIFY(bed.open("chain3.pt", {}));
    bed.window->docks().bring("follow");
    QVERIFY(said(bed).contains("with its graph"));
    bed.window->closeFile();
    QVERIFY(said(bed).contains("No model is open"));
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    bed.window->docks().bring("follow");
    QVERIFY(said(bed).contains("Enter the row number"));
    auto* edit = child<QLineEdit>(*bed.window, "followNode");
    auto* start = child<QPushButton>(*bed.window, "followStart");
    for (const char* wrong : {"x", "-1", "10000"}) {
        edit->setText(wrong);
        QVERIFY2(!start->isEnabled(), wrong);
    }
    QVERIFY(said(bed).contains("the last one is 9,999"));
    edit->setText("9999");
    QVERIFY(start->isEnabled());
    QVERIFY(said(bed).contains("Runs the plan"));
    QVERIFY(!table(bed, "followRows").isVisible());
    QTest::mouseClick(start, Qt::LeftButton);
    QTRY_COMPARE(panelOf(bed).followed(), std::optional<qint64>(9999));
}

void TestFollow::followingIsCancelled()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    bed.window->docks().bring("follow");
    child<QLineEdit>(*bed.window, "followNode")->setText("4242");  // the engine takes a second
    auto* cancel = child<QPushButton>(*bed.window, "followCancel");
    QVERIFY(!cancel->isVisible());
    panelOf(bed).start();
    QVERIFY(panelOf(bed).busy() && cancel->isVisible());
    QVERIFY(!child<QPushButton>(*bed.window, "followStart")->isEnabled());
    QTRY_VERIFY(said(bed).contains("computing"));
    QTest::mouseClick(cancel, Qt::LeftButton);
    QVERIFY(!panelOf(bed).busy());
    QCOMPARE(said(bed), QString("Cancelled."));
    QTest::qWait(50);
    QVERIFY(!panelOf(bed).followed());
    QVERIFY(follow(bed, "5"));
}

void TestFollow::tablesAreCopied()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    QVERIFY(follow(bed, "17"));
    QTest::mouseClick(child<QPushButton>(*bed.window, "followCopy"), Qt::LeftButton);
    const QStringList lines = QGuiApplication::clipboard()->text().split('\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 1 + table(bed, "followRows").model()->rowCount());
    QVERIFY(lines[0].startsWith("Stored value\tStage\tRow of\tNumbers of the row"));
    const QString row = table(bed, "followRows").model()->index(0, 3).data(Qt::ToolTipRole).toString();
    QVERIFY(lines[1].contains('\t' + row + '\t'));
    QTableView& messages = table(bed, "followMessages");
    messages.setFocus();
    QTest::keyClick(&messages, Qt::Key_C, Qt::ControlModifier);
    const QStringList copied = QGuiApplication::clipboard()->text().split('\n');
    QCOMPARE(copied.front(), QString("Neighbour\tEdge\tNorm\tShare"));
    QVERIFY2(copied[1].startsWith("18\tedge_index 53\t") && copied[1].endsWith("\t33.3 %"), qPrintable(copied[1]));
    QCOMPARE(copied.size(), 5);  // the last one is empty
    QCOMPARE(said(bed), QString("Copied."));
}

void TestFollow::anotherPlanIsSaid()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    QVERIFY(follow(bed, "17"));
    const auto& stored = bed.window->document().plan()->checkpoints;
    const auto store = std::ranges::find(stored, false, &protocol::PlanCheckpoint::output);
    QVERIFY(store != stored.end());
    bed.window->workbench().pin({base::PinKind::NoCheckpoint, store->value});
    QTRY_VERIFY(said(bed).contains("The plan has changed"));
    QVERIFY(follow(bed, "17"));
    QVERIFY(!said(bed).contains("changed"));
}

void TestFollow::anotherModelForgetsTheNode()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    QVERIFY(follow(bed, "17"));
    QVERIFY(bed.open("chain4.pt", {"graph.safetensors"}));
    QVERIFY(!panelOf(bed).followed());
    QVERIFY(!table(bed, "followRows").isVisible());
}

void TestFollow::nothingIsClippedAlongTheWay()
{
    for (const QSize size : {QSize(1600, 1000), QSize(1280, 800)}) {
        Bed bed;
        bed.window->resize(size);
        bed.window->docks().setPerspective("explain");
        QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
        QVERIFY(follow(bed, "17"));
        const QStringList found = checks::lasting([&] {
            return checks::clippedTexts(*bed.window) + checks::overlaps(*bed.window) +
                   checks::unnamedWidgets(*bed.window) + checks::paleTexts(*bed.window, bed.window->grab().toImage());
        });
        QVERIFY2(found.isEmpty(), qPrintable(found.join('\n')));
    }
}

HOPSCOPE_QT_SUITE(window_follow, TestFollow)
#include "test_follow.moc"
