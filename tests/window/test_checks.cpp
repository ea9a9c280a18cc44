// The checks of pictures see what people see: a fault of each kind, planted into a sound form, is found.

#include <QFormLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QStandardItemModel>
#include <QTabBar>
#include <QTableView>
#include <QTest>

#include "checks.h"
#include "plots/stage_bars.h"
#include "plots/time_plot.h"
#include "support/qt_suites.h"

using namespace hopscope;

namespace {

// A form with something of each kind, all of it legible.
struct Form {
    Form()
    {
        window.setObjectName("form");
        window.setStyleSheet("QWidget { background: white; color: black; }");
        label = add(new QLabel("plain words"), "label");
        rich = add(new QLabel("<b>rich</b> words"), "rich");
        button = add(new QPushButton("press"), "button");
        edit = add(new QLineEdit("field"), "edit");
        tabs = add(new QTabBar, "tabs");
        tabs->addTab("first");
        tabs->addTab("second");
        model.setHorizontalHeaderLabels({"name", "value"});
        model.appendRow({new QStandardItem("conv1"), new QStandardItem("12 MiB")});
        table = add(new QTableView, "table");
        table->setModel(&model);
        table->verticalHeader()->hide();
        table->setFixedHeight(70);
        window.resize(420, 320);
        window.show();
        if (!QTest::qWaitForWindowExposed(&window, 60'000)) qInfo("the form is not exposed");
    }
    template <class T>
    T* add(T* widget, const char* name)
    {
        widget->setObjectName(QLatin1String(name));
        layout.addRow(widget);
        return widget;
    }
    [[nodiscard]] QString found()
    {
        QCoreApplication::processEvents();
        return (checks::clippedTexts(window) + checks::overlaps(window) +
                checks::paleTexts(window, window.grab().toImage()))
            .join(u'\n');
    }

    QStandardItemModel model;
    QWidget window;
    QFormLayout layout{&window};
    QLabel *label, *rich;
    QPushButton* button;
    QLineEdit* edit;
    QTabBar* tabs;
    QTableView* table;
};

}  // namespace

class TestChecks : public QObject {
    Q_OBJECT
private slots:
    void aSoundFormHasNoFaults()
    {
        Form form;
        QCOMPARE(form.found(), QString());
    }

    void plantedFaultsAreFound_data()
    {
        using Plant = std::function<void(Form&)>;
        QTest::addColumn<Plant>("plant");
        QTest::addColumn<QString>("sentence");
        const auto row = [](const char* name, const Plant& plant, const char* sentence) {
            QTest::newRow(name) << plant << QString::fromLatin1(sentence);
        };
        row(
            "label", [](Form& f) { f.label->setFixedWidth(20); }, "form/label");
        row(
            "rich text", [](Form& f) { f.rich->setFixedWidth(20); }, "form/rich");
        row(
            "button", [](Form& f) { f.button->setFixedWidth(14); }, "form/button: \"press\" does not fit");
        row(
            "tab",
            [](Form& f) {
                f.tabs->setElideMode(Qt::ElideRight);
                f.tabs->setUsesScrollButtons(false);
                f.tabs->setFixedWidth(50);
            },
            "does not fit");
        row(
            "header", [](Form& f) { f.table->setColumnWidth(1, 12); }, "\"value\" does not fit");
        row(
            "cell", [](Form& f) { f.model.item(0, 0)->setText(QString(60, 'w')); }, "is cut and has no tip");
        row(
            "parent",
            [](Form& f) {
                f.label->setMinimumWidth(900);
                f.window.setMaximumWidth(420);
                f.window.layout()->setSizeConstraint(QLayout::SetNoConstraint);
                f.window.resize(420, 320);
            },
            "is partly hidden");
        row(
            "pale label", [](Form& f) { f.label->setStyleSheet("color: #eeeeee"); },
            "form/label: \"plain words\" has a contrast");
        row(
            "pale button", [](Form& f) { f.button->setStyleSheet("color: #dddddd"); },
            "form/button: \"press\" has a contrast");
        row(
            "pale field", [](Form& f) { f.edit->setStyleSheet("color: #dddddd"); },
            "form/edit: \"field\" has a contrast");
        row(
            "pale tabs", [](Form& f) { f.tabs->setStyleSheet("color: #e8e8e8"); }, "form/tabs");
        row(
            "pale header", [](Form& f) { f.table->horizontalHeader()->setStyleSheet("color: #e0e0e0"); },
            "\"name\" has a contrast");
        row(
            "pale cell", [](Form& f) { f.model.item(0, 0)->setForeground(QColor("#e0e0e0")); },
            "\"conv1\" has a contrast");
    }
    void plantedFaultsAreFound()
    {
        QFETCH(std::function<void(Form&)>, plant);
        QFETCH(QString, sentence);
        Form form;
        plant(form);
        QVERIFY2(form.found().contains(sentence), qPrintable(form.found()));
    }

    void aTipAndAnAreaThatScrollsAreNoFaults()
    {
        Form form;
        form.model.item(0, 0)->setText(QString(60, 'w'));
        form.model.item(0, 0)->setToolTip(QString(60, 'w'));
        auto* area = form.add(new QScrollArea, "area");
        auto* wide = new QLabel(QString(200, 'w'));
        wide->setObjectName("wide");
        area->setWidget(wide);
        QCOMPARE(form.found(), QString());
    }

