// The panel "Animation" in the window, by real events, with recorded answers of the engine.

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSlider>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>

#include "bed.h"
#include "checks.h"
#include "study/animation/animation_panel.h"
#include "support/qt_suites.h"

using namespace hopscope;
using bed::Bed;
using bed::child;

class TestWindowAnimation : public QObject {
    Q_OBJECT
private slots:
    void itIsAskedForOnlyWhereItIsSeen();
    void keysAndButtonsGoThroughTheFrames();
    void aNodeAndTheSizeOfBatchesAreChosen();
    void anotherPlanIsAnotherAnimation();
    void withoutDataThePanelSaysWhatIsMissing();
    void itIsSavedAsPictures();
    void reducedMotionIsASettingOfTheWindow();
    void nothingIsClippedInAnyFrame();

private:
    static study::AnimationPanel& panelOf(Bed& bed)
    {
        return *static_cast<study::AnimationPanel*>(bed.window->docks().dock("animation")->widget());
    }
    static bool open(Bed& bed)
    {
        if (!bed.open("chain3.pt", {"graph.safetensors"})) return false;
        QTest::keyClick(bed.window.get(), Qt::Key_4, Qt::ControlModifier);
        QTest::keyClick(bed.window.get(), Qt::Key_M, Qt::ControlModifier);
        return bed::waitFor([&] { return panelOf(bed).show() != nullptr; });
    }
    static QString said(Bed& bed, const char* label) { return child<QLabel>(*bed.window, label)->text(); }
    static void press(Bed& bed, const char* button)
    {
        QTest::keyClick(child<QPushButton>(*bed.window, button), Qt::Key_Space);
    }
};

void TestWindowAnimation::itIsAskedForOnlyWhereItIsSeen()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    bed.window->docks().setPerspective("explain");
    QTest::qWait(100);
    QVERIFY(panelOf(bed).show() == nullptr);
    QTest::keyClick(bed.window.get(), Qt::Key_M, Qt::ControlModifier);
    QTRY_VERIFY(panelOf(bed).show() != nullptr);
    QVERIFY(said(bed, "animationPart").contains("60 of 10,000 nodes"));
    bed.window->closeFile();
    QTRY_VERIFY(panelOf(bed).show() == nullptr);
}

void TestWindowAnimation::keysAndButtonsGoThroughTheFrames()
{
    Bed bed;
    QVERIFY(open(bed));
    study::AnimationView& view = panelOf(bed).view();
    auto* slider = child<QSlider>(*bed.window, "animationFrame");
    QCOMPARE(slider->maximum(), view.frames() - 1);
    QVERIFY(!child<QPushButton>(*bed.window, "animationBack")->isEnabled());
    press(bed, "animationNext");
    QCOMPARE(view.frame(), 1);
    QCOMPARE(said(bed, "animationTitle"), QString("Stage 1 of 3: begin"));
    press(bed, "animationNext");
    QVERIFY2(said(bed, "animationCaption").contains("20 nodes with a thick border"),
             qPrintable(said(bed, "animationCaption")));
    QVERIFY(
        said(bed, "animationCaption")
            .contains("The batch reads along 60 edges (20 from a node to itself, not drawn), from its own nodes and "
                      "from 2 nodes outside it"));
    view.setFocus();
    QTest::keyClick(&view, Qt::Key_End);
    QCOMPARE(slider->value(), slider->maximum());
    QVERIFY(!child<QPushButton>(*bed.window, "animationLast")->isEnabled());
    slider->setFocus();
    QTest::keyClick(slider, Qt::Key_Home);
    QCOMPARE(view.frame(), 0);
    QCOMPARE(said(bed, "animationTitle"), QString("The graph"));
    press(bed, "animationPlay");
    QVERIFY(view.playing());
    QCOMPARE(child<QPushButton>(*bed.window, "animationPlay")->accessibleName(), QString("Pause"));
    child<QComboBox>(*bed.window, "animationSpeed")->setCurrentIndex(3);
    QTRY_VERIFY(view.frame() > 0);
    press(bed, "animationPlay");
    QVERIFY(!view.playing());
}

