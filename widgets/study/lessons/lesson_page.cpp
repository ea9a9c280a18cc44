#include "study/lessons/lesson_page.h"

#include <QPdfWriter>
#include <QSaveFile>
#include <QTextDocument>

#include "models/tr.h"

namespace hopscope::study {

namespace {

// Terms between asterisks are bold, as on the screen.
QString paragraphs(const QString& text)
{
    QString html;
    for (const QString& paragraph : text.split(QStringLiteral("\n\n"))) {
        const QStringList parts = paragraph.toHtmlEscaped().split(u'*');
        html += QStringLiteral("<p>");
        for (qsizetype i = 0; i < parts.size(); ++i)
            html += i % 2 == 1 ? QStringLiteral("<b>%1</b>").arg(parts[i]) : parts[i];
        html += QStringLiteral("</p>");
    }
    return html;
}

QString choicesOf(const Question& question)
{
    QString html = QStringLiteral("<ul>");
    for (const Choice& choice : question.choices)
        html += QStringLiteral("<li>%1%2: %3</li>")
                    .arg(choice.text.toHtmlEscaped(), choice.right ? tr(" <b>(right)</b>") : QString(),
                         QString(choice.reply).remove(u'*').toHtmlEscaped());
    return html + QStringLiteral("</ul>");
}

QString stepOf(const LessonStep& step, int number)
{
    QString html =
        QStringLiteral("<h3>%1. %2</h3>").arg(number).arg(step.title.toHtmlEscaped()) + paragraphs(step.text);
    if (step.task)
        html += tr("<p><b>Task.</b> %1 <i>%2</i></p>")
                    .arg(step.task->text.toHtmlEscaped(), step.task->done.toHtmlEscaped());
    if (step.question)
        html += tr("<p><b>Question.</b> %1</p>").arg(step.question->text.toHtmlEscaped()) + choicesOf(*step.question);
    return html;
}

QString lessonOf(const Lesson& lesson)
{
    QString html = QStringLiteral("<h2>%1</h2>").arg(lesson.title.toHtmlEscaped());
    html += tr("<p>%1. About %2 minutes.</p>").arg(lesson.summary.toHtmlEscaped()).arg(lesson.minutes);
    html += tr("<p><b>Afterwards learners can answer:</b> %1</p>").arg(lesson.question.toHtmlEscaped());
    int number = 0;
    for (const LessonStep& step : lesson.steps) html += stepOf(step, ++number);
    return html;
}

void writePdf(const QString& html, QIODevice& file)
{
    QPdfWriter writer(&file);
    writer.setPageSize(QPageSize(QPageSize::A4));
    writer.setPageMargins(QMarginsF(18, 18, 18, 18), QPageLayout::Millimeter);
    QTextDocument document;
    document.setHtml(html);
    document.print(&writer);
}

}  // namespace

QString lessonPage(const std::vector<Lesson>& lessons)
{
    QString html = tr("<h1>Hopscope: lessons, with answers</h1>");
    for (const Lesson& lesson : lessons) html += lessonOf(lesson);
    return QStringLiteral("<html><head><meta charset=\"utf-8\"></head><body>%1</body></html>").arg(html);
}

QString saveLessonPage(const std::vector<Lesson>& lessons, const QString& file)
{
    QSaveFile target(file);
    if (!target.open(QIODevice::WriteOnly)) return target.errorString();
    const QString html = lessonPage(lessons);
    const bool pdf = file.endsWith(u".pdf", Qt::CaseInsensitive);
    if (pdf) writePdf(html, target);
    else target.write(html.toUtf8());
    return target.commit() ? QString() : target.errorString();
}

}  // namespace hopscope::study
