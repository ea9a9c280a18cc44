// The tensors that the batches of a stage hold, by real events, with recorded answers of the engine.

#include <QComboBox>
#include <QHelpEvent>
#include <QLabel>
#include <QPushButton>
#include <QTabWidget>
#include <QTest>
#include <QToolTip>

#include "bed.h"
#include "checks.h"
#include "study/monitor/memory_page.h"
#include "support/qt_suites.h"

using namespace hopscope;
using bed::Bed;
using bed::child;
using models::Target;

class TestMemory : public QObject {
    Q_OBJECT
private slots:
    void whatIsMissingIsSaid();
    void aStageIsShownAndItsPeakMarked();
    void whatIsHeldAnswersTheMouse();
    void whatIsHeldIsReachedByKeyboard();
    void anotherStageIsShownAtOnce();
    void anotherPlanBeginsAnew();
    void nothingIsClippedAlongTheWay();

private:
    static study::MemoryPicture& picture(Bed& bed)
    {
        return *child<study::MemoryPicture>(*bed.window, "memoryPicture");
    }
    static QString said(Bed& bed) { return child<QLabel>(*bed.window, "memoryState")->text(); }
    static QString sentence(Bed& bed) { return child<QLabel>(*bed.window, "memorySentence")->text(); }
    static void bring(Bed& bed)
    {
        bed.window->docks().bring("monitor");
        auto* bar = child<QTabWidget>(*bed.window, "monitorTabs")->tabBar();
        QTest::mouseClick(bar, Qt::LeftButton, {}, bar->tabRect(2).center());
        QCoreApplication::processEvents();
    }
    static bool shown(Bed& bed)
    {
        if (!bed.open("chain3.pt", {"graph.safetensors"})) return false;
        bring(bed);
        QTest::mouseClick(child<QPushButton>(*bed.window, "memoryStart"), Qt::LeftButton);
        return bed::waitFor([&] { return picture(bed).isVisible(); });
    }
    static const schema::HeldRows& held(Bed& bed, int at)
    {
        return picture(bed).loop().held[static_cast<std::size_t>(at)];
    }
};

void TestMemory::whatIsMissingIsSaid()
{
    Bed bed;
    bring(bed);
    QCOMPARE(said(bed), QString("No model is open."));
    QVERIFY(bed.open("chain3.pt", {}));
    bring(bed);
    QCOMPARE(said(bed), QString("Open the model with its graph to see the contents of its batches."));
    QVERIFY(!child<QPushButton>(*bed.window, "memoryStart")->isEnabled());
    QVERIFY(!picture(bed).isVisible());
}

void TestMemory::aStageIsShownAndItsPeakMarked()
{
    Bed bed;
    QVERIFY(shown(bed));
    const schema::LoopMemoryRecord& loop = picture(bed).loop();
    QVERIFY(sentence(bed).contains(QString("peaks at step %1").arg(loop.peakStep + 1)));
    // Columns are as high as their bytes, and the peak's has the accent's colour.
    QTRY_VERIFY(picture(bed).width() > 0);
    const QRectF peak = picture(bed).columnOf(loop.peakStep);
    for (std::int64_t step = 0; step < static_cast<std::int64_t>(loop.steps.size()); ++step) {
        const double share = picture(bed).columnOf(step).height() / peak.height();
        const double bytes = static_cast<double>(loop.steps[static_cast<std::size_t>(step)].bytes);
        QVERIFY(std::abs(share - bytes / static_cast<double>(loop.peak())) < 1e-6);
    }
    const QImage image = picture(bed).grab().toImage();
    const QPointF middle = peak.center() * image.devicePixelRatio();
    QCOMPARE(image.pixelColor(middle.toPoint()), bed.window->theme().accent);
    // Nothing lies over anything else.
    for (int a = 0; a < static_cast<int>(loop.held.size()); ++a)
        for (int b = 0; b < a; ++b) QVERIFY(!picture(bed).placeOf(a).intersects(picture(bed).placeOf(b)));
}

