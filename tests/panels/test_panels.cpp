#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTableView>
#include <QTextBlock>
#include <QToolButton>
#include <QTreeView>
#include <random>

#include "models/roles.h"
#include "panels/compare_bars.h"
#include "panels/fixture.h"
#include "panels/front_plot.h"
#include "panels/source_view.h"
#include "plots/label_place.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::panels;
using models::Target;

namespace {

std::vector<Panel* (*)(const Context&, QWidget*)> factories()
{
    return {makeInspector, makePlanPanel, makeWhy,      makeTradeOff, makeOutline,
            makeProblems,  makeRunPanel,  makeRunPlots, makeLog,      makeHistory};
}

}  // namespace

class TestPanels : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { style::applyTheme(style::loadTheme(style::Mode::Light)); }
    void init() { failOnWarnings(); }

    void everyPanelHasItsNameAndStandsEmptyAndFull();
    void everyInteractiveWidgetHasAName();
    void noLabelIsClipped_data();
    void noLabelIsClipped();

    void theInspectorFollowsTheSelection();
    void hopsInTheInspectorLeadToTheirOperators();
    void theInspectorShowsStagesAndModules();
    void theInspectorForgetsAClosedModel();
    void sourceLinesAreNumberedAndMarked();

    void thePlanPanelShowsBytesAndStores();
    void choosingARowSelectsItsValue();
    void selectingAStageMarksItsRow();

    void searchingTheOutlineKeepsAncestors();
    void theOutlineAndTheGraphSelectEachOther();
    void problemsJumpToTheirOperator();
    void theLogShowsNotesOnce();
    void aFloodOfLinesKeepsTheLogShortAndPlain();
    void labelsOfTheTradeOffCanBeRead();
};

void TestPanels::everyPanelHasItsNameAndStandsEmptyAndFull()
{
    const QStringList names{"inspector", "plan", "why",   "tradeOff", "outline",
                            "problems",  "run",  "plots", "log",      "history"};
    Fixture fixture;
    QStringList found;
    std::vector<std::unique_ptr<Panel>> panels;
    for (const auto make : factories()) {
        panels.push_back(fixture.show(make, {400, 400}));
        found << panels.back()->objectName();
    }
    QCOMPARE(found, names);
    fixture.open();
    fixture.document.setRunLog(std::make_shared<models::RunLog>());
    fixture.document.runLog()->apply(scriptedRun(2, 3, true));
    QCoreApplication::processEvents();
    fixture.document.setModel(nullptr);  // closed
    fixture.selection.clear();
    QCoreApplication::processEvents();
    for (const auto& panel : panels) {
        panel->setTheme(style::loadTheme(style::Mode::Dark));
        QVERIFY(!panel->grab().isNull());
    }
}

void TestPanels::everyInteractiveWidgetHasAName()
{
    OpenFixture fixture;
    for (const auto make : factories()) {
        const auto panel = fixture.show(make, {600, 400});
        for (QWidget* widget : panel->findChildren<QWidget*>()) {
            const bool interactive =
                widget->focusPolicy() != Qt::NoFocus && qobject_cast<QTabWidget*>(widget) == nullptr &&
                !widget->objectName().startsWith(QLatin1String("qt_")) && !widget->inherits("QTabBar") &&
                !widget->inherits("QScrollArea") && !widget->inherits("QHeaderView") &&
                qobject_cast<QTabWidget*>(widget->parentWidget()) == nullptr &&
                !widget->inherits("QAbstractButtonPrivate");
            if (!interactive || widget->inherits("QTableCornerButton") || widget->inherits("QComboBoxListView"))
                continue;
            if (qobject_cast<QLineEdit*>(widget) && qobject_cast<QComboBox*>(widget->parentWidget())) continue;
            const auto* label = qobject_cast<QLabel*>(widget);
            const bool named =
                !widget->accessibleName().isEmpty() || (label != nullptr && !label->text().contains(QLatin1Char('<')));
            QVERIFY2(named, qPrintable(panel->objectName() + QStringLiteral(": ") +
                                       QString::fromLatin1(widget->metaObject()->className()) + QLatin1Char(' ') +
                                       widget->objectName()));
        }
    }
}

void TestPanels::noLabelIsClipped_data()
{
    QTest::addColumn<double>("scale");
    QTest::newRow("100 %") << 1.0;
    QTest::newRow("200 %") << 2.0;
}

