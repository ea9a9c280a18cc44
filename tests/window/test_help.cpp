// F1 opens the page about the part of the window that has the focus, and terms are explained where they stand.

#include <QComboBox>
#include <QDockWidget>
#include <QHeaderView>
#include <QLabel>
#include <QTabBar>
#include <QTest>

#include "bed.h"
#include "help.h"
#include "manual/glossary.h"
#include "manual/term_tips.h"
#include "open_dialog.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::window;
using bed::Bed;

namespace {

manual::Place shownPlace(Bed& bed) { return bed.window->help().window()->view().place(); }

const Topic* topicNamed(const QString& part)
{
    const auto found =
        std::ranges::find_if(topics(), [&](const Topic& topic) { return part == QLatin1String(topic.part); });
    return found == topics().end() ? nullptr : &*found;
}

}  // namespace

class TestHelp : public QObject {
    Q_OBJECT
private slots:
    void everyTopicIsAPartOfTheWindowAndLeadsToAHeading();
    void everyPanelHasATopic();
    void f1OpensThePageOfThePanelWithTheFocus();
    void f1WorksInDialogs();
    void documentationOpensFromTheMenuWithoutAModel();
    void termsOfLabelsAreExplained();
};

void TestHelp::everyTopicIsAPartOfTheWindowAndLeadsToAHeading()
{
    QVERIFY(topics().size() > 20);
    for (const Topic& topic : topics()) {
        QVERIFY2(manual::exists(topic.page), topic.part);
        const QString heading = QLatin1String(topic.heading);
        QVERIFY2(heading.isEmpty() || manual::anchors(topic.page).contains(heading), topic.part);
    }
}

void TestHelp::everyPanelHasATopic()
{
    Bed bed;
    for (const QDockWidget* dock : bed.window->docks().all()) {
        QVERIFY2(topicNamed(dock->objectName()), qPrintable(dock->objectName()));
        QCOMPARE(topicOf(dock->widget()), topicOf(dock));
        QVERIFY(topicOf(dock).heading.size() > 1);
    }
    QCOMPARE(topicOf(&bed.window->graph()).heading, QString("graph"));
    QCOMPARE(topicOf(nullptr).page, QString("README.md"));
    for (const char* part : {"startPage", "lessonPane", "refusalCard"})
        QVERIFY2(topicNamed(part) && bed.window->findChild<QWidget*>(part), part);
}

void TestHelp::f1OpensThePageOfThePanelWithTheFocus()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    for (const char* name : {"plan", "debugger", "outline"}) {
        bed.window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(bed.window.get()));
        bed.window->docks().reveal(name);
        QTest::keyClick(bed.window.get(), Qt::Key_F1);
        QTRY_VERIFY(bed.window->help().window() && bed.window->help().window()->isVisible());
        QTRY_COMPARE(shownPlace(bed).heading, QString(name));
        QCOMPARE(shownPlace(bed).page, QString("start/window.md"));
    }
    QTest::keyClick(bed.window->help().window(), Qt::Key_Escape);
    QVERIFY(!bed.window->help().window()->isVisible());
}

void TestHelp::f1WorksInDialogs()
{
    Bed bed;
    QTest::keyClick(bed.window.get(), Qt::Key_O, Qt::ControlModifier);
    auto* dialog = bed.window->findChild<OpenDialog*>();
    QTRY_VERIFY(dialog && dialog->isVisible());
    QTest::keyClick(dialog->focusWidget() ? dialog->focusWidget() : dialog, Qt::Key_F1);
    QTRY_VERIFY(bed.window->help().window() && bed.window->help().window()->isVisible());
    QCOMPARE(shownPlace(bed).heading, QString("opening-a-model"));
    QTest::keyClick(dialog, Qt::Key_Escape);
}

void TestHelp::documentationOpensFromTheMenuWithoutAModel()
{
    Bed bed;
    bed.window->actionBook().find("help.documentation")->trigger();
    QVERIFY(bed.window->help().window()->isVisible());
    QCOMPARE(shownPlace(bed).page, QString("README.md"));
    bed.window->actionBook().find("help.glossary")->trigger();
    QCOMPARE(shownPlace(bed).page, QString("reference/glossary.md"));
    bed.window->setThemeMode(style::Mode::Dark);
    QCOMPARE(bed.window->help().window()->view().document()->isEmpty(), false);
}

// Wherever a label, a column or a tab of a panel names one of these terms, its tip has the glossary's definition.
void TestHelp::termsOfLabelsAreExplained()
{
    Bed bed;
    QVERIFY(bed.open("chain3.pt", {"graph.safetensors"}));
    QSet<QString> explained;
    const auto look = [&](QWidget& widget, QPoint at) {
        const QString text = manual::shownText(widget, at);
        for (const manual::Term& term : manual::glossary())
            if (!text.isEmpty() && manual::definitionsIn(text).contains(QStringLiteral("<b>%1</b>").arg(term.name)) &&
                manual::tipAt(widget, at).contains(term.meaning.toHtmlEscaped()))
                explained << term.name;
    };
    for (QWidget* widget : bed.window->findChildren<QWidget*>()) {
        look(*widget, {2, 2});
        if (auto* header = qobject_cast<QHeaderView*>(widget))
            for (int i = 0; i < header->count(); ++i)
                look(*header->viewport(), {header->sectionViewportPosition(i) + 2, 2});
        if (const auto* tabs = qobject_cast<QTabBar*>(widget))
            for (int i = 0; i < tabs->count(); ++i) look(*widget, tabs->tabRect(i).center());
    }
    for (const char* term : {"plan", "stage", "stored value", "pin", "batch", "verdict", "depth"})
        QVERIFY2(explained.contains(term), qPrintable(term + QString(" is not explained; explained: ") +
                                                      QStringList(explained.values()).join(", ")));
}

HOPSCOPE_QT_SUITE(window_help, TestHelp)
#include "test_help.moc"
