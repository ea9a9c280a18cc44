#include "automation.h"

#include <QPixmap>

#include "base/rules.h"
#include "models/labels.h"
#include "models/problem_model.h"

namespace hopscope::window {

namespace {

constexpr int tickLength = 40;           // milliseconds
constexpr int quietTicks = 15;           // until animations and plots have come to rest
constexpr int idleTicks = 75;            // three seconds in which nothing is running although something is missing
constexpr int tickLimit = 15 * 60 * 25;  // a quarter of an hour

}  // namespace

Automation::Automation(MainWindow& window, CommandLine line, QObject* parent)
    : QObject(parent),
      m_window(window),
      m_line(std::move(line)),
      m_runWanted(m_line.run),
      m_planWanted(!m_line.plan.isEmpty())
{
    m_ticks.setInterval(tickLength);
    connect(&m_ticks, &QTimer::timeout, this, &Automation::tick);
    jobs::Workbench* bench = &m_window.workbench();
    connect(bench, &jobs::Workbench::opened, this, &Automation::modelOpened);
    connect(bench, &jobs::Workbench::failed, this,
            [this](const QString& what, const QString& sentence, const QString& hint) {
                const QString text = QStringLiteral("%1: %2").arg(what, sentence);
                finish(3, hint.isEmpty() ? text : text + QStringLiteral("; ") + hint);
            });
    connect(bench, &jobs::Workbench::engineLost, this, [this](const QString& reason) {
        if (m_window.engine().state() == jobs::EngineState::Failed) finish(7, reason);
    });
}

void Automation::start()
{
    m_ticks.start();
    if (m_line.recover) {
        const QVector<Orphan> orphans = SessionKeeper::orphans(m_window.recoveryFolder());
        if (!orphans.isEmpty()) return m_window.recover(orphans.first());
    }
    if (!m_line.file.isEmpty()) m_window.openFile({.file = m_line.file, .data = m_line.data, .roles = m_line.roles});
}

void Automation::modelOpened()
{
    if (!m_line.perspective.isEmpty()) m_window.docks().setPerspective(m_line.perspective);
}

bool Automation::settled() const
{
    jobs::Workbench& bench = m_window.workbench();
    if (bench.busy() || bench.running()) return false;
    if (m_line.file.isEmpty() && !m_line.recover) return true;
    const models::ModelPtr& model = m_window.document().model();
    if (!model || !m_window.graph().layoutReady()) return false;
    return !model->splittable || (m_window.document().plan() && m_window.document().reference(base::rules.back()));
}

// The engine is idle although the model, or a plan of it, is missing: there was an error, and the banner
// shows it.
bool Automation::idle() const
{
    jobs::Workbench& bench = m_window.workbench();
    if (bench.busy() || bench.running() || m_window.engine().state() != jobs::EngineState::Ready) return false;
    if (m_line.file.isEmpty() && !m_line.recover) return false;
    const models::ModelPtr& model = m_window.document().model();
    if (!model) return true;
    return model->splittable && !(m_window.document().plan() && m_window.document().reference(base::rules.back()));
}

QString Automation::missing() const
{
    const QString said = m_window.banner().sentence();
    if (!said.isEmpty()) return said;
    if (!m_window.document().model())
        return m_line.recover ? tr("there is nothing to recover") : tr("no model was opened");
    return tr("no plan was made");
}

// Ends with the reason if the model has no plan, which a run needs.
bool Automation::refused()
{
    const models::ModelPtr& model = m_window.document().model();
    const protocol::LintRecord* const lint = model ? models::blockingLint(*model) : nullptr;
    if (lint == nullptr) return false;
    const auto code = models::isUntrusted(*model) ? base::ErrorCode::Untrusted : base::ErrorCode::Unsupported;
    const QString hint = lint->hint.empty() ? QString() : QStringLiteral("; ") + models::text(lint->hint);
    finish(static_cast<int>(code), models::text(lint->message) + hint);
    return true;
}

void Automation::tick()
{
    if (++m_ticked > tickLimit) return finish(7, tr("timed out waiting for the engine"));
    m_idle = idle() ? m_idle + 1 : 0;
    if (m_idle > idleTicks) return finish(3, missing());
    m_quiet = settled() ? m_quiet + 1 : 0;
    if (m_quiet > 0 && (m_planWanted || m_runWanted) && refused()) return;
    if (m_quiet > 0 && m_planWanted) {
        m_planWanted = false;
        m_quiet = 0;
        return m_window.workbench().loadPlan(m_line.plan);
    }
    if (m_quiet > 0 && m_runWanted) {
        m_runWanted = false;
        m_quiet = 0;
        return m_window.workbench().startRun();
    }
    if (m_quiet < quietTicks) return;
    m_ticks.stop();
    if (!m_line.unattended()) return;
    const QString problem = writeFiles();
    finish(problem.isEmpty() ? 0 : 3, problem);
}

QString Automation::writeFiles()
{
    for (const ExportTarget& target : m_line.exports) {
        const QString problem = m_window.exportTo(target, m_line.width);
        if (!problem.isEmpty()) return QStringLiteral("%1: %2").arg(target.file, problem);
    }
    if (m_line.screenshot.isEmpty() || m_window.grab().save(m_line.screenshot)) return {};
    return tr("%1 cannot be written").arg(m_line.screenshot);
}

void Automation::finish(int exitCode, const QString& problem)
{
    if (m_over || !m_line.unattended()) return;
    m_over = true;
    m_ticks.stop();
    emit done(exitCode, problem);
}

}  // namespace hopscope::window