void TestMemory::whatIsHeldAnswersTheMouse()
{
    Bed bed;
    QVERIFY(shown(bed));
    const QPoint place = picture(bed).placeOf(1).center().toPoint();
    QTest::mouseMove(&picture(bed), place);
    QHelpEvent help(QEvent::ToolTip, place, picture(bed).mapToGlobal(place));
    QCoreApplication::sendEvent(&picture(bed), &help);
    QVERIFY(QToolTip::text().startsWith(QString::fromStdString(held(bed, 1).label)));
    QTest::mouseClick(&picture(bed), Qt::LeftButton, {}, place);
    QCOMPARE(picture(bed).current(), 1);
    const protocol::ModelRecord& model = *bed.window->document().model();
    QCOMPARE(bed.window->selection().current(), Target::value(model.findValue(held(bed, 1).value)));
}

void TestMemory::whatIsHeldIsReachedByKeyboard()
{
    Bed bed;
    QVERIFY(shown(bed));
    picture(bed).setFocus();
    QTest::keyClick(&picture(bed), Qt::Key_Home);
    const int largest = picture(bed).current();
    QVERIFY(held(bed, largest).from <= picture(bed).loop().peakStep);
    QVERIFY(picture(bed).accessibleDescription().contains("held at the peak"));
    QTest::keyClick(&picture(bed), Qt::Key_Left);
    QCOMPARE(picture(bed).current(), largest - 1);
    QTest::keyClick(&picture(bed), Qt::Key_Right);
    const auto height = [&] { return picture(bed).placeOf(picture(bed).current()).top(); };
    for (int more = 0; more < 9; ++more) QTest::keyClick(&picture(bed), Qt::Key_Up);
    const double highest = height();
    QTest::keyClick(&picture(bed), Qt::Key_Down);
    QVERIFY(height() > highest);
    QTest::keyClick(&picture(bed), Qt::Key_Up);
    QCOMPARE(height(), highest);
    QTest::keyClick(&picture(bed), Qt::Key_Home);
    QCOMPARE(picture(bed).current(), largest);
    QVERIFY(!held(bed, largest).value.empty());
    QTest::keyClick(&picture(bed), Qt::Key_Return);
    QCOMPARE(bed.window->selection().current().kind, Target::Kind::Value);
}

void TestMemory::anotherStageIsShownAtOnce()
{
    Bed bed;
    QVERIFY(shown(bed));
    auto* stages = child<QComboBox>(*bed.window, "memoryStage");
    QVERIFY(stages->count() > 1);
    const std::string before = held(bed, 1).label;
    stages->setFocus();
    QTest::keyClick(stages, Qt::Key_Down);
    QTRY_VERIFY(held(bed, 1).label != before);
}

void TestMemory::anotherPlanBeginsAnew()
{
    Bed bed;
    QVERIFY(shown(bed));
    QVERIFY(bed.open("chain4.pt", {"graph.safetensors"}));
    bring(bed);
    QVERIFY(!picture(bed).isVisible());
    QCOMPARE(said(bed), QString("Shows the contents of a batch from step to step, without running it."));
}

void TestMemory::nothingIsClippedAlongTheWay()
{
    for (const QSize size : {QSize(1600, 1000), QSize(1280, 800)}) {
        Bed bed;
        bed.window->resize(size);
        bed.window->docks().setPerspective("explain");
        QVERIFY(shown(bed));
        const QStringList found = checks::lasting([&] {
            return checks::clippedTexts(*bed.window) + checks::overlaps(*bed.window) +
                   checks::unnamedWidgets(*bed.window) + checks::paleTexts(*bed.window, bed.window->grab().toImage());
        });
        QVERIFY2(found.isEmpty(), qPrintable(found.join('\n')));
    }
}

HOPSCOPE_QT_SUITE(window_memory, TestMemory)
#include "test_memory.moc"
