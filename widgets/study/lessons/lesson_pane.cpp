#include "study/lessons/lesson_pane.h"

#include "panels/parts.h"

namespace hopscope::study {

namespace {

constexpr int paneWidth = 340;

// Paragraphs as rich text; text between asterisks is bold.
QString richText(const QString& text)
{
    QString html;
    for (const QString& paragraph : text.split(QStringLiteral("\n\n"))) {
        const QStringList parts = paragraph.toHtmlEscaped().split(u'*');
        html += QStringLiteral("<p style=\"margin:0 0 8px 0\">");
        for (qsizetype i = 0; i < parts.size(); ++i)
            html += i % 2 == 1 ? QStringLiteral("<b>%1</b>").arg(parts[i]) : parts[i];
        html += QStringLiteral("</p>");
    }
    return html;
}

QPushButton* button(const QString& name, const QString& text, QWidget* parent)
{
    auto* made = new QPushButton(text, parent);
    made->setObjectName(name);
    made->setAccessibleName(QString(text).remove(u'&'));
    return made;
}

}  // namespace

LessonPane::LessonPane(QWidget* parent) : QFrame(parent)
{
    setObjectName(QStringLiteral("lessonPane"));
    setAccessibleName(tr("Lesson"));
    setFixedWidth(paneWidth);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(14, 10, 10, 12);
    column->setSpacing(8);
    auto* top = new QHBoxLayout;
    m_lesson = panels::heading({}, this);
    m_lesson->setObjectName(QStringLiteral("lessonName"));
    m_lesson->setWordWrap(true);
    m_close = button(QStringLiteral("lessonClose"), tr("&End"), this);
    m_close->setToolTip(tr("Leave the lesson; the window stays as it is"));
    top->addWidget(m_lesson, 1);
    top->addWidget(m_close, 0, Qt::AlignTop);
    column->addLayout(top);
    m_progress = panels::mutedLabel({}, this);
    m_progress->setObjectName(QStringLiteral("lessonProgress"));
    column->addWidget(m_progress);
    QScrollArea* area = panels::scrolled(makeText(), this);
    area->setObjectName(QStringLiteral("lessonScroll"));
    area->setAccessibleName(tr("Text of the lesson"));
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    column->addWidget(area, 1);
    column->addLayout(makeButtons());
    hide();
}

QWidget* LessonPane::makeText()
{
    auto* content = new QWidget(this);
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 6, 0);
    column->setSpacing(8);
    m_title = panels::title(QStringLiteral("lessonTitle"), content);
    m_text = panels::wrapped(QStringLiteral("lessonText"), content);
    m_text->setTextFormat(Qt::RichText);
    m_ask = panels::wrapped(QStringLiteral("lessonAsk"), content);
    m_ask->setProperty("heading", true);
    m_choices = new QVBoxLayout;
    m_reply = panels::wrapped(QStringLiteral("lessonReply"), content);
    m_reply->setTextFormat(Qt::RichText);
    column->addWidget(m_title);
    column->addWidget(m_text);
    column->addWidget(m_ask);
    column->addLayout(m_choices);
    column->addWidget(m_reply);
    column->addStretch(1);
    return content;
}

QLayout* LessonPane::makeButtons()
{
    auto* row = new QHBoxLayout;
    m_back = button(QStringLiteral("lessonBack"), tr("&Back"), this);
    m_next = button(QStringLiteral("lessonNext"), tr("&Next"), this);
    m_next->setProperty("primary", true);
    row->addWidget(m_back);
    row->addStretch(1);
    row->addWidget(m_next);
    connect(m_back, &QPushButton::clicked, this, &LessonPane::backWanted);
    connect(m_next, &QPushButton::clicked, this, &LessonPane::nextWanted);
    connect(m_close, &QPushButton::clicked, this, &LessonPane::closeWanted);
    return row;
}

void LessonPane::begin(const Lesson& lesson)
{
    m_lesson->setText(lesson.title);
    show();
}

void LessonPane::display(const LessonStep& step, int number, int count)
{
    m_progress->setText(tr("Step %1 of %2").arg(number).arg(count));
    m_title->setText(step.title);
    m_text->setText(richText(step.text));
    m_step = &step;
    m_open = step.task || step.question;
    m_last = number == count;
    m_reply->clear();
    m_reply->hide();
    clearChoices();
    m_ask->setVisible(m_open);
    if (step.question) showChoices(*step.question);
    else if (step.task) m_ask->setText(step.task->text);
    m_back->setEnabled(number > 1);
    m_next->setText(m_last ? tr("&Finish") : tr("&Next"));
    m_next->setAccessibleName(m_last ? tr("Finish") : tr("Next"));
    refresh();
}

void LessonPane::showChoices(const Question& question)
{
    m_ask->setText(question.text);
    for (int i = 0; i < static_cast<int>(question.choices.size()); ++i) {
        const QString& text = question.choices[static_cast<std::size_t>(i)].text;
        auto* made = button(QStringLiteral("lessonChoice.%1").arg(i + 1), text, this);
        made->setProperty("choice", true);
        connect(made, &QPushButton::clicked, this, [this, i] { answer(i); });
        m_choices->addWidget(made);
        m_choiceButtons.append(made);
    }
}

void LessonPane::clearChoices()
{
    for (QPushButton* made : m_choiceButtons) made->deleteLater();
    m_choiceButtons.clear();
}

void LessonPane::answer(int choice)
{
    if (!m_step || !m_step->question) return;
    const Choice& chosen = m_step->question->choices.at(static_cast<std::size_t>(choice));
    m_reply->setText(richText((chosen.right ? tr("*Right.* %1") : tr("*Not quite.* %1")).arg(chosen.reply)));
    m_reply->show();
    if (chosen.right) m_open = false;
    refresh();
    emit answered(choice);
}

void LessonPane::setWaiting(bool waiting)
{
    m_waiting = waiting;
    refresh();
}

void LessonPane::setDone(const QString& reply)
{
    m_open = false;
    m_reply->setText(richText(tr("*Done.* %1").arg(reply)));
    m_reply->show();
    refresh();
}

void LessonPane::refresh()
{
    m_next->setEnabled(!m_open && !m_waiting);
    m_next->setToolTip(m_waiting ? tr("The window is being prepared")
                       : m_open  ? tr("Answer the question or do the task first")
                                 : QString());
}

}  // namespace hopscope::study
