#pragma once

// Plays a lesson: carries out the actions of each step in the window, one after the other, marks the part that the text
// refers to, and notices when the learner has completed the task.

#include <QTimer>
#include <memory>

#include "actions.h"
#include "notices.h"
#include "session_control.h"
#include "spotlight.h"
#include "study/lessons/lesson.h"
#include "study/lessons/lesson_pane.h"

namespace hopscope::study {
class AnimationPanel;
class Debugger;
class Receptive;
}  // namespace hopscope::study

namespace hopscope::window {

class Tour : public QObject {
    Q_OBJECT
public:
    Tour(const WindowParts& parts, SessionControl& sessions, Notices& notices, const ActionBook& book,
         study::LessonPane& pane);
    ~Tour() override;

    void start(study::Lesson lesson);
    void startBundled(const QString& id);  // one of study::bundledLessons()
    void startFile(const QString& file);   // an invalid lesson is reported above the graph
    void savePage(const QString& file);    // for teachers: all bundled lessons, with answers
    void end();
    void next();
    void back();
    void skip();  // skips the step, answered or not
    [[nodiscard]] bool playing() const { return m_lesson != nullptr; }
    [[nodiscard]] int step() const { return m_step; }        // from 0
    [[nodiscard]] bool ready() const { return !m_waiting; }  // the window is in the state that the step needs
    [[nodiscard]] const study::Lesson& lesson() const { return *m_lesson; }
    // Returns a figure of the window by its name (docs/reference/format-lesson.md), or NaN if it has none at present.
    [[nodiscard]] double figure(const std::string& name) const;
    void setTheme(const style::Theme& theme) { m_light.setTheme(theme); }

private:
    void show(int step);
    void proceed();  // carries out the actions of the step, as far as the window is ready
    void perform(const study::LessonAction& action);
    void open(const QString& sample);
    void hunt(const QString& name);
    void watch();  // for the completion of the task
    [[nodiscard]] bool settled() const;
    [[nodiscard]] bool reached(const study::Task& task) const;
    [[nodiscard]] bool opened(const QString& sample) const;
    [[nodiscard]] QString pathOf(const QString& sample) const;
    [[nodiscard]] models::Target targetOf(const QString& text) const;
    [[nodiscard]] bool isStored(const QString& label) const;
    [[nodiscard]] RecentFile openFile() const;
    void offerReturn();  // to the model that the lesson has replaced

    const WindowParts& m_parts;
    SessionControl& m_sessions;
    Notices& m_notices;
    const ActionBook& m_book;
    study::LessonPane& m_pane;
    study::Receptive& m_receptive;
    study::Debugger& m_debugger;
    study::AnimationPanel& m_animation;
    Spotlight m_light;
    std::unique_ptr<const study::Lesson> m_lesson;
    RecentFile m_before;  // the model open when the lesson began; empty: none
    int m_step = 0;
    std::size_t m_nextAction = 0;
    bool m_waiting = false, m_done = false;
    QString m_opening;  // the sample being opened; empty: none
    std::size_t m_runs = 0;
    int m_looked = 0, m_lookedBefore = 0;
    std::int64_t m_nodeBefore = -1;
    QTimer m_pulse;
};

}  // namespace hopscope::window
