#pragma once

// Notices when the open files change on disk. During a run, the user is asked whether to read them again.

#include <QFileSystemWatcher>
#include <QTimer>

#include "window_parts.h"

namespace hopscope::window {

class FileWatch : public QObject {
    Q_OBJECT
public:
    explicit FileWatch(const WindowParts& parts);
    void watchDocument();  // watches the document's files only; nothing if they are not on this machine

signals:
    void reloadWanted();

private:
    void fileChanged(const QString& file);

    const WindowParts& m_parts;
    QFileSystemWatcher m_watcher;
    QTimer m_quiet;
};

}  // namespace hopscope::window
