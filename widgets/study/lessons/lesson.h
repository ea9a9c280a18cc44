#pragma once

// A guided tour as data: steps that control the window, with tasks to do and questions to answer.
// docs/reference/format-lesson.md describes the format for authors of lessons.

#include <QString>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/names.h"
#include "base/result.h"

namespace hopscope::study {

// An action that a step performs on the window before the learner reads it; its argument is a text.
enum class Verb : std::uint8_t {
    Open,
    Perspective,
    Panel,
    Select,
    Strategy,
    Node,
    Hunt,
    Other,
    Nodes,
    Look,
    Run,
    Action
};

constexpr auto namesOf(Verb)
{
    return std::to_array<base::Named<Verb>>({{Verb::Open, "open"},
                                             {Verb::Perspective, "perspective"},
                                             {Verb::Panel, "panel"},
                                             {Verb::Select, "select"},
                                             {Verb::Strategy, "strategy"},
                                             {Verb::Node, "node"},
                                             {Verb::Hunt, "hunt"},
                                             {Verb::Other, "other"},
                                             {Verb::Nodes, "nodes"},
                                             {Verb::Look, "look"},
                                             {Verb::Run, "run"},
                                             {Verb::Action, "action"}});
}

struct LessonAction {
    Verb verb{};
    QString argument;
};

// The goal of a task, which the learner has to reach before the lesson continues.
enum class Goal : std::uint8_t { Strategy, Stored, NotStored, Selected, Ran, Looked, Node };

constexpr auto namesOf(Goal)
{
    return std::to_array<base::Named<Goal>>({{Goal::Strategy, "strategy"},
                                             {Goal::Stored, "stored"},
                                             {Goal::NotStored, "not-stored"},
                                             {Goal::Selected, "selected"},
                                             {Goal::Ran, "ran"},
                                             {Goal::Looked, "looked"},
                                             {Goal::Node, "node"}});
}

struct Task {
    Goal goal{};
    QString argument;
    QString text;  // what to do, and how
    QString done;  // the text shown when it is done
};

struct Choice {
    QString text;
    bool right = false;
    QString reply;  // the text shown when it is chosen
};

struct Question {
    QString text;
    std::vector<Choice> choices;
};

struct LessonStep {
    QString title, text;  // paragraphs are separated by empty lines
    std::vector<LessonAction> actions{};
    QString show{};              // the object name of the part of the window that the text describes
    std::optional<Task> task{};  // a step has a task, a question, or neither
    std::optional<Question> question{};
    std::map<std::string, double> expect{};  // figures that the text relies on, by name
};

struct Lesson {
    QString id, title, summary;
    int minutes = 0;
    QString question;  // the question that a learner can answer after the lesson
    std::vector<LessonStep> steps;
};

// Fails with Input if the text is not JSON or not a lesson. A step may not have both a task and a question, and a
// question must have exactly one right choice.
base::Result<Lesson> readLesson(const std::string& text, const std::string& name);

// Returns the lessons that come with the program, in order.
std::vector<Lesson> bundledLessons();

}  // namespace hopscope::study
