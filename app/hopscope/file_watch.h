#pragma once

// Notices when the files that are open change on disk. While a run is under way the user is asked whether to read them again.

#include <QFileSystemWatcher>
#include <QTimer>

#include "window_parts.h"

namespace hopscope::window {

class FileWatch : public QObject {
    Q_OBJECT
public:
    explicit FileWatch(const WindowParts& parts);
    void watchDocument();  // its files instead of those before; nothing if they are not on this machine

signals:
    void reloadWanted();

private:
    void fileChanged(const QString& file);

    const WindowParts& m_parts;
    QFileSystemWatcher m_watcher;
    QTimer m_quiet;
};

}  // namespace hopscope::window
