#include "study/lessons/lesson.h"

#include <QFile>
#include <algorithm>

#include "models/labels.h"
#include "json/names.h"

namespace hopscope::study {

namespace {

using json::Reader;

QString textOf(const Reader& item, std::string_view key) { return models::text(item.get<std::string>(key)); }

QString textOr(const Reader& item, std::string_view key)
{
    return models::text(item.maybe<std::string>(key).value_or(std::string()));
}

// ["open", "karate/gcn.pt"].
LessonAction actionFrom(const Reader& item)
{
    const std::vector<Reader> parts = item.items();
    if (parts.size() != 2) {
        item.refuse("must be a verb and its argument");
        return {};
    }
    return {.verb = json::named<Verb>(parts[0]), .argument = models::text(parts[1].as<std::string>())};
}

Task taskFrom(const Reader& item)
{
    item.only({"goal", "argument", "text", "done"});
    return {.goal = json::named<Goal>(item, "goal"),
            .argument = textOr(item, "argument"),
            .text = textOf(item, "text"),
            .done = textOf(item, "done")};
}

Question questionFrom(const Reader& item)
{
    item.only({"text", "choices"});
    Question question{.text = textOf(item, "text"), .choices = {}};
    for (const Reader& choice : item.items("choices")) {
        choice.only({"text", "right", "reply"});
        question.choices.push_back({.text = textOf(choice, "text"),
                                    .right = choice.maybe<bool>("right").value_or(false),
                                    .reply = textOf(choice, "reply")});
    }
    if (item.ok() && std::ranges::count(question.choices, true, &Choice::right) != 1)
        item.child("choices").refuse("must have exactly one right choice");
    return question;
}

LessonStep stepFrom(const Reader& item)
{
    item.only({"title", "text", "do", "show", "task", "question", "expect"});
    LessonStep step{.title = textOf(item, "title"), .text = textOf(item, "text"), .show = textOr(item, "show")};
    if (item.has("do"))
        for (const Reader& action : item.items("do")) step.actions.push_back(actionFrom(action));
    if (item.has("task")) step.task = taskFrom(item.child("task"));
    if (item.has("question")) step.question = questionFrom(item.child("question"));
    if (step.task && step.question) item.refuse("has a task and a question: make it two steps");
    if (item.has("expect"))
        for (const auto& [name, figure] : item.child("expect").members()) step.expect[name] = figure.as<double>();
    return step;
}

}  // namespace

base::Result<Lesson> readLesson(const std::string& text, const std::string& name)
{
    const base::Result<json::Value> document = json::parse(text, name);
    if (!document) return base::forward(document);
    const Reader root(*document, name);
    root.only({"format", "version", "id", "title", "summary", "minutes", "question", "steps"});
    if (root.get<std::string>("format") != "hopscope-lesson") root.child("format").refuse("must be 'hopscope-lesson'");
    if (!root.get<std::string>("version").starts_with("1.")) root.child("version").refuse("must be 1.x");
    Lesson lesson{.id = textOf(root, "id"),
                  .title = textOf(root, "title"),
                  .summary = textOf(root, "summary"),
                  .minutes = root.get<int>("minutes"),
                  .question = textOf(root, "question"),
                  .steps = {}};
    for (const Reader& step : root.items("steps")) lesson.steps.push_back(stepFrom(step));
    if (root.ok() && lesson.steps.empty()) root.child("steps").refuse("must not be empty");
    if (!root.ok()) return base::forward(root.status());
    return lesson;
}

std::vector<Lesson> bundledLessons()
{
    std::vector<Lesson> lessons;
    for (const char* name : {"layer-wise", "depth", "residual", "cuts", "degrees"}) {
        QFile file(QStringLiteral(":/hopscope/lessons/%1.json").arg(QLatin1String(name)));
        if (!file.open(QIODevice::ReadOnly)) continue;
        if (auto lesson = readLesson(file.readAll().toStdString(), name)) lessons.push_back(std::move(*lesson));
    }
    return lessons;
}

}  // namespace hopscope::study
