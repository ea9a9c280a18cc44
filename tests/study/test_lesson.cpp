// Lessons as data: what is read, what is refused, and the pane that shows a step.

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "study/lessons/lesson.h"
#include "study/lessons/lesson_page.h"
#include "study/lessons/lesson_pane.h"
#include "style/theme.h"
#include "support/qt_suites.h"

using namespace hopscope;
using namespace hopscope::study;

namespace {

const char* const step = R"({"title": "A", "text": "One *term*.\n\nTwo.", "do": [["open", "karate/gcn.pt"]],
    "show": "plan", "expect": {"stages": 2},
    "question": {"text": "Why?", "choices": [{"text": "x", "reply": "no"}, {"text": "y", "right": true, "reply": "since"}]}})";

std::string lesson(const std::string& steps)
{
    return R"({"format": "hopscope-lesson", "version": "1.0", "id": "a", "title": "T", "summary": "S", "minutes": 5,
               "question": "Q", "steps": [)" +
           steps + "]}";
}

}  // namespace

class TestLesson : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        style::applyTheme(style::loadTheme(style::Mode::Light));
    }  // and its resources, with the lessons
    void aLessonIsRead();
    void whatIsWrongIsRefusedAtItsPlace_data();
    void whatIsWrongIsRefusedAtItsPlace();
    void bundledLessonsAreWhole();
    void aQuestionIsAnsweredByTheRightChoice();
    void aTaskWaitsUntilItIsDone();
    void theTeachersPageHasEveryAnswer();
};

void TestLesson::aLessonIsRead()
{
    const auto read = readLesson(lesson(step), "lesson");
    QVERIFY2(read, read ? "" : read.error().message.c_str());
    QCOMPARE(read->steps.size(), std::size_t{1});
    const LessonStep& first = read->steps.front();
    QCOMPARE(first.actions.front().verb, Verb::Open);
    QCOMPARE(first.actions.front().argument, QString("karate/gcn.pt"));
    QCOMPARE(first.expect.at("stages"), 2.0);
    QCOMPARE(first.question->choices.at(1).right, true);
}

void TestLesson::whatIsWrongIsRefusedAtItsPlace_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("where");
    const auto with = [](const char* what, const char* instead) {
        return QString::fromStdString(lesson(step)).replace(QLatin1String(what), QLatin1String(instead));
    };
    QTest::newRow("another format") << with("hopscope-lesson", "hopscope-plan") << "/format";
    QTest::newRow("a later version") << with("1.0", "2.0") << "/version";
    QTest::newRow("an unknown verb") << with("\"open\"", "\"jump\"") << "/steps/0/do/0/0";
    QTest::newRow("a verb alone") << with("[\"open\", \"karate/gcn.pt\"]", "[\"open\"]") << "/steps/0/do/0";
    QTest::newRow("an unknown member") << with("\"show\"", "\"shwo\"") << "/steps/0/shwo";
    QTest::newRow("no right choice") << with("\"right\": true", "\"right\": false") << "/steps/0/question/choices";
    QTest::newRow("no steps") << QString::fromStdString(lesson("")) << "/steps";
    QTest::newRow("task and question") << with("\"show\": \"plan\"",
                                               R"("task": {"goal": "ran", "text": "do", "done": "did"})")
                                       << "/steps/0";
}

void TestLesson::whatIsWrongIsRefusedAtItsPlace()
{
    QFETCH(QString, text);
    QFETCH(QString, where);
    const auto read = readLesson(text.toStdString(), "lesson");
    QVERIFY(!read);
    QVERIFY2(read.error().where.ends_with(where.toStdString()), base::describe(read.error()).c_str());
}

void TestLesson::bundledLessonsAreWhole()
{
    const std::vector<Lesson> lessons = bundledLessons();
    QCOMPARE(lessons.size(), std::size_t{5});
    for (const Lesson& each : lessons) {
        int questions = 0;
        for (const LessonStep& one : each.steps) questions += one.question || one.task ? 1 : 0;
        QVERIFY2(questions >= 3, qPrintable(each.title));
        QVERIFY(!each.question.isEmpty());
    }
}

void TestLesson::aQuestionIsAnsweredByTheRightChoice()
{
    const auto read = readLesson(lesson(step), "lesson");
    LessonPane pane;
    pane.begin(*read);
    pane.display(read->steps.front(), 1, 2);
    auto* next = pane.findChild<QPushButton*>("lessonNext");
    QSignalSpy wanted(&pane, &LessonPane::nextWanted);
    QTest::mouseClick(next, Qt::LeftButton);
    QCOMPARE(wanted.size(), 0);
    QTest::mouseClick(pane.findChild<QPushButton*>("lessonChoice.1"), Qt::LeftButton);
    QVERIFY(pane.findChild<QLabel*>("lessonReply")->text().contains("Not quite"));
    QVERIFY(!pane.mayGoOn());
    pane.findChild<QPushButton*>("lessonChoice.2")->setFocus();
    QTest::keyClick(pane.findChild<QPushButton*>("lessonChoice.2"), Qt::Key_Space);
    QVERIFY(pane.mayGoOn());
    QVERIFY(pane.findChild<QLabel*>("lessonText")->text().contains("<b>term</b>"));
    QTest::mouseClick(next, Qt::LeftButton);
    QCOMPARE(wanted.size(), 1);
}

void TestLesson::aTaskWaitsUntilItIsDone()
{
    LessonPane pane;
    LessonStep task{.title = "t", .text = "x"};
    task.task = Task{.goal = Goal::Ran, .argument = {}, .text = "Run it.", .done = "It ran."};
    pane.display(task, 2, 2);
    QVERIFY(!pane.mayGoOn());
    QCOMPARE(pane.findChild<QPushButton*>("lessonNext")->accessibleName(), QString("Finish"));
    pane.setDone("It ran.");
    QVERIFY(pane.mayGoOn());
    pane.setWaiting(true);
    QVERIFY(!pane.mayGoOn());
}

void TestLesson::theTeachersPageHasEveryAnswer()
{
    const std::vector<Lesson> lessons = bundledLessons();
    const QString page = lessonPage(lessons);
    qsizetype questions = 0;
    for (const Lesson& each : lessons)
        for (const LessonStep& one : each.steps) {
            QVERIFY2(page.contains(one.title.toHtmlEscaped()), qPrintable(one.title));
            if (!one.question) continue;
            ++questions;
            for (const Choice& choice : one.question->choices)
                QVERIFY(!choice.right || page.contains("<li>" + choice.text.toHtmlEscaped() + " <b>(right)</b>"));
        }
    QCOMPARE(page.count("(right)"), questions);
    const QTemporaryDir folder;
    for (const char* name : {"page.pdf", "page.html"}) {
        QCOMPARE(saveLessonPage(lessons, folder.filePath(name)), QString());
        QVERIFY(QFileInfo(folder.filePath(name)).size() > 2000);
    }
    QVERIFY(!saveLessonPage(lessons, folder.filePath("no/such/folder/page.pdf")).isEmpty());
}

HOPSCOPE_QT_SUITE(lesson, TestLesson)
#include "test_lesson.moc"
