#pragma once

// Manages the open session file, whether it differs from the window, and a recovery copy in case the window is killed.
// The copy is written a few seconds after every change, and the next window restores it.

#include <QLockFile>
#include <QObject>
#include <QThreadPool>
#include <QTimer>
#include <functional>
#include <memory>
#include <optional>

#include "session.h"

namespace hopscope::window {

struct Orphan {
    QString file;  // in the recovery folder
    Session session;
    QString when;  // "14:03", "yesterday 14:03" or a date, for display
};

class SessionKeeper : public QObject {
    Q_OBJECT
public:
    // Returns nullopt while no model is open. The view is requested only when it will be saved.
    using Current = std::function<std::optional<Session>(bool withView)>;

    static constexpr int autosaveDelay = 2000;  // milliseconds after the first change

    // With an empty `recoveryFolder`, no copies are written.
    SessionKeeper(Current current, QString recoveryFolder, QObject* parent);
    ~SessionKeeper() override;  // a window that closes normally leaves no copy

    void begin(const QString& file);  // another document is open: `file` is its session file, or empty
    void touch();                     // something may have changed
    void leaveCopy();  // when the window is terminated: keeps unsaved changes in a copy, which the next window offers
    base::Status save(const QString& file);
    [[nodiscard]] bool modified() const { return m_modified; }
    [[nodiscard]] const QString& file() const { return m_file; }

    // Returns the readable copies of windows that did not close normally, newest first.
    static QVector<Orphan> orphans(const QString& recoveryFolder);
    // Renames copies that cannot be read; returns their new paths, each with the reason.
    static QStringList setAside(const QString& recoveryFolder);
    static void discard(const Orphan& orphan);

signals:
    void modifiedChanged(bool modified);

private:
    void writeCopy();
    void removeCopy();
    void setModified(bool modified);

    Current m_current;
    QString m_folder, m_file, m_copy;
    std::optional<Session> m_saved;
    std::unique_ptr<QLockFile> m_lock;
    QTimer m_timer;
    QThreadPool m_writer;  // one thread: a slow disk does not block the window, and copies stay in order
    bool m_modified = false;
};

}  // namespace hopscope::window
