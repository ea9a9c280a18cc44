#include "session_control.h"

#include <QFileInfo>
#include <QMessageBox>

#include "graph/formats.h"
#include "models/labels.h"
#include "run_actions.h"
#include "samples.h"

namespace hopscope::window {

namespace {

constexpr std::size_t mostRuns = 50;  // in a session file

bool isSession(const QString& file) { return file.endsWith(u".hopscope"); }

bool isData(const QString& file) { return graph::formatNamed(file.toStdString()) || QFileInfo(file).isDir(); }

RecentFile onlyFile(const QString& file) { return {.file = file, .data = {}, .roles = {}}; }

}  // namespace

SessionControl::SessionControl(const WindowParts& parts, FileDialogs& dialogs, Notices& notices)
    : m_parts(parts),
      m_dialogs(dialogs),
      m_notices(notices),
      m_keeper([this](bool withView) { return current(withView); }, parts.setup.recoveryFolder, this),
      m_watch(parts)
{
    connect(&m_watch, &FileWatch::reloadWanted, this, &SessionControl::reload);
    connect(&parts.document, &models::Document::planChanged, this, &SessionControl::planCame);
}

void SessionControl::askForModel(const RecentFile& suggestion)
{
    auto* dialog = new OpenDialog(m_dialogs.engineFiles(), suggestion, &m_parts.window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] { open(dialog->choice()); });
    dialog->open();
}

void SessionControl::askForSession()
{
    m_dialogs.open(tr("Open a session"), tr("Sessions (*.hopscope)"),
                   [this](const QString& file) { open(onlyFile(file)); });
}

void SessionControl::open(const RecentFile& entry)
{
    if (!mayClose([this, entry] { open(entry); })) return;
    if (isSession(entry.file)) openSession(entry.file);
    else openModel(entry);
}

RecentFile SessionControl::dropped(const QList<QUrl>& urls) const
{
    RecentFile entry;
    for (const QUrl& url : urls) {
        const QString file = url.toLocalFile();
        if (isData(file)) entry.data.append(file);
        else if (entry.file.isEmpty()) entry.file = file;
    }
    if (entry.file.isEmpty() && m_parts.document.model()) entry.file = m_parts.document.modelPath();
    return entry;
}

void SessionControl::openDropped(RecentFile entry)
{
    if (isSession(entry.file) || !entry.data.isEmpty()) return open(entry);
    entry.data = QStringList{dataBeside(entry.file)};
    entry.data.removeAll(QString());
    if (entry.data.isEmpty()) askForModel(entry);
    else open(entry);
}

void SessionControl::openModel(const RecentFile& entry)
{
    m_opening = {.another = true, .session = {}, .restoring = {}, .view = {}, .breakpoints = {}};
    m_parts.workbench.open(entry.file, entry.data, entry.roles);
}

void SessionControl::openSession(const QString& file)
{
    const auto session = loadSession(file);
    if (session) return restore(*session, file);
    m_notices.sayFailure(tr("Opening the session"), models::text(session.error().message),
                         models::text(session.error().hint));
}

void SessionControl::restore(const Session& session, const QString& sessionFile)
{
    m_opening = {.another = true,
                 .session = sessionFile,
                 .restoring = session,
                 .view = session.view,
                 .breakpoints = session.breakpoints};
    m_parts.workbench.open(session.model, session.data, session.roles);
    m_parts.workbench.restoreSettings(session.settings);
}

void SessionControl::close()
{
    if (!mayClose([this] { close(); })) return;
    m_parts.workbench.close();
    m_parts.selection.clear();
    m_keeper.begin({});
}

void SessionControl::reload()
{
    m_opening.view = m_parts.graph.saveView();
    if (const models::ModelPtr& model = m_parts.document.model())
        m_opening.breakpoints = models::saved(*model, m_parts.document.settings().breakpoints);
    m_parts.workbench.reload();
}

void SessionControl::modelOpened()
{
    const models::Document& document = m_parts.document;
    const Opening opening = std::exchange(m_opening, {});
    for (const QString& topic : {QStringLiteral("open"), QStringLiteral("breakpoints")}) m_parts.banner.dismiss(topic);
    if (!opening.view.isEmpty()) m_parts.graph.restoreView(opening.view);
    if (opening.restoring) {
        m_parts.docks.setPerspective(opening.restoring->perspective);
        const auto& hashes = opening.restoring->hashes;
        if (!hashes.empty() && hashes != document.model()->hashes) sayChanged();
        for (const Session::Run& run : opening.restoring->runs) m_parts.workbench.openReport(run.title, run.report);
    }
    restoreBreakpoints(opening.breakpoints);
    if (opening.another) {
        m_keeper.begin(opening.session);
        const RecentFile model{.file = document.modelPath(), .data = document.data(), .roles = document.roles()};
        remember(opening.session.isEmpty() ? model : onlyFile(opening.session));
    }
    if (document.data().isEmpty() && !m_parts.setup.unattended) sayNoData();
    m_watch.watchDocument();
}

void SessionControl::restoreBreakpoints(const std::vector<models::SavedBreakpoint>& saved)
{
    models::RestoredBreakpoints known = models::restored(*m_parts.document.model(), saved);
    m_lostBreakpoints = known.lost;
    m_stagesUnknown = true;
    if (!known.found.empty()) setBreakpoints(m_parts, known.found);
    if (!m_lostBreakpoints.isEmpty()) sayLost();
}

