// The manual in the window: every page can be read, every link of every page leads somewhere, and the glossary explains the window's terms.

#include <QDesktopServices>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpression>
#include <QScrollBar>
#include <QSignalSpy>
#include <QStandardItemModel>
#include <QTabBar>
#include <QTableView>
#include <QTest>
#include <QTextBlock>
#include <QTextTable>
#include <QToolTip>

#include "manual/glossary.h"
#include "manual/manual_window.h"
#include "manual/term_tips.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::manual;

namespace {

QStringList allPages()
{
    QStringList pages{"project/SECURITY.md"};
    for (const Entry& entry : contents())
        if (!entry.page.isEmpty()) pages << entry.page;
    pages.removeDuplicates();
    return pages;
}

// The targets of a page's links that lead to a page of the manual, from its text: written down without the reader of the window.
QStringList linksOf(const QString& page)
{
    static const QRegularExpression fence("^```.*?^```$|`[^`\n]*`", QRegularExpression::MultilineOption |
                                                                        QRegularExpression::DotMatchesEverythingOption);
    static const QRegularExpression link("(?<!!)\\[(?!!)[^\\]]+\\]\\(([^)\\s]+)\\)");
    QStringList found;
    auto at = link.globalMatch(markdown(page).replace(QRegularExpression("\\[`([^`]*)`\\]"), "[\\1]").remove(fence));
    while (at.hasNext()) found << at.next().captured(1);
    found.removeIf([](const QString& target) {
        return target.contains(':') || target.contains("/dev/") || target.startsWith("dev/") ||
               target.contains(".ipynb") || target.contains("CONTRIBUTING.md");
    });
    return found;
}

QStringList linksShown(const QTextDocument& document)
{
    QStringList found;
    QString before;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        before.clear();
        for (auto at = block.begin(); !at.atEnd(); ++at) {
            const QString href = at.fragment().charFormat().anchorHref();
            if (!href.isEmpty() && href != before) found << href;
            before = href;
        }
    }
    return found;
}

QStringList headingsShown(const QTextDocument& document)
{
    QStringList found;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next())
        for (auto at = block.begin(); !at.atEnd(); ++at) found << at.fragment().charFormat().anchorNames();
    return found;
}

QTreeWidgetItem* itemOf(QTreeWidget& tree, const QString& title)
{
    return tree.findItems(title, Qt::MatchExactly | Qt::MatchRecursive).value(0);
}

// Where links out of the manual go instead of to a browser.
class Desktop : public QObject {
    Q_OBJECT
public slots:
    void open(const QUrl& url) { opened << url; }

public:
    QVector<QUrl> opened;
};

}  // namespace

class TestManual : public QObject {
    Q_OBJECT
private slots:
    void theContentsAreThoseOfTheSiteWithoutTheDevelopersPart()
    {
        QStringList titles;
        for (const Entry& entry : contents()) titles << entry.title;
        QCOMPARE(titles.first(), QString("Hopscope"));
        for (const char* wanted :
             {"Start", "Tour of the window", "Guides", "Reference", "Glossary", "Documents", "Questions"})
            QVERIFY2(titles.contains(wanted), wanted);
        for (const char* left : {"Contributing", "Decisions", "Benchmarks", "Workers without a shared folder"})
            QVERIFY2(!titles.contains(left), left);
        QVERIFY2(allPages().size() >= 35, qPrintable(QString::number(allPages().size())));
        for (const QString& page : allPages()) QVERIFY2(!title(page).isEmpty(), qPrintable(page));
    }

