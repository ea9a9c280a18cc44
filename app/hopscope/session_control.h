#pragma once

// Opens, saves, reloads and recovers models and session files. SessionKeeper owns the session itself and its copy.

#include <QUrl>

#include "file_dialogs.h"
#include "file_watch.h"
#include "notices.h"
#include "session_keeper.h"

namespace hopscope::window {

class SessionControl : public QObject {
    Q_OBJECT
public:
    SessionControl(const WindowParts& parts, FileDialogs& dialogs, Notices& notices);

    void open(const RecentFile& entry);  // a model, or a session by its suffix; asks first if changes would be lost
    // Returns the files to open for a drop: one model or session, and its data. Data alone belongs to the open model.
    // Has no file if nothing can be opened.
    [[nodiscard]] RecentFile dropped(const QList<QUrl>& urls) const;
    void openDropped(RecentFile entry);  // with the data from its folder, or asks for data
    void close();
    void reload();  // opens the same files again, keeping cuts and view
    // Saves the session. `then` is called only if the user was asked for a name, once the session is saved under it.
    void save(
        bool askName, const std::function<void()>& then = [] {});
    void askForModel(const RecentFile& suggestion);
    void askForSession();
    void offerRecovery();
    void recover(const Orphan& orphan);
    // Returns false if the user keeps the open model, or if "Save" still needs a file name; `onceSaved` is called once
    // that is saved.
    [[nodiscard]] bool mayClose(const std::function<void()>& onceSaved);
    void modelOpened();  // call when the window already shows the model
    [[nodiscard]] SessionKeeper& keeper() { return m_keeper; }

signals:
    void saved();
    void recentChanged();

private:
    // A model or session that is being opened.
    struct Opening {
        bool another = false;              // a different model, not the same one again
        QString session;                   // its file; empty: a model
        std::optional<Session> restoring;  // the content of the file
        QByteArray view;                   // of the graph
        std::vector<models::SavedBreakpoint> breakpoints;
    };

    void openModel(const RecentFile& entry);
    void openSession(const QString& file);
    void restore(const Session& session, const QString& sessionFile);
    void write(const QString& file);
    void remember(const RecentFile& entry);
    void sayNoData();
    void sayChanged();
    void restoreBreakpoints(const std::vector<models::SavedBreakpoint>& saved);
    void planCame();
    void sayLost();  // names the breakpoints that no longer have a place
    [[nodiscard]] std::optional<Session> current(bool withView) const;

    const WindowParts& m_parts;
    FileDialogs& m_dialogs;
    Notices& m_notices;
    SessionKeeper m_keeper;
    FileWatch m_watch;
    Opening m_opening;
    QStringList m_lostBreakpoints;
    bool m_stagesUnknown = false;  // breakpoints were restored before the stages were known
};

}  // namespace hopscope::window