// Once there is a plan, drops restored breakpoints of stages that it does not have.
void SessionControl::planCame()
{
    const models::Document& document = m_parts.document;
    if (!m_stagesUnknown || !document.plan() || document.searching()) return;
    m_stagesUnknown = false;
    std::vector<models::Breakpoint> all = document.settings().breakpoints;
    const protocol::StageId last(static_cast<int>(document.plan()->stages.size()));
    const auto gone = [&](const models::Breakpoint& each) { return each.place.stageId() > last; };
    for (const models::Breakpoint& each : all)
        if (gone(each)) m_lostBreakpoints.append(models::placeText(*document.model(), each.place));
    if (std::erase_if(all, gone) == 0) return;
    setBreakpoints(m_parts, all);
    sayLost();
}

void SessionControl::sayLost()
{
    m_parts.banner.say(QStringLiteral("breakpoints"),
                       (m_lostBreakpoints.size() == 1
                            ? tr("A breakpoint was removed because its operator or stage no longer exists: %1.")
                            : tr("Breakpoints were removed because their operators or stages no longer exist: %1."))
                           .arg(m_lostBreakpoints.join(QStringLiteral(", "))));
}

void SessionControl::sayChanged()
{
    m_parts.banner.say(QStringLiteral("changed"),
                       tr("The files have changed since this session was saved; pins that no "
                          "longer apply were removed."));
}

void SessionControl::sayNoData()
{
    const auto choose = [this] {
        askForModel({.file = m_parts.document.modelPath(), .data = {}, .roles = m_parts.document.roles()});
    };
    m_parts.banner.say(QStringLiteral("open"),
                       tr("Opened without data: sizes are unknown and the model cannot be run."),
                       {{tr("Choose data…"), choose}});
}

void SessionControl::remember(const RecentFile& entry)
{
    if (m_parts.setup.unattended) return;
    m_parts.setup.settings.recent = withRecent(m_parts.setup.settings.recent, entry);
    emit recentChanged();
}

std::optional<Session> SessionControl::current(bool withView) const
{
    const models::Document& document = m_parts.document;
    if (!document.model()) return std::nullopt;
    Session session;
    session.model = document.modelPath();
    session.data = document.data();
    session.roles = document.roles();
    session.hashes = document.model()->hashes;
    session.settings = document.settings();
    session.breakpoints = models::saved(*document.model(), document.settings().breakpoints);
    session.settings.breakpoints.clear();
    if (withView) session.view = m_parts.graph.saveView();
    session.perspective = m_parts.docks.perspective();
    const auto& runs = document.runs();
    for (std::size_t i = runs.size() - std::min(runs.size(), mostRuns); i < runs.size(); ++i)
        if (withView && runs[i].report) session.runs.push_back({runs[i].title, runs[i].reportText});
    return session;
}

void SessionControl::save(bool askName, const std::function<void()>& then)
{
    if (!askName && !m_keeper.file().isEmpty()) return write(m_keeper.file());
    const QFileInfo model(m_parts.document.modelPath());
    m_dialogs.save(tr("Save the session"), model.completeBaseName() + QStringLiteral(".hopscope"),
                   tr("Sessions (*.hopscope)"), [this, then](const QString& file) {
                       write(file);
                       if (!m_keeper.modified()) then();
                   });
}

void SessionControl::write(const QString& file)
{
    const base::Status written = m_keeper.save(file);
    if (written) remember(onlyFile(file));
    else m_notices.sayFailure(tr("Saving the session"), models::text(written.error().message), {});
    emit saved();
}

bool SessionControl::mayClose(const std::function<void()>& onceSaved)
{
    if (!m_keeper.modified() || m_parts.setup.unattended) return true;
    QMessageBox box(QMessageBox::Question, tr("Hopscope"),
                    tr("Save the changes to %1?").arg(QFileInfo(m_parts.document.modelPath()).fileName()),
                    QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, &m_parts.window);
    box.setObjectName(QStringLiteral("askSave"));
    box.setInformativeText(tr("Cuts, breakpoints, settings and runs are kept in a session file."));
    const int answer = box.exec();
    if (answer == QMessageBox::Save) save(false, onceSaved);
    return answer == QMessageBox::Discard || (answer == QMessageBox::Save && !m_keeper.modified());
}

void SessionControl::recover(const Orphan& orphan)
{
    restore(orphan.session, orphan.session.origin);
    SessionKeeper::discard(orphan);
}

void SessionControl::offerRecovery()
{
    if (const QStringList aside = SessionKeeper::setAside(m_parts.setup.recoveryFolder); !aside.isEmpty())
        m_parts.banner.say(
            QStringLiteral("aside"),
            tr("Unreadable recovery copies were renamed, not deleted: %1").arg(aside.join(QStringLiteral("; "))));
    const QVector<Orphan> orphans = SessionKeeper::orphans(m_parts.setup.recoveryFolder);
    if (orphans.isEmpty()) return;
    const Orphan& newest = orphans.first();
    const auto discardAll = [orphans] {
        for (const Orphan& orphan : orphans) SessionKeeper::discard(orphan);
    };
    m_parts.banner.say(QStringLiteral("recovery"),
                       tr("Hopscope terminated unexpectedly while %1 was open (%2).")
                           .arg(QFileInfo(newest.session.model).fileName(), newest.when),
                       {{tr("Restore"), [this, newest = newest] { recover(newest); }}, {tr("Discard"), discardAll}});
}

}  // namespace hopscope::window