    void everyLinkOfEveryPageLeadsToAPageAndAHeading()
    {
        PageView view;
        int seen = 0;
        for (const QString& page : allPages()) {
            view.open({page, {}});
            const QStringList wanted = linksOf(page), shown = linksShown(*view.document());
            for (const QString& link : wanted) {
                const auto place = resolved(page, link);
                QVERIFY2(place, qPrintable(page + ": " + link));
                QVERIFY2(shown.contains(link), qPrintable(page + " does not show " + link));
                if (!place->heading.isEmpty())
                    QVERIFY2(anchors(place->page).contains(place->heading), qPrintable(page + ": " + link));
                ++seen;
            }
            for (const QString& link : shown)
                QVERIFY2(link.contains("://") || resolved(page, link), qPrintable(page + " shows " + link));
        }
        QVERIFY2(seen > 100, qPrintable(QString::number(seen)));
    }

    void headingsOfADocumentAreThoseOfThePage()
    {
        PageView view;
        for (const QString& page : allPages()) {
            view.open({page, {}});
            QCOMPARE(headingsShown(*view.document()), anchors(page));
        }
        QCOMPARE(anchorOf("The part `code` of x.json"), QString("the-part-code-of-xjson"));
    }

    void headingsAreScrolledTo()
    {
        ManualWindow window;
        window.openAt({"start/window.md", {}});
        QVERIFY(QTest::qWaitForWindowExposed(&window, 60'000));
        QCOMPARE(window.view().verticalScrollBar()->value(), 0);
        window.openAt({"start/window.md", "debugger"});
        const QTextCursor top = window.view().cursorForPosition({300, 8});
        QVERIFY2(top.block().text().contains("Debugger") || top.block().next().text().contains("Debugger"),
                 qPrintable(top.block().text()));
    }

    void theWayCanBeGoneBackAndForward()
    {
        ManualWindow window;
        auto *back = window.findChild<QToolButton*>("manualBack"),
             *forward = window.findChild<QToolButton*>("manualForward");
        window.openAt({"start/window.md", {}});
        QVERIFY(QTest::qWaitForWindowExposed(&window, 60'000));
        QVERIFY(!back->isEnabled() && !forward->isEnabled());
        QVERIFY(QMetaObject::invokeMethod(const_cast<PageView*>(&window.view()), "anchorClicked",
                                          Q_ARG(QUrl, QUrl("../guides/debugging.md"))));
        QCOMPARE(window.view().place().page, QString("guides/debugging.md"));
        QTest::mouseClick(back, Qt::LeftButton);
        QCOMPARE(window.view().place().page, QString("start/window.md"));
        QVERIFY(forward->isEnabled());
        QTest::mouseClick(forward, Qt::LeftButton);
        QCOMPARE(window.view().place().page, QString("guides/debugging.md"));
        QCOMPARE(itemOf(*window.findChild<QTreeWidget*>("manualContents"), "Debugging a model")->isSelected(), true);
        window.openAt({"no/such/page.md", {}});
        QCOMPARE(window.view().place().page, QString("README.md"));
    }

    void linksToTheWebGoToTheDesktop()
    {
        Desktop desktop;
        QDesktopServices::setUrlHandler("https", &desktop, "open");
        PageView view;
        view.open({"faq.md", {}});
        emit view.anchorClicked(QUrl("https://pytorch.org/docs"));
        QDesktopServices::unsetUrlHandler("https");
        QCOMPARE(desktop.opened, QVector<QUrl>{QUrl("https://pytorch.org/docs")});
        QCOMPARE(view.place().page, QString("faq.md"));
    }

    void aSearchListsThePagesAndGoesFromPageToPage()
    {
        ManualWindow window;
        window.openAt({"faq.md", {}});
        QVERIFY(QTest::qWaitForWindowExposed(&window, 60'000));
        auto* contents = window.findChild<QTreeWidget*>("manualContents");
        auto* field = window.findChild<QLineEdit*>("manualSearch");
        QTest::keyClicks(field, "neighbourhood explosion");
        QVERIFY(itemOf(*contents, "Tour of the window") && !itemOf(*contents, "Tour of the window")->isHidden());
        QVERIFY(itemOf(*contents, "Exit codes") == nullptr || itemOf(*contents, "Exit codes")->isHidden());
        QVERIFY(itemOf(*contents, "Settings")->isHidden());
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(window.view().textCursor().selectedText().toLower(), QString("neighbourhood explosion"));
        const QString first = window.view().place().page;
        for (int i = 0; i < 20 && window.view().place().page == first; ++i) QTest::keyClick(field, Qt::Key_Return);
        QVERIFY(window.view().place().page != first || window.view().extraSelections().size() > 0);
        field->clear();
        QVERIFY(!itemOf(*contents, "Settings")->isHidden());
        QVERIFY(window.view().extraSelections().isEmpty());
    }

    void linesOfCodeHaveTheSameHeight()
    {
        PageView view;
        int seen = 0;
        for (const QString& page : allPages()) {
            view.open({page, {}});
            for (QTextFrame* frame : view.document()->rootFrame()->childFrames()) {
                if (qobject_cast<QTextTable*>(frame) != nullptr) continue;
                QTextBlock block = frame->firstCursorPosition().block();
                for (; block.isValid() && block.position() <= frame->lastPosition(); block = block.next(), ++seen)
                    QVERIFY2(block.blockFormat().lineHeight() == 125, qPrintable(page + ": " + block.text()));
            }
        }
        QVERIFY2(seen > 500, qPrintable(QString::number(seen)));
    }

    void cellsOfTablesBeginInTheirFirstLine()
    {
        PageView view;
        int seen = 0, afterCode = 0;
        for (const QString& page : allPages()) {
            view.open({page, {}});
            for (QTextFrame* frame : view.document()->rootFrame()->childFrames()) {
                auto* table = qobject_cast<QTextTable*>(frame);
                if (table == nullptr) continue;
                QTextBlock before = view.document()->findBlock(table->firstPosition() - 2);
                if (before.length() == 1) before = before.previous();  // the line that ends a frame of code
                afterCode += before.blockFormat().hasProperty(QTextFormat::BlockCodeFence) ? 1 : 0;
                for (int column = 0; column < table->columns(); ++column) {
                    const QTextTableCell cell = table->cellAt(0, column);
                    const QTextBlock first = cell.firstCursorPosition().block();
                    QVERIFY2(first.length() > 1 || cell.firstPosition() == cell.lastPosition(), qPrintable(page));
                    ++seen;
                }
            }
        }
        QVERIFY2(seen > 200, qPrintable(QString::number(seen)));
        QVERIFY2(afterCode > 0, "no page has a table right after code");
    }

    void picturesFollowTheTheme()
    {
        QCOMPARE(pictureFile("start/window.md", "../images/window-light.png", false),
                 QString(":/manual/images/window-light.png"));
        QCOMPARE(pictureFile("start/window.md", "../images/window-light.png", true),
                 QString(":/manual/images/window-dark.png"));
        PageView view;
        view.resize(900, 700);
        view.open({"start/window.md", {}});
        const auto picture =
            view.loadResource(QTextDocument::ImageResource, QUrl("../images/window-light.png")).value<QImage>();
        QCOMPARE(picture.width(), static_cast<int>(780 * view.devicePixelRatioF()));
        view.open({"explain/performance.md", {}});
        QVERIFY(!view.loadResource(QTextDocument::ImageResource, QUrl("../images/peers-light.svg"))
                     .value<QImage>()
                     .isNull());
    }

    void linksAndCodeAreLegibleInBothThemes()
    {
        PageView view;
        for (const style::Mode mode : {style::Mode::Light, style::Mode::Dark}) {
            const style::Theme theme = style::loadTheme(mode);
            view.setTheme(theme);
            view.open({"start/window.md", {}});
            view.open({"guides/debugging.md", {}});
            for (QTextBlock block = view.document()->begin(); block.isValid(); block = block.next())
                for (auto at = block.begin(); !at.atEnd(); ++at) {
                    const QTextCharFormat format = at.fragment().charFormat();
                    const QColor text =
                        format.hasProperty(QTextFormat::ForegroundBrush) ? format.foreground().color() : theme.text;
                    const QColor ground =
                        format.hasProperty(QTextFormat::BackgroundBrush) ? format.background().color() : theme.panel;
                    QVERIFY2(style::contrast(text, ground) >= 4.5, qPrintable(at.fragment().text()));
                }
        }
    }

    void theGlossaryDefinesTheTermsOfTheWindow_data()
    {
        QTest::addColumn<QString>("term");
        for (const char* term :
             {"depth", "stage", "cut", "stored value", "prologue", "pin", "batch", "frontier", "hop", "plan", "store",
              "receptive field", "recomputation", "structure-only", "verdict", "phase", "heuristics", "chunk", "tile"})
            QTest::newRow(term) << term;
    }

    void theGlossaryDefinesTheTermsOfTheWindow()
    {
        QFETCH(QString, term);
        const auto found = std::ranges::find(glossary(), term, &Term::name);
        QVERIFY(found != glossary().end());
        QVERIFY2(found->meaning.split(' ').size() >= 4, qPrintable(found->meaning));
        QVERIFY2(!found->meaning.contains('`') && !found->meaning.contains("](") && !found->meaning.contains("**"),
                 qPrintable(found->meaning));
        const QString page = words("reference/glossary.md");
        QVERIFY2(page.contains(found->meaning.left(30)), qPrintable(found->meaning));
    }

    void termsAreFoundInTexts()
    {
        QVERIFY(definitionsIn("Stored values").contains("<b>stored value</b>: a value that a stage writes"));
        QVERIFY(definitionsIn("structure only").contains("<b>structure-only</b>"));
        QVERIFY(definitionsIn("Depth").contains("number of hops in its receptive field"));
        QVERIFY(definitionsIn("depth").contains("<b>depth</b>") && !definitionsIn("depth").contains("<b>hop</b>"));
        QCOMPARE(definitionsIn("Nothing of the kind"), QString());
        QCOMPARE(definitionsIn("backstage"), QString());
        QCOMPARE(definitionsIn("stages, cuts, pins and batches").count("<p>"), 2);
    }

    void labelsColumnsAndTabsExplainTheirTerms()
    {
        QWidget window;
        QLabel label("<b>Prologue</b>", &window);
        QVERIFY(tipAt(label, {3, 3}).contains("computed once before the first stage"));
        label.setToolTip("A tip of its own");
        QVERIFY(tipAt(label, {3, 3}).startsWith("<p>A tip of its own</p><p><b>prologue</b>"));
        label.setText("words that explain nothing");
        QCOMPARE(tipAt(label, {3, 3}), QString("A tip of its own"));
        label.setText(QString("a sentence about a stage ").repeated(4));
        QCOMPARE(shownText(label, {3, 3}), QString());
        QTabBar tabs(&window);
        tabs.addTab("Pins");
        QVERIFY(tipAt(tabs, tabs.tabRect(0).center()).contains("<b>pin</b>"));
        QStandardItemModel model;
        model.setHorizontalHeaderLabels({"Name", "Frontier"});
        QTableView table(&window);
        table.setModel(&model);
        QHeaderView& header = *table.horizontalHeader();
        const QPoint second(header.sectionViewportPosition(1) + 4, 4);
        QVERIFY(tipAt(*header.viewport(), second).contains("<b>frontier</b>"));
        QCOMPARE(tipAt(*header.viewport(), {4, 4}), QString());
    }

    void theTipAppearsWhereThePointerRests()
    {
        const TermTips tips(qApp);
        QLabel label("Frontier");
        label.show();
        QVERIFY(QTest::qWaitForWindowExposed(&label, 60'000));
        QHelpEvent event(QEvent::ToolTip, {4, 4}, label.mapToGlobal(QPoint(4, 4)));
        QApplication::sendEvent(&label, &event);
        QVERIFY(QToolTip::text().contains("the nodes that a batch gathers from"));
        QToolTip::hideText();
    }
};

HOPSCOPE_QT_SUITE(manual, TestManual)
#include "test_manual.moc"