void TestPanels::noLabelIsClipped()
{
    QFETCH(double, scale);
    const QFont usual = QApplication::font();
    QFont large = usual;
    large.setPointSizeF(usual.pointSizeF() * scale);
    QApplication::setFont(large);
    OpenFixture fixture;
    fixture.document.setRunLog(std::make_shared<models::RunLog>());
    fixture.document.runLog()->apply(scriptedRun(2, 3, true));
    for (const auto make : factories()) {
        const auto panel = fixture.show(make, QSize(620, 700) * scale);
        fixture.selection.select(Target::op(fixture.op("s1")));
        QCoreApplication::processEvents();
        panel->grab();
        for (const QLabel* label : panel->findChildren<QLabel*>()) {
            if (!label->isVisible() || label->text().isEmpty() || !label->toolTip().isEmpty()) continue;
            const QSize needed(label->wordWrap() ? 0 : label->sizeHint().width(),
                               label->wordWrap() ? label->heightForWidth(label->width()) : label->sizeHint().height());
            QVERIFY2(label->width() >= needed.width() && label->height() >= needed.height(),
                     qPrintable(QStringLiteral("%1: \"%2\" has %3 x %4, needs %5 x %6")
                                    .arg(panel->objectName(), label->text())
                                    .arg(label->width())
                                    .arg(label->height())
                                    .arg(needed.width())
                                    .arg(needed.height())));
        }
    }
    QApplication::setFont(usual);
}

void TestPanels::theInspectorFollowsTheSelection()
{
    Fixture fixture;
    const auto panel = fixture.show(makeInspector, {380, 700});
    QCOMPARE(text(*panel, "inspectorTitle"), QStringLiteral("No model is open"));
    fixture.open();
    QCOMPARE(text(*panel, "inspectorTitle"), QStringLiteral("Drawn"));
    fixture.selection.select(Target::op(fixture.op("s1")));
    QCOMPARE(text(*panel, "inspectorTitle"), QStringLiteral("convs.1 output"));
    QCOMPARE(text(*panel, "inspectorPath"), QStringLiteral("convs.1 · Conv · aten::index_add"));
    QCOMPARE(text(*panel, "fact.depth"), QStringLiteral("2"));
    QCOMPARE(text(*panel, "depthHeading"), QStringLiteral("Why depth 2"));
    QCOMPARE(text(*panel, "cutHeading"), QStringLiteral("Why cut here"));
    QVERIFY(!part<QPushButton>(*panel, "storeHere")->isVisible());
    fixture.selection.select(Target::value(fixture.document.model()->findValue("v.s0")));
    QCOMPARE(text(*panel, "cutHeading"), QStringLiteral("Why not cut here"));
    QVERIFY(part<QPushButton>(*panel, "storeHere")->isVisible());
}

void TestPanels::hopsInTheInspectorLeadToTheirOperators()
{
    OpenFixture fixture;
    const auto panel = fixture.show(makeInspector, {380, 700});
    fixture.selection.select(Target::op(fixture.op("s1")));
    auto* hops = part<QLabel>(*panel, "hops");
    QVERIFY(hops->isVisible());
    QCOMPARE(hops->text().count(QStringLiteral("<a href")), 4);
    const QSignalSpy revealed(&fixture.selection, &models::Selection::revealRequested);
    emit hops->linkActivated(QStringLiteral("op:%1").arg(fixture.op("m0").index));
    QCOMPARE(revealed.count(), 1);
    QCOMPARE(fixture.selection.current(), Target::op(fixture.op("m0")));
    QCOMPARE(text(*panel, "inspectorTitle"), QStringLiteral("convs.0 gather source"));
}

void TestPanels::theInspectorShowsStagesAndModules()
{
    OpenFixture fixture;
    const auto panel = fixture.show(makeInspector, {380, 700});
    fixture.selection.select(Target::stage(protocol::StageId(2)));
    QCOMPARE(text(*panel, "inspectorTitle"), QStringLiteral("Stage 2"));
    QVERIFY(text(*panel, "producers").contains(QStringLiteral("relu after convs.0")));
    QVERIFY(!part<QLabel>(*panel, "depthHeading")->isVisible());
    fixture.selection.select(Target::moduleAt(QStringLiteral("convs.0")));
    QCOMPARE(text(*panel, "inspectorTitle"), QStringLiteral("convs.0"));
    QCOMPARE(text(*panel, "fact.operators"), QStringLiteral("3, plus 2 structure-only"));
    QCOMPARE(text(*panel, "fact.stages"), QStringLiteral("1"));
}

