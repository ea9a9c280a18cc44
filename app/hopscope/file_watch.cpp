#include "file_watch.h"

#include <QFileInfo>

namespace hopscope::window {

namespace {

constexpr int quietMilliseconds = 500;

}  // namespace

FileWatch::FileWatch(const WindowParts& parts) : m_parts(parts)
{
    m_quiet.setSingleShot(true);
    m_quiet.setInterval(quietMilliseconds);
    connect(&m_quiet, &QTimer::timeout, this, &FileWatch::reloadWanted);
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, this, &FileWatch::fileChanged);
}

void FileWatch::watchDocument()
{
    if (!m_watcher.files().isEmpty()) m_watcher.removePaths(m_watcher.files());
    if (!m_parts.setup.engine.isEmpty()) return;
    m_watcher.addPath(m_parts.document.modelPath());
    for (const QString& entry : m_parts.document.data()) m_watcher.addPath(entry.section(u'=', -1));
}

// Programs write files in pieces or replace them: wait for quiet, then read again.
void FileWatch::fileChanged(const QString& file)
{
    if (!m_parts.workbench.running()) return m_quiet.start();
    m_parts.banner.say(QStringLiteral("changed"), tr("%1 has changed on disk.").arg(QFileInfo(file).fileName()),
                       {{tr("Reload"), [this] { m_quiet.start(); }}});
}

}  // namespace hopscope::window
