#pragma once

// Shows a lesson next to the graph: the text of the current step, its question or task, and the buttons to move between
// steps. The pane judges the answers to questions; the player of the lesson decides when a task is done, and which step
// is shown.

#include <QBoxLayout>
#include <QFrame>
#include <QLabel>
#include <QPushButton>

#include "study/lessons/lesson.h"

namespace hopscope::study {

class LessonPane : public QFrame {
    Q_OBJECT
public:
    explicit LessonPane(QWidget* parent = nullptr);

    void begin(const Lesson& lesson);
    void display(const LessonStep& step, int number, int count);  // `number` counts from 1
    void setWaiting(bool waiting);                                // the window is still carrying out the step
    void setDone(const QString& reply);                           // the task is done
    [[nodiscard]] bool mayGoOn() const { return m_next->isEnabled(); }
    void answer(int choice);  // as if the choice were clicked

signals:
    void nextWanted();
    void backWanted();
    void closeWanted();
    void answered(int choice);

private:
    QWidget* makeText();
    QLayout* makeButtons();
    void showChoices(const Question& question);
    void clearChoices();

    QLabel *m_lesson, *m_progress, *m_title, *m_text, *m_ask, *m_reply;
    QVBoxLayout* m_choices;
    QVector<QPushButton*> m_choiceButtons;
    QPushButton *m_back, *m_next, *m_close;
    bool m_open = false, m_waiting = false, m_last = false;  // open: a task or question remains
    const LessonStep* m_step = nullptr;
    void refresh();
};

}  // namespace hopscope::study