void TestPanels::theInspectorForgetsAClosedModel()
{
    OpenFixture fixture;
    const auto panel = fixture.show(makeInspector, {380, 700});
    fixture.selection.select(Target::op(fixture.op("s1")));
    fixture.document.setModel(nullptr);
    QCOMPARE(text(*panel, "inspectorTitle"), QStringLiteral("No model is open"));
    QVERIFY(!part<QLabel>(*panel, "hops")->isVisible());
}

void TestPanels::sourceLinesAreNumberedAndMarked()
{
    SourceView view;
    view.setTheme(style::loadTheme(style::Mode::Light));
    view.resize(300, 120);
    view.setSource(QStringLiteral("def forward(self):\n    return x\n"), 41, 42);
    QCOMPARE(view.numberOf(1), QStringLiteral("42"));
    QCOMPARE(view.extraSelections().size(), 1);
    QCOMPARE(view.extraSelections().first().cursor.block().text(), QStringLiteral("    return x"));
    view.setSource(QStringLiteral("x"), 1, 99);
    QVERIFY(view.extraSelections().isEmpty());
}

void TestPanels::thePlanPanelShowsBytesAndStores()
{
    Fixture fixture;
    const auto panel = fixture.show(makePlanPanel, {380, 600});
    QCOMPARE(text(*panel, "planHeadline"), QStringLiteral("No plan"));
    fixture.open();
    QCOMPARE(text(*panel, "planHeadline"), QStringLiteral("Moves 400 B"));
    QCOMPARE(part<QTableView>(*panel, "checkpoints")->model()->rowCount(), 2);
    QCOMPARE(part<QTableView>(*panel, "stages")->model()->rowCount(), 2);
    std::int64_t sum = 0;
    for (const PlanBar& bar : part<CompareBars>(*panel, "compareBars")->bars()) sum += bar.total();
    QCOMPARE(sum, 400);
    QVERIFY(!part<QToolButton>(*panel, "undo")->isEnabled());
    QVERIFY(!part<QToolButton>(*panel, "clearPins")->isEnabled());
}

void TestPanels::choosingARowSelectsItsValue()
{
    OpenFixture fixture;
    const auto panel = fixture.show(makePlanPanel, {380, 600});
    auto* table = part<QTableView>(*panel, "checkpoints");
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(table->model()->index(0, 0)).center());
    QCOMPARE(fixture.selection.current(), Target::value(fixture.document.model()->findValue("v.r0")));
}

void TestPanels::selectingAStageMarksItsRow()
{
    OpenFixture fixture;
    const auto panel = fixture.show(makePlanPanel, {380, 600});
    auto* stages = part<QTableView>(*panel, "stages");
    fixture.selection.select(Target::stage(protocol::StageId(2)));
    QCOMPARE(stages->selectionModel()->currentIndex().row(), 1);
    fixture.selection.select(Target::op(fixture.op("r0")));
    QVERIFY(!stages->selectionModel()->hasSelection());
    QCOMPARE(part<QTableView>(*panel, "checkpoints")->selectionModel()->currentIndex().row(), 0);
    QCOMPARE(fixture.selection.current(), Target::op(fixture.op("r0")));  // following is not choosing
}

void TestPanels::searchingTheOutlineKeepsAncestors()
{
    OpenFixture fixture;
    const auto panel = fixture.show(makeOutline, {240, 600});
    auto* tree = part<QTreeView>(*panel, "outlineTree");
    QTest::keyClicks(part<QLineEdit>(*panel, "outlineSearch"), QStringLiteral("relu"));
    const QModelIndex root = tree->model()->index(0, 0);
    QCOMPARE(tree->model()->rowCount(), 1);
    QCOMPARE(tree->model()->rowCount(root), 1);
    QVERIFY(tree->isExpanded(root));
    QCOMPARE(tree->model()->index(0, 0, root).data().toString(), QStringLiteral("relu"));
}

void TestPanels::theOutlineAndTheGraphSelectEachOther()
{
    OpenFixture fixture;
    const auto panel = fixture.show(makeOutline, {240, 600});
    auto* tree = part<QTreeView>(*panel, "outlineTree");
    fixture.selection.select(Target::op(fixture.op("s1")));
    QCOMPARE(tree->currentIndex().data(models::TargetRole).value<Target>(), Target::op(fixture.op("s1")));
    const QSignalSpy revealed(&fixture.selection, &models::Selection::revealRequested);
    tree->setFocus();
    QTest::keyClick(tree, Qt::Key_Up);
    QCOMPARE(fixture.selection.current(), Target::op(fixture.op("m1")));
    QCOMPARE(revealed.count(), 1);
}

