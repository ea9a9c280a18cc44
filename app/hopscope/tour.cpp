#include "tour.h"

#include <QFile>
#include <QFileInfo>
#include <algorithm>
#include <limits>
#include <utility>

#include "base/rules.h"
#include "models/labels.h"
#include "samples.h"
#include "study/animation/animation_panel.h"
#include "study/debugger/debug_panel.h"
#include "study/lessons/lesson_page.h"
#include "study/receptive/field_text.h"
#include "study/receptive/receptive_panel.h"

namespace hopscope::window {

namespace {

using study::Goal;
using study::Verb;

constexpr int pulseMilliseconds = 100;
constexpr qint64 lessonLimit = 1 << 20;

template <class T>
T& panelOf(const WindowParts& parts, const char* dock)
{
    return *static_cast<T*>(parts.docks.dock(QLatin1String(dock))->widget());
}

std::optional<protocol::ValueId> valueNamed(const protocol::ModelRecord& model, const QString& label)
{
    for (std::size_t i = 0; i < model.values.size(); ++i)
        if (models::text(model.values[protocol::ValueId(static_cast<int>(i))].label) == label)
            return protocol::ValueId(static_cast<int>(i));
    return std::nullopt;
}

double movedBy(const models::PlanPtr& plan)
{
    if (!plan || !plan->predicted) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(plan->predicted->d2h + plan->predicted->h2d);
}

}  // namespace

Tour::Tour(const WindowParts& parts, SessionControl& sessions, Notices& notices, const ActionBook& book,
           study::LessonPane& pane)
    : m_parts(parts),
      m_sessions(sessions),
      m_notices(notices),
      m_book(book),
      m_pane(pane),
      m_receptive(panelOf<study::Receptive>(parts, "receptive")),
      m_debugger(panelOf<study::Debugger>(parts, "debugger")),
      m_animation(panelOf<study::AnimationPanel>(parts, "animation")),
      m_light(parts.window)
{
    connect(&pane, &study::LessonPane::nextWanted, this, &Tour::next);
    connect(&pane, &study::LessonPane::backWanted, this, &Tour::back);
    connect(&pane, &study::LessonPane::closeWanted, this, &Tour::end);
    connect(&m_debugger, &study::Debugger::finished, this, [this] { ++m_looked; });
    connect(&parts.workbench, &jobs::Workbench::failed, this, [this] {
        if (!m_opening.isEmpty()) end();  // the banner shows the reason
    });
    m_pulse.setInterval(pulseMilliseconds);
    connect(&m_pulse, &QTimer::timeout, this, [this] {
        if (m_waiting) proceed();
        else watch();
    });
}

Tour::~Tour() = default;

void Tour::start(study::Lesson lesson)
{
    if (!playing()) m_before = openFile();
    m_lesson = std::make_unique<const study::Lesson>(std::move(lesson));
    m_pane.begin(*m_lesson);
    m_pulse.start();
    show(0);
}

void Tour::startBundled(const QString& id)
{
    std::vector<study::Lesson> lessons = study::bundledLessons();
    for (study::Lesson& lesson : lessons)
        if (lesson.id == id) return start(std::move(lesson));
}

void Tour::startFile(const QString& file)
{
    QFile text(file);
    const QString name = QFileInfo(file).fileName(), what = tr("Opening %1").arg(name);
    if (!text.open(QIODevice::ReadOnly)) return m_notices.sayFailure(what, text.errorString(), {});
    auto lesson = study::readLesson(text.read(lessonLimit).toStdString(), name.toStdString());
    if (!lesson) return m_notices.sayFailure(what, models::text(base::describe(lesson.error())), {});
    start(std::move(*lesson));
}

void Tour::savePage(const QString& file)
{
    const QString problem = study::saveLessonPage(study::bundledLessons(), file);
    if (!problem.isEmpty()) m_notices.sayFailure(tr("Saving the teacher's page"), problem, {});
}

// The open document as a recent file: a session, or a model with its data.
RecentFile Tour::openFile() const
{
    const models::Document& document = m_parts.document;
    if (!document.model()) return {};
    if (const QString& session = m_sessions.keeper().file(); !session.isEmpty())
        return {.file = session, .data = {}, .roles = {}};
    return {.file = document.modelPath(), .data = document.data(), .roles = document.roles()};
}

void Tour::offerReturn()
{
    const RecentFile before = std::exchange(m_before, {});
    if (before.file.isEmpty() || before == openFile()) return;
    const QString name = QFileInfo(before.file).fileName();
    m_parts.banner.say(QStringLiteral("lesson"), tr("The lesson is over. It replaced %1.").arg(name),
                       {{tr("Open %1 again").arg(name), [this, before] { m_sessions.open(before); }}});
}

void Tour::end()
{
    if (playing()) offerReturn();
    m_pulse.stop();
    m_light.point({});
    m_pane.hide();
    m_opening.clear();
    m_lesson.reset();
}

void Tour::next()
{
    if (m_pane.mayGoOn()) skip();
}

void Tour::skip()
{
    if (!playing()) return;
    if (m_step + 1 == static_cast<int>(m_lesson->steps.size())) return end();
    show(m_step + 1);
}

void Tour::back()
{
    if (playing() && m_step > 0) show(m_step - 1);
}

void Tour::show(int step)
{
    m_step = step;
    m_nextAction = 0;
    m_waiting = true;
    m_done = false;
    m_opening.clear();
    m_light.point({});
    m_pane.display(m_lesson->steps[static_cast<std::size_t>(step)], step + 1, static_cast<int>(m_lesson->steps.size()));
    m_pane.setWaiting(true);
    proceed();
}

bool Tour::settled() const
{
    const jobs::Workbench& bench = m_parts.workbench;
    if (!m_opening.isEmpty() && !opened(m_opening)) return false;
    if (bench.busy() || bench.running() || m_debugger.busy() || m_receptive.busy() || m_animation.busy()) return false;
    return !m_parts.document.model() || m_parts.graph.layoutReady();
}

void Tour::proceed()
{
    const study::LessonStep& step = m_lesson->steps[static_cast<std::size_t>(m_step)];
    while (settled()) {
        m_opening.clear();
        if (m_nextAction == step.actions.size()) {
            m_waiting = false;
            m_runs = m_parts.document.runs().size();
            m_lookedBefore = m_looked;
            m_nodeBefore = m_receptive.field() ? m_receptive.field()->node : -1;
            m_light.point(step.show);
            return m_pane.setWaiting(false);
        }
        perform(step.actions[m_nextAction++]);
        if (!playing()) return;
    }
}

void Tour::perform(const study::LessonAction& action)
{
    switch (action.verb) {
    case Verb::Open: return open(action.argument);
    case Verb::Perspective: return m_parts.docks.setPerspective(action.argument);
    case Verb::Panel:
        m_parts.docks.bring(action.argument);
        if (action.argument == u"animation") m_animation.prepare();
        return;
    case Verb::Select: return m_parts.selection.reveal(targetOf(action.argument));
    case Verb::Strategy:
        if (const auto strategy = base::fromName<base::Strategy>(action.argument.toStdString());
            strategy &&
            (*strategy != m_parts.document.settings().strategy || !m_parts.document.settings().pins.empty()))
            m_parts.workbench.setStrategy(*strategy);
        return;
    case Verb::Node: return m_receptive.look(action.argument.toLongLong());
    case Verb::Hunt: return hunt(action.argument);
    case Verb::Other: return m_debugger.setOther(pathOf(action.argument));
    case Verb::Nodes: return m_debugger.setNodes(action.argument);
    case Verb::Look: return m_debugger.start();
    case Verb::Run: return m_parts.workbench.startRun();
    case Verb::Action:
        if (QAction* named = m_book.find(action.argument)) named->trigger();
    }
}

QString Tour::pathOf(const QString& sample) const { return m_parts.setup.samples + u'/' + sample; }

void Tour::open(const QString& sample)
{
    if (opened(sample)) return;
    m_opening = sample;
    const QString model = pathOf(sample);
    m_sessions.open({.file = model, .data = {dataBeside(model)}, .roles = {}});
    if (!m_parts.workbench.busy()) end();  // the user would rather keep the open model
}

bool Tour::opened(const QString& sample) const
{
    const models::Document& document = m_parts.document;
    return document.model() && document.modelPath() == pathOf(sample) && document.reference(base::rules.back());
}

void Tour::hunt(const QString& name)
{
    static const QStringList names{"staged", "against", "nan", "rows", "messages"};
    if (const qsizetype found = names.indexOf(name); found >= 0) m_debugger.prepare(static_cast<study::Hunt>(found));
}

// "module:convs.0", "stage:2", or the label of a value in the window.
models::Target Tour::targetOf(const QString& text) const
{
    const models::ModelPtr& model = m_parts.document.model();
    if (text.startsWith(u"module:")) return models::Target::moduleAt(text.section(u':', 1));
    if (text.startsWith(u"stage:")) return models::Target::stage(protocol::StageId(text.section(u':', 1).toInt()));
    if (!model) return {};
    const auto value = valueNamed(*model, text);
    return value && model->values[*value].producer.valid() ? models::Target::op(model->values[*value].producer)
                                                           : models::Target();
}

bool Tour::isStored(const QString& label) const
{
    const models::Document& document = m_parts.document;
    if (!document.model() || !document.plan()) return false;
    const auto value = valueNamed(*document.model(), label);
    return value && document.plan()->checkpointOf(*value) != nullptr;
}

bool Tour::reached(const study::Task& task) const
{
    const models::Document& document = m_parts.document;
    switch (task.goal) {
    case Goal::Strategy: return models::text(std::string(base::nameOf(document.settings().strategy))) == task.argument;
    case Goal::Stored: return isStored(task.argument);
    case Goal::NotStored: return document.plan() && !isStored(task.argument);
    case Goal::Selected: return m_parts.selection.current() == targetOf(task.argument);
    case Goal::Ran: return document.runs().size() > m_runs;
    case Goal::Looked: return m_looked > m_lookedBefore;
    case Goal::Node: break;
    }
    if (!m_receptive.field()) return false;
    const std::int64_t node = m_receptive.field()->node;
    return task.argument.isEmpty() ? node != m_nodeBefore : node == task.argument.toLongLong();
}

void Tour::watch()
{
    const study::LessonStep& step = m_lesson->steps[static_cast<std::size_t>(m_step)];
    if (m_done || !step.task || !settled() || !reached(*step.task)) return;
    m_done = true;
    m_pane.setDone(step.task->done);
}

double Tour::figure(const std::string& name) const
{
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    const models::Document& document = m_parts.document;
    const auto field = m_receptive.field();
    const auto& found = m_debugger.divergence();
    if (name == "nodes" && field) return static_cast<double>(field->nodes);
    if (name == "field-rows" && field) return static_cast<double>(study::inputRows(*field));
    if (name == "field-mean" && field) return study::meanInputRows(*field);
    if (name == "block-edges" && field) return static_cast<double>(study::blockEdges(*field));
    if (name == "depth" && document.model()) return document.model()->depth;
    if (name == "stages" && document.plan()) return static_cast<double>(document.plan()->stages.size());
    if (name == "stores" && document.plan())
        return static_cast<double>(
            std::ranges::count(document.plan()->checkpoints, false, &protocol::PlanCheckpoint::output));
    if (name == "moved") return movedBy(document.plan());
    if (name == "moved-by-optimum") return movedBy(document.reference(base::Strategy::Optimal));
    for (const base::Strategy rule : base::rules)
        if (name == "moved-by-" + models::strategyLabel(rule).replace(u' ', u'-').toStdString())
            return movedBy(document.reference(rule));
    if (name == "different-rows" && found)
        return found->nodes        ? static_cast<double>(found->nodes->rows)
               : found->divergence ? static_cast<double>(found->divergence->rows)
                                   : 0;
    return none;
}

}  // namespace hopscope::window
