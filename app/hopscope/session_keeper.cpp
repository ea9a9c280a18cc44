#include "session_keeper.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QUuid>

#include "models/labels.h"

namespace hopscope::window {

namespace {

const QString lockSuffix = QStringLiteral(".lock");

// View and finished runs are saved, but changing them does not count as an edit. Neither do the run settings, as
// long as no file contains them.
std::optional<Session> essence(std::optional<Session> session, bool inFile)
{
    if (!session) return session;
    session->view.clear();
    session->perspective.clear();
    session->runs.clear();
    if (inFile) return session;
    session->breakpoints.clear();
    // Only the cuts count.
    models::Settings cuts;
    cuts.strategy = session->settings.strategy;
    cuts.objective = session->settings.objective;
    cuts.stages = session->settings.stages;
    cuts.pins = session->settings.pins;
    session->settings = cuts;
    return session;
}

QString forPeople(const QDateTime& time)
{
    const qint64 days = time.date().daysTo(QDate::currentDate());
    const QString clock = time.time().toString(u"HH:mm");
    if (days == 0) return clock;
    return days == 1 ? SessionKeeper::tr("yesterday %1").arg(clock) : QLocale().toString(time, QLocale::ShortFormat);
}

// Its writer has ended: the lock can be taken.
bool abandoned(const QString& file)
{
    QLockFile lock(file + lockSuffix);
    lock.setStaleLockTime(0);
    return lock.tryLock(0);
}

}  // namespace

SessionKeeper::SessionKeeper(Current current, QString recoveryFolder, QObject* parent)
    : QObject(parent),
      m_current(std::move(current)),
      m_folder(std::move(recoveryFolder))
{
    m_writer.setMaxThreadCount(1);
    m_timer.setSingleShot(true);
    m_timer.setInterval(autosaveDelay);
    connect(&m_timer, &QTimer::timeout, this, &SessionKeeper::writeCopy);
}

SessionKeeper::~SessionKeeper() { removeCopy(); }

void SessionKeeper::begin(const QString& file)
{
    m_file = file;
    m_saved = essence(m_current(false), !m_file.isEmpty());
    setModified(false);
    if (!m_saved) return removeCopy();
    m_timer.start();
}

void SessionKeeper::touch()
{
    setModified(essence(m_current(false), !m_file.isEmpty()) != m_saved);
    if (!m_timer.isActive()) m_timer.start();
}

base::Status SessionKeeper::save(const QString& file)
{
    const std::optional<Session> session = m_current(true);
    if (!session) return {};
    if (auto saved = saveSession(*session, file); !saved) return saved;
    m_file = file;
    m_saved = essence(session, true);
    setModified(false);
    return {};
}

void SessionKeeper::writeCopy()
{
    std::optional<Session> session = m_folder.isEmpty() ? std::nullopt : m_current(true);
    if (!session) return;
    if (m_copy.isEmpty()) {
        QDir().mkpath(m_folder);
        const QString name = QUuid::createUuid().toString(QUuid::WithoutBraces);
        m_copy = QStringLiteral("%1/%2.hopscope").arg(m_folder, name);
        m_lock = std::make_unique<QLockFile>(m_copy + lockSuffix);
        m_lock->setStaleLockTime(0);
        m_lock->tryLock(0);
    }
    session->origin = m_file;
    // A copy that cannot be written (a full disk) is not reported; the next change tries again.
    m_writer.start([session = *session, file = m_copy] {
        const base::Status written = saveSession(session, file);
        Q_UNUSED(written);
    });
}

void SessionKeeper::leaveCopy()
{
    if (!m_modified) return;
    writeCopy();
    m_writer.waitForDone();
    m_lock.reset();
    m_copy.clear();
    m_timer.stop();
}

void SessionKeeper::removeCopy()
{
    m_timer.stop();
    m_writer.waitForDone();
    if (m_copy.isEmpty()) return;
    QFile::remove(m_copy);
    m_lock.reset();
    m_copy.clear();
}

void SessionKeeper::setModified(bool modified)
{
    if (modified == m_modified) return;
    m_modified = modified;
    emit modifiedChanged(modified);
}

QVector<Orphan> SessionKeeper::orphans(const QString& recoveryFolder)
{
    QVector<Orphan> found;
    if (recoveryFolder.isEmpty()) return found;
    const QDir folder(recoveryFolder);
    for (const QFileInfo& info : folder.entryInfoList({QStringLiteral("*.hopscope")}, QDir::Files, QDir::Time)) {
        if (!abandoned(info.filePath())) continue;
        const auto session = loadSession(info.filePath());
        if (session)
            found.append({.file = info.filePath(), .session = *session, .when = forPeople(info.lastModified())});
    }
    return found;
}

QStringList SessionKeeper::setAside(const QString& recoveryFolder)
{
    QStringList found;
    if (recoveryFolder.isEmpty()) return found;
    const QDir folder(recoveryFolder);
    for (const QFileInfo& info : folder.entryInfoList({QStringLiteral("*.hopscope")}, QDir::Files, QDir::Time)) {
        if (!abandoned(info.filePath())) continue;
        const auto session = loadSession(info.filePath());
        const QString aside = info.filePath() + QStringLiteral(".unreadable");
        if (!session && QFile::rename(info.filePath(), aside))
            found.append(QStringLiteral("%1 (%2)").arg(aside, models::text(session.error().message)));
    }
    return found;
}

void SessionKeeper::discard(const Orphan& orphan)
{
    QFile::remove(orphan.file);
    QFile::remove(orphan.file + lockSuffix);
}

}  // namespace hopscope::window
