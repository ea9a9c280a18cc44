#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QFileSystemWatcher>
#include <QMessageBox>
#include <QMimeData>
#include <QSaveFile>
#include <QUrl>

#include "main_window.h"
#include "models/labels.h"
#include "remote_files.h"

namespace hopscope::window {

namespace {

bool isSession(const QString& file) { return file.endsWith(u".hopscope"); }

bool isData(const QString& file)
{
    return file.endsWith(u".safetensors") || file.endsWith(u".npy") || QFileInfo(file).isDir();
}

QString writeBytes(const QString& name, const QByteArray& bytes)
{
    QSaveFile file(name);
    const bool written = file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit();
    return written ? QString() : QStringLiteral("%1: %2").arg(name, file.errorString());
}

// Of what was dropped: one model or session, and what goes with it.
RecentFile sorted(const QList<QUrl>& urls)
{
    RecentFile entry;
    for (const QUrl& url : urls) {
        const QString file = url.toLocalFile();
        if (isData(file)) entry.data.append(file);
        else if (entry.file.isEmpty()) entry.file = file;
    }
    return entry;
}

}  // namespace

// Models and data are where the engine is.
FileChooser MainWindow::engineFiles()
{
    if (m_setup.engine.isEmpty()) return {[this](auto&&... what) { chooseLocal(what...); }, true};
    const auto remote = [this](QWidget* parent, const QString& title, const QString& filter, bool many,
                               const std::function<void(const QStringList&)>& chosen) {
        auto* dialog = new RemoteFiles(*m_engine, title, filter, many, parent);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        connect(dialog, &QDialog::accepted, parent, [dialog, chosen] { chosen(dialog->chosen()); });
        dialog->open();
    };
    return {remote, false};
}

void MainWindow::chooseLocal(QWidget* parent, const QString& title, const QString& filter, bool many,
                             const std::function<void(const QStringList&)>& chosen)
{
    auto* dialog = new QFileDialog(parent, title, m_setup.settings.folder, filter + tr(";;All files (*)"));
    dialog->setObjectName(QStringLiteral("fileDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(many ? QFileDialog::ExistingFiles : QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::filesSelected, parent, [this, dialog, chosen](const QStringList& files) {
        m_setup.settings.folder = dialog->directory().path();
        chosen(files);
    });
    dialog->open();
}

void MainWindow::chooseSave(const QString& title, const QString& name, const QString& filter,
                            const std::function<void(const QString&)>& chosen)
{
    auto* dialog = new QFileDialog(this, title, m_setup.settings.folder, filter);
    dialog->setObjectName(QStringLiteral("saveDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(filter.section(QStringLiteral("*."), 1, 1).section(u' ', 0, 0).remove(u')'));
    dialog->selectFile(name);
    connect(dialog, &QFileDialog::fileSelected, this, [this, dialog, chosen](const QString& file) {
        m_setup.settings.folder = dialog->directory().path();
        chosen(file);
    });
    dialog->open();
}

void MainWindow::askForModel(const RecentFile& suggestion)
{
    auto* dialog = new OpenDialog(engineFiles(), suggestion, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] { openFile(dialog->choice()); });
    dialog->open();
}

void MainWindow::askForSession()
{
    chooseLocal(this, tr("Open a session"), tr("Sessions (*.hopscope)"), false, [this](const QStringList& files) {
        openFile({files.value(0), {}, {}});
    });
}

void MainWindow::askForExport(const QString& kind, const QString& filter)
{
    chooseSave(tr("Export"), kind, filter, [this, kind](const QString& file) {
        const QString problem = exportTo({kind, file}, 0);
        if (problem.isEmpty()) m_status->showMessage(tr("Saved to %1").arg(file), 8000);
        else sayFailure(tr("Exporting"), problem, {});
    });
}

QString MainWindow::exportTo(const ExportTarget& target, int width) const
{
    if (!m_document.model()) return tr("no model is open");
    if (target.kind == u"graph") return m_graph->exportPicture(target.file, width);
    if (target.kind == u"plots") return panels::exportPlots(*m_plots, target.file);
    if (target.kind == u"trace") return writeBytes(target.file, panels::exportTrace(m_document));
    if (target.kind == u"report") return writeBytes(target.file, m_document.runs().back().reportText.toUtf8());
    return writeBytes(target.file, panels::exportCsv(m_document, target.kind).toUtf8());
}

void MainWindow::openFile(const RecentFile& entry)
{
    if (!mayClose()) return;
    if (isSession(entry.file)) openSession(entry.file);
    else openModel(entry);
}

void MainWindow::openModel(const RecentFile& entry)
{
    m_restoring.reset();
    m_openingSession.clear();
    m_view.clear();
    m_another = true;
    m_workbench->open(entry.file, entry.data, entry.roles);
}

void MainWindow::closeFile()
{
    if (!mayClose()) return;
    m_workbench->close();
    m_selection.clear();
    m_keeper->begin({});
}

void MainWindow::openSession(const QString& file)
{
    const auto session = loadSession(file);
    if (session) restore(*session, file);
    else
        sayFailure(tr("Opening the session"), models::text(session.error().message),
                   models::text(session.error().hint));
}

void MainWindow::restore(const Session& session, const QString& sessionFile)
{
    m_restoring = session;
    m_openingSession = sessionFile;
    m_view = session.view;
    m_another = true;
    m_workbench->open(session.model, session.data, session.roles);
    m_workbench->restoreSettings(session.settings);
}

void MainWindow::recover(const Orphan& orphan)
{
    restore(orphan.session, orphan.session.origin);
    SessionKeeper::discard(orphan);
}

void MainWindow::modelOpened()
{
    m_selection.clear();
    m_banner->dismiss(QStringLiteral("open"));
    refresh();
    if (!m_view.isEmpty()) m_graph->restoreView(m_view);
    m_view.clear();
    if (m_restoring) {
        m_docks->setPerspective(m_restoring->perspective);
        if (!m_restoring->hashes.empty() && m_restoring->hashes != m_document.model()->hashes)
            m_banner->say(QStringLiteral("changed"),
                          tr("The files have changed since this session was saved; pins that no "
                             "longer apply were removed."));
    }
    if (m_another) m_keeper->begin(m_openingSession);
    if (m_another && m_openingSession.isEmpty())
        remember({m_document.modelPath(), m_document.data(), m_document.roles()});
    else if (m_another) remember({m_openingSession, {}, {}});
    m_another = false;
    if (m_document.data().isEmpty() && !m_setup.unattended) sayNoData();
    m_restoring.reset();
    watchFiles();
}

void MainWindow::sayNoData()
{
    m_banner->say(QStringLiteral("open"), tr("Opened without data: sizes are unknown and the model cannot be run."),
                  {{tr("Choose data…"), [this] {
                        askForModel({m_document.modelPath(), {}, m_document.roles()});
                    }}});
}

void MainWindow::remember(const RecentFile& entry)
{
    if (m_setup.unattended) return;
    m_setup.settings.recent = withRecent(m_setup.settings.recent, entry);
    emit settingsChanged(settings());
}

void MainWindow::watchFiles()
{
    if (!m_watcher->files().isEmpty()) m_watcher->removePaths(m_watcher->files());
    if (!m_setup.engine.isEmpty()) return;
    m_watcher->addPath(m_document.modelPath());
    for (const QString& entry : m_document.data()) m_watcher->addPath(entry.section(u'=', -1));
}

// Programs write files in pieces or replace them: wait for quiet, then read again.
void MainWindow::fileChanged(const QString& file)
{
    if (m_workbench->running()) {
        m_banner->say(QStringLiteral("changed"), tr("%1 has changed on disk.").arg(QFileInfo(file).fileName()),
                      {{tr("Reload"), [this] { m_reload.start(); }}});
        return;
    }
    m_reload.start();
}

std::optional<Session> MainWindow::currentSession(bool withView) const
{
    if (!m_document.model()) return std::nullopt;
    Session session;
    session.model = m_document.modelPath();
    session.data = m_document.data();
    session.roles = m_document.roles();
    session.hashes = m_document.model()->hashes;
    session.settings = m_document.settings();
    if (withView) session.view = m_graph->saveView();
    session.perspective = m_docks->perspective();
    return session;
}

void MainWindow::saveSession(bool askName)
{
    if (!askName && !m_keeper->file().isEmpty()) return writeSession(m_keeper->file());
    const QFileInfo model(m_document.modelPath());
    chooseSave(tr("Save the session"), model.completeBaseName() + QStringLiteral(".hopscope"),
               tr("Sessions (*.hopscope)"), [this](const QString& file) { writeSession(file); });
}

void MainWindow::writeSession(const QString& file)
{
    const base::Status saved = m_keeper->save(file);
    if (saved) remember({file, {}, {}});
    else sayFailure(tr("Saving the session"), models::text(saved.error().message), {});
    refreshActions();
}

// "Save" without a name to save to asks for one first; whatever was wanted is then done by the user again.
bool MainWindow::mayClose()
{
    if (!m_keeper->modified() || m_setup.unattended) return true;
    QMessageBox box(QMessageBox::Question, tr("Hopscope"),
                    tr("Save the changes to %1?").arg(QFileInfo(m_document.modelPath()).fileName()),
                    QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
    box.setObjectName(QStringLiteral("askSave"));
    box.setInformativeText(tr("Your changes of the cuts are saved in a session file."));
    const int answer = box.exec();
    if (answer == QMessageBox::Save) saveSession(false);
    return answer == QMessageBox::Discard || (answer == QMessageBox::Save && !m_keeper->modified());
}

void MainWindow::offerRecovery()
{
    const QVector<Orphan> orphans = SessionKeeper::orphans(m_setup.recoveryFolder);
    if (orphans.isEmpty()) return;
    const Orphan newest = orphans.first();
    m_banner->say(QStringLiteral("recovery"),
                  tr("Hopscope terminated unexpectedly while %1 was open (%2).")
                      .arg(QFileInfo(newest.session.model).fileName(), newest.when),
                  {{tr("Restore"), [this, newest] { recover(newest); }}, {tr("Discard"), [orphans] {
                                                                              for (const Orphan& orphan : orphans)
                                                                                  SessionKeeper::discard(orphan);
                                                                          }}});
}

void MainWindow::sayFailure(const QString& what, const QString& sentence, const QString& hint)
{
    const QString text = hint.isEmpty() ? tr("%1: %2").arg(what, sentence) : tr("%1: %2. %3").arg(what, sentence, hint);
    m_banner->say(QStringLiteral("open"), text);
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    if (!mayClose()) return event->ignore();
    emit settingsChanged(settings());
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    RecentFile entry = sorted(event->mimeData()->urls());
    if (entry.file.isEmpty() && m_document.model()) entry.file = m_document.modelPath();
    if (entry.file.isEmpty())
        return sayFailure(tr("Opening"), tr("drop a model as well: data alone cannot be opened"), {});
    event->acceptProposedAction();
    if (isSession(entry.file) || !entry.data.isEmpty()) return openFile(entry);
    entry.data = QStringList{dataBeside(entry.file)};
    entry.data.removeAll(QString());
    if (entry.data.isEmpty()) askForModel(entry);
    else openFile(entry);
}

}  // namespace hopscope::window
