// Every lesson is played to its end with the real engine, by answering and doing what it asks; its figures are those of the
// window. The debugger finds what the wrong model of a lesson does.

#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QTest>
#include <algorithm>
#include <cmath>

#include "bed.h"
#include "checks.h"
#include "graphview/view/graph_view.h"
#include "study/debugger/debug_panel.h"
#include "study/receptive/receptive_panel.h"
#include "support/qt_suites.h"

using namespace hopscope;
using bed::Bed;
using bed::child;

class TestLessons : public QObject {
    Q_OBJECT
private slots:
    void everyLessonIsPlayedToItsEnd_data();
    void everyLessonIsPlayedToItsEnd();
    void aLessonGoesBackAndIsLeft();
    void aLessonLeadsBackToTheModelThatItReplaced();
    void whatIsNoLessonIsRefusedInWords();
    void aWrongModelDiffersFromTheRightOneNotFromItsPlan();

private:
    static graphview::GraphView& graphOf(Bed& bed) { return *bed.window->graph().findChild<graphview::GraphView*>(); }
    // The operator that makes the value of that name, in the graph.
    static void clickOn(Bed& bed, const QString& label)
    {
        graphview::GraphView& view = graphOf(bed);
        const protocol::ModelRecord& model = *bed.window->document().model();
        const auto value = std::ranges::find(model.values, label.toStdString(), &protocol::ValueRecord::label);
        QVERIFY2(value != model.values.end(), qPrintable(label));
        const auto& nodes = view.scene()->graph->nodes;
        const auto node = std::ranges::find_if(nodes, [&](const graphview::VisibleNode& one) {
            return std::ranges::find(one.ops, value->producer) != one.ops.end();
        });
        QVERIFY2(node != nodes.end(), qPrintable(label + " is not in the graph"));
        const QRectF place = view.scene()->nodes[static_cast<std::size_t>(node - nodes.begin())];
        QVERIFY(bed::waitFor([&] {  // while the camera moves, a click may miss
            QTest::mouseClick(&view, Qt::LeftButton, {}, view.camera().toScreen(place.center()).toPoint());
            return bed.window->selection().current() == models::Target::op(value->producer);
        }));
        QVERIFY(view.hasFocus());
    }
    // As the learner would.
    static void doTask(Bed& bed, const study::Task& task)
    {
        using study::Goal;
        if (task.goal == Goal::Ran) return bed.window->actionBook().find("run.start")->trigger();
        if (task.goal == Goal::Strategy) return bed.window->actionBook().find("plan.optimalTime")->trigger();
        if (task.goal == Goal::Looked)
            return QTest::mouseClick(child<QPushButton>(*bed.window, "debugStart"), Qt::LeftButton);
        if (task.goal == Goal::Selected) return clickOn(bed, task.argument);
        if (task.goal == Goal::NotStored) {
            clickOn(bed, task.argument);
            return QTest::keyClick(&graphOf(bed), Qt::Key_N);
        }
        auto* node = child<QSpinBox>(*bed.window, "fieldNode");
        node->setFocus();
        node->selectAll();
        QTest::keyClicks(node, task.argument);
        QTest::keyClick(node, Qt::Key_Return);
    }
    static void answer(Bed& bed, const study::Question& question)
    {
        for (std::size_t i = 0; i < question.choices.size(); ++i)
            if (question.choices[i].right)
                QTest::mouseClick(bed.window->findChild<QPushButton*>(QStringLiteral("lessonChoice.%1").arg(i + 1)),
                                  Qt::LeftButton);
    }
    static bool mayGoOn(Bed& bed) { return child<QPushButton>(*bed.window, "lessonNext")->isEnabled(); }
};

void TestLessons::everyLessonIsPlayedToItsEnd_data()
{
    QTest::addColumn<QString>("id");
    style::loadTheme(style::Mode::Light);  // brings the lessons along
    for (const study::Lesson& lesson : study::bundledLessons()) QTest::newRow(qPrintable(lesson.id)) << lesson.id;
}