void TestPanels::problemsJumpToTheirOperator()
{
    Fixture fixture;
    protocol::ModelRecord model = drawn::twoLayers();
    model.lints = {{"baked-size", "a size is baked in", model.findOp("h1")}};
    fixture.document.setModel(std::make_shared<const protocol::ModelRecord>(model));
    const auto panel = fixture.show(makeProblems, {500, 200});
    auto* table = part<QTableView>(*panel, "problemTable");
    QVERIFY(table->isVisible());
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(table->model()->index(0, 0)).center());
    QCOMPARE(fixture.selection.current(), Target::op(model.findOp("h1")));
    fixture.open();
    QVERIFY(!table->isVisible());
    QVERIFY(part<QLabel>(*panel, "noProblems")->isVisible());
}

void TestPanels::theLogShowsNotesOnce()
{
    Fixture fixture;
    const auto panel = fixture.show(makeLog, {500, 200});
    auto* lines = part<QPlainTextEdit>(*panel, "logText");
    auto log = std::make_shared<models::RunLog>();
    fixture.document.setRunLog(log);
    log->apply({1, protocol::RunState::Running, {protocol::NoteEvent{"a first note"}}});
    log->apply({1, protocol::RunState::Running, {protocol::NoteEvent{"a second note"}}});
    QCOMPARE(lines->toPlainText().count(QStringLiteral("a first note")), 1);
    QCOMPARE(lines->toPlainText().count(QStringLiteral("a second note")), 1);
    emit fixture.workbench.engineLost(QStringLiteral("killed"));
    QVERIFY(lines->toPlainText().endsWith(QStringLiteral("Engine lost: killed")));
}

void TestPanels::aFloodOfLinesKeepsTheLogShortAndPlain()
{
    Fixture fixture;
    const auto panel = fixture.show(makeLog, {500, 200});
    const auto* lines = part<QPlainTextEdit>(*panel, "logText");
    const QString hostile = QStringLiteral("<b>bold</b><img src=\"http://host/x\">");
    for (int i = 1; i <= 100'000; ++i) emit fixture.workbench.engineLost(QString::number(i) + hostile);
    QCOMPARE(lines->document()->blockCount(), 5000);
    QVERIFY(lines->toPlainText().endsWith(QStringLiteral("Engine lost: 100000") + hostile));
    emit fixture.workbench.engineLost(QString(1'000'000, u'x'));
    QVERIFY(lines->document()->lastBlock().text().size() < 2100);
}

namespace {

models::PlanPtr planOf(double memory, double seconds)
{
    protocol::PlanRecord plan;
    plan.predicted =
        protocol::Prediction{.peakMemory = static_cast<std::int64_t>(memory), .seconds = seconds, .stages = {}};
    return std::make_shared<const protocol::PlanRecord>(std::move(plan));
}

}  // namespace

// The plan of now among the others, at either end, and off the curve; with a limit close to it.
void TestPanels::labelsOfTheTradeOffCanBeRead()
{
    std::mt19937 random(7);
    std::uniform_real_distribution<double> factor(1.05, 3);
    for (int attempt = 0; attempt < 60; ++attempt) {
        std::vector<models::FrontRow> rows;
        double memory = 1e6, seconds = 1;
        for (int point = 0; point < 2 + attempt % 6; ++point) {
            rows.push_back({.point = {.plan = planOf(memory, seconds), .memory = {}}});
            memory *= factor(random);
            seconds /= factor(random);
        }
        const models::PlanPtr now = attempt % 3 == 0 ? planOf(memory / 3, 1) : rows[attempt % rows.size()].point.plan;
        FrontPlot plot;
        plot.resize(attempt % 2 == 0 ? QSize(420, 210) : QSize(300, 210));
        plot.display(rows, now, static_cast<qint64>(now->predicted->peakMemory * factor(random)));
        for (const QRectF& label : {plot.nowLabel(), plot.limitLabel()}) {
            if (label.isEmpty()) continue;
            QVERIFY(QRectF(plot.rect()).contains(label));
            for (const QLineF& line : plot.lines())
                QVERIFY2(!plots::crosses(line, label),
                         qPrintable(QString("%1: %2 %3").arg(attempt).arg(label.left()).arg(label.top())));
        }
        QVERIFY(!plot.nowLabel().isEmpty() && !plot.nowLabel().intersects(plot.limitLabel()));
    }
}

HOPSCOPE_QT_SUITE(panels, TestPanels)
#include "test_panels.moc"