void TestWindowAnimation::aNodeAndTheSizeOfBatchesAreChosen()
{
    Bed bed;
    QVERIFY(open(bed));
    const int frames = panelOf(bed).view().frames();
    auto* batch = child<QSpinBox>(*bed.window, "animationBatch");
    QCOMPARE(batch->maximum(), 58);
    batch->setFocus();
    batch->selectAll();
    QTest::keyClicks(batch, "1");
    QTest::keyClick(batch, Qt::Key_Return);
    QVERIFY(panelOf(bed).view().frames() > frames);
    auto* node = child<QSpinBox>(*bed.window, "animationNode");
    node->setFocus();
    node->selectAll();
    QTest::keyClicks(node, "17");
    QTest::keyClick(node, Qt::Key_Return);
    QTRY_COMPARE(panelOf(bed).show()->part.node, std::optional<std::int64_t>(17));
    press(bed, "animationOther");
    QTRY_VERIFY(panelOf(bed).show()->part.node != std::optional<std::int64_t>(17));
}

void TestWindowAnimation::anotherPlanIsAnotherAnimation()
{
    Bed bed;
    QVERIFY(open(bed));
    const study::ShowPtr before = panelOf(bed).show();
    bed.window->workbench().setStrategy(base::Strategy::Depth);
    QTRY_VERIFY(panelOf(bed).show() && panelOf(bed).show() != before);
    QVERIFY(!protocol::sameCuts(*panelOf(bed).show()->plan, *before->plan));
}

void TestWindowAnimation::withoutDataThePanelSaysWhatIsMissing()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {}));
    bed.window->docks().reveal("animation");
    QVERIFY(said(bed, "animationState").contains("with its graph"));
    QVERIFY(!panelOf(bed).save("/nowhere/a.png").isEmpty());
}

void TestWindowAnimation::itIsSavedAsPictures()
{
    Bed bed;
    QVERIFY(open(bed));
    const QTemporaryDir folder;
    QCOMPARE(bed.window->exportTo({"animation", folder.filePath("a.png")}, 0), QString());
    QCOMPARE(bed.window->exportTo({"animation", folder.filePath("a.svg")}, 0), QString());
    QCOMPARE(QDir(folder.path()).entryList({"a-*.svg"}).size(), panelOf(bed).view().frames());
    QVERIFY(QImage(folder.filePath("a.png")).width() > 600);
    QVERIFY(bed.window->actionBook().find("explain.exportAnimation")->isEnabled());
}

void TestWindowAnimation::reducedMotionIsASettingOfTheWindow()
{
    Bed bed;
    QVERIFY(open(bed));
    study::AnimationView& view = panelOf(bed).view();
    while (view.frame() + 1 < view.frames() &&
           panelOf(bed).show()->animation.frames[static_cast<std::size_t>(view.frame())].moment !=
               study::Moment::Gather)
        view.go(view.frame() + 1);
    view.setSpeed(0.05);  // more than half a minute for a frame
    const auto still = [&] {
        const QImage first = view.grab().toImage();
        QTest::qWait(400);
        return view.grab().toImage() == first;
    };
    const int frame = view.frame();
    view.play(true);
    QTRY_VERIFY(!still());
    QCOMPARE(view.frame(), frame);
    bed.window->actionBook().find("view.reducedMotion")->trigger();
    QTRY_VERIFY(still());
    QVERIFY(view.playing());
    QCOMPARE(view.frame(), frame);
}

void TestWindowAnimation::nothingIsClippedInAnyFrame()
{
    Bed bed;
    bed.window->resize(1280, 800);
    QVERIFY(open(bed));
    for (int frame = 0; frame < panelOf(bed).view().frames(); ++frame) {
        panelOf(bed).view().go(frame);
        const QStringList found =
            checks::lasting([&] { return checks::clippedTexts(*bed.window) + checks::unnamedWidgets(*bed.window); });
        QVERIFY2(found.isEmpty(), qPrintable(found.join('\n')));
    }
}

HOPSCOPE_QT_SUITE(window_animation, TestWindowAnimation)
#include "window/test_animation.moc"