void TestLessons::everyLessonIsPlayedToItsEnd()
{
    QFETCH(QString, id);
    Bed bed(bed::realSetup());
    bed.window->resize(1280, 800);
    bed.window->tour().startBundled(id);
    const std::size_t steps = bed.window->tour().lesson().steps.size();
    for (std::size_t at = 0; at < steps; ++at) {
        const study::LessonStep step = bed.window->tour().lesson().steps[at];
        QVERIFY2(bed::waitFor([&] { return bed.window->tour().ready(); }, 30'000), qPrintable(step.title));
        const QStringList found =
            checks::lasting([&] { return checks::clippedTexts(*bed.window) + checks::unnamedWidgets(*bed.window); });
        QVERIFY2(found.isEmpty(), qPrintable(step.title + ": " + found.join('\n')));
        if (!step.show.isEmpty())
            QVERIFY2(bed::waitFor([&] { return child<QWidget>(*bed.window, "spotlight")->isVisible(); }),
                     qPrintable(step.title));
        if (step.show == u"centreStack")  // all of it, though its parts cover it
            QVERIFY(child<QWidget>(*bed.window, "spotlight")->size().height() >=
                    child<QWidget>(*bed.window, "centreStack")->height());
        QCOMPARE(mayGoOn(bed), !step.task && !step.question);
        if (step.task) doTask(bed, *step.task);
        if (step.question) answer(bed, *step.question);
        QVERIFY2(bed::waitFor([&] { return mayGoOn(bed); }, 60'000), qPrintable(step.title));
        for (const auto& [name, figure] : step.expect) {
            const double now = bed.window->tour().figure(name);
            QVERIFY2(std::abs(now - figure) < 0.01 * std::max(1.0, std::abs(figure)),
                     qPrintable(QString("%1: %2 is %3, not %4").arg(step.title, name.c_str()).arg(now).arg(figure)));
        }
        QTest::mouseClick(child<QPushButton>(*bed.window, "lessonNext"), Qt::LeftButton);
    }
    QVERIFY(!bed.window->tour().playing());
    QVERIFY(!child<QWidget>(*bed.window, "lessonPane")->isVisible());
}

void TestLessons::aLessonGoesBackAndIsLeft()
{
    Bed bed(bed::realSetup());
    bed.window->actionBook().find("explain.lesson.layer-wise")->trigger();
    QVERIFY(bed::waitFor([&] { return bed.window->tour().ready(); }, 30'000));
    QTest::mouseClick(child<QPushButton>(*bed.window, "lessonNext"), Qt::LeftButton);
    QVERIFY(bed::waitFor([&] { return bed.window->tour().ready(); }, 30'000));
    QTest::mouseClick(child<QPushButton>(*bed.window, "lessonChoice.1"), Qt::LeftButton);
    QVERIFY(child<QLabel>(*bed.window, "lessonReply")->text().contains("Not quite"));
    QVERIFY(!mayGoOn(bed));
    QTest::mouseClick(child<QPushButton>(*bed.window, "lessonBack"), Qt::LeftButton);
    QCOMPARE(bed.window->tour().step(), 0);
    QTest::mouseClick(child<QPushButton>(*bed.window, "lessonClose"), Qt::LeftButton);
    QVERIFY(!bed.window->tour().playing());
    QVERIFY(bed.window->document().model() != nullptr);
    QVERIFY(!child<QWidget>(*bed.window, "spotlight")->isVisible());
}

void TestLessons::aLessonLeadsBackToTheModelThatItReplaced()
{
    Bed bed(bed::realSetup());
    const QString model = bed::sample("digits/gat.pt");
    QVERIFY(bed.open(model, {QFileInfo(model).path() + "/graph.safetensors"}));
    bed.window->actionBook().find("explain.lesson.layer-wise")->trigger();
    QVERIFY(bed::waitFor([&] { return bed.window->tour().ready(); }, 30'000));
    QVERIFY(bed.window->document().modelPath() != model);
    QTest::mouseClick(child<QPushButton>(*bed.window, "lessonClose"), Qt::LeftButton);
    QCOMPARE(bed.window->banner().sentence(), QString("The lesson is over. It replaced gat.pt."));
    QPushButton* again = nullptr;
    for (auto* button : bed.window->banner().findChildren<QPushButton*>())
        if (button->text() == "Open gat.pt again") again = button;
    QVERIFY(again != nullptr);
    QTest::mouseClick(again, Qt::LeftButton);
    QVERIFY(bed::waitFor([&] { return bed.window->document().modelPath() == model && bed.window->document().plan(); },
                         30'000));
    QCOMPARE(bed.window->document().data().size(), 1);
}

void TestLessons::whatIsNoLessonIsRefusedInWords()
{
    Bed bed;
    const QString file = bed.folder.filePath("lesson.json");
    QFile text(file);
    QVERIFY(text.open(QIODevice::WriteOnly));
    text.write(R"({"format": "hopscope-plan"})");
    text.close();
    bed.window->tour().startFile(file);
    QVERIFY2(bed.window->banner().sentence().contains("hopscope-lesson"), qPrintable(bed.window->banner().sentence()));
    QVERIFY(!bed.window->tour().playing());
}

void TestLessons::aWrongModelDiffersFromTheRightOneNotFromItsPlan()
{
    Bed bed(bed::realSetup());
    QVERIFY(bed.open(bed::sample("lessons/gcn_blocks.pt"), {bed::sample("karate/graph.safetensors")}));
    bed.window->actionBook().find("explain.divergence")->trigger();
    auto* debugger = static_cast<study::Debugger*>(bed.window->docks().dock("debugger")->widget());
    QVERIFY(bed::waitFor([&] { return debugger->divergence().has_value(); }, 30'000));
    QVERIFY(!debugger->divergence()->divergence);  // the plan computes the wrong model as it is
    debugger->prepare(study::Hunt::Against);
    debugger->setOther(bed::sample("karate/gcn.pt"));
    debugger->start();
    QVERIFY(bed::waitFor([&] { return debugger->divergence()->divergence.has_value(); }, 30'000));
    QVERIFY(debugger->divergence()->nodes.has_value());
    QCOMPARE(debugger->divergence()->nodes->rows, 17);
    QCOMPARE(debugger->divergence()->nodes->place.kind, std::string("aten::index_add"));
}

HOPSCOPE_QT_SUITE(window_lessons, TestLessons)
#include "test_lessons.moc"