    void labelsOfPlotsThatTouchAreFound()
    {
        plots::TimePlot plot(QStringLiteral("memory"), plots::Unit::Bytes);
        plot.setTheme(style::loadTheme(style::Mode::Light));
        plot.series().append(0, 1);
        plot.series().append(10, 5e9);
        plot.setEnd(10, true);
        plot.resize(420, 200);
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot, 60'000));
        plot.refresh();
        QCoreApplication::processEvents();
        for (const int width : {900, 420, 240, 160}) {
            plot.resize(width, 120);
            QCoreApplication::processEvents();
            QVERIFY2(plots::crowdedLabels(plot).isEmpty(), qPrintable(QString::number(width)));
        }
        QFont large = plot.font();
        large.setPointSize(60);
        plot.setFont(large);
        QCoreApplication::processEvents();
        QVERIFY(!plots::crowdedLabels(plot).isEmpty());
    }

    // Stages that overlap in time are named side by side.
    void titlesOfStagesThatOverlapDoNot()
    {
        plots::TimePlot plot(QStringLiteral("memory"), plots::Unit::Bytes);
        plot.setTheme(style::loadTheme(style::Mode::Light));
        plot.series().append(0, 1);
        plot.series().append(10, 5e9);
        plot.setEnd(10, true);
        plot.setBands({{.stage = protocol::StageId(1), .from = 0, .to = 6, .level = {}},
                       {.stage = protocol::StageId(2), .from = 0.3, .to = 9, .level = {}},
                       {.stage = protocol::StageId(3), .from = 0.6, .to = 10, .level = {}}});
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot, 60'000));
        for (const int width : {900, 420, 240}) {
            plot.resize(width, 120);
            plot.refresh();
            QTest::qWait(50);
            QVERIFY2(plots::crowdedLabels(plot).isEmpty(), qPrintable(plots::crowdedLabels(plot).join('\n')));
        }
    }

    // A level at the very top, a limit just above it, and one far away: in bands that are wide and narrow, while a run is
    // under way.
    void titlesInPlotsAreNotCrossed()
    {
        for (const double limit : {0.0, 1.02e9, 9e9})
            for (const QSize size : {QSize(900, 200), QSize(420, 150), QSize(240, 130)}) {
                plots::TimePlot plot(QStringLiteral("memory"), plots::Unit::Bytes);
                plot.setTheme(style::loadTheme(style::Mode::Light));
                plot.resize(size);
                plot.show();
                QVERIFY(QTest::qWaitForWindowExposed(&plot, 60'000));
                for (int at = 0; at <= 100; ++at) plot.series().append(at * 0.1, (at % 10) * 1e8);
                using protocol::StageId;
                plot.setBands({{StageId(1), 0, 4, 1e9}, {StageId(2), 4, 9, 0.99e9}, {StageId(3), 9, 10, 1e9}});
                plot.setOther("run 1", {1e9, 0.98e9, 1e9});
                if (limit > 0) plot.setLimit(limit);
                for (const bool finished : {false, true}) {
                    plot.setEnd(9.2, finished);
                    plot.refresh();
                    QTest::qWait(40);
                    QVERIFY2(plots::crowdedLabels(plot).isEmpty(),
                             qPrintable(QString("%1 in %2: ").arg(limit).arg(size.width()) +
                                        plots::crowdedLabels(plot).join('\n')));
                }
            }
    }

    void aLineThroughATitleIsFound()
    {
        plots::TimePlot plot(QStringLiteral("memory"), plots::Unit::Bytes);
        plot.setTheme(style::loadTheme(style::Mode::Light));
        plot.resize(900, 300);
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot, 60'000));
        plot.series().append(0, 1e9);
        plot.setBands({{protocol::StageId(1), 0, 10, 1e9}});
        plot.setEnd(10, true);
        QFont large = plot.font();
        large.setPointSize(60);  // no strip at the top is as high as that
        plot.setFont(large);
        plot.refresh();
        QTest::qWait(40);
        QVERIFY2(plots::crowdedLabels(plot).join('\n').contains("a line crosses"),
                 qPrintable(plots::crowdedLabels(plot).join('\n')));
    }

    void labelsOfManyStagesDoNotTouch()
    {
        for (const int count : {2, 8, 9, 30, 200})
            for (const int width : {900, 300, 180}) {
                plots::StageBars bars;
                bars.setTheme(style::loadTheme(style::Mode::Light));
                bars.resize(width, 160);
                bars.show();
                QVERIFY(QTest::qWaitForWindowExposed(&bars, 60'000));
                plots::StageRun run{"run", {}};
                for (int stage = 1; stage <= count; ++stage) {
                    run.stages.push_back({{}, protocol::StageId(stage)});
                    run.stages.back().seconds = 1;
                }
                bars.setRuns({run});
                bars.resize(width - 1, 160);
                QCoreApplication::processEvents();
                QTest::qWait(20);
                QVERIFY2(plots::crowdedLabels(bars).isEmpty(), qPrintable(QString("%1 in %2").arg(count).arg(width)));
            }
    }
};

HOPSCOPE_QT_SUITE(window_checks, TestChecks)
#include "test_checks.moc"
