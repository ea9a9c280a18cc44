#pragma once

// The window: makes the parts and connects them. What they do is theirs.

#include <QMainWindow>
#include <memory>

#include "actions.h"
#include "banner.h"
#include "command_line.h"
#include "docks.h"
#include "graphview/view/graph_panel.h"
#include "jobs/engine_client.h"
#include "jobs/workbench.h"
#include "models/document.h"
#include "models/selection.h"
#include "open_dialog.h"
#include "panels/panels.h"
#include "samples.h"
#include "session_keeper.h"
#include "settings.h"
#include "start_page.h"
#include "status_line.h"

class QActionGroup;
class QFileSystemWatcher;
class QStackedWidget;

namespace hopscope::window {

// Everything that the window is told from outside.
struct WindowSetup {
    WindowSettings settings;
    QString engine;             // the command as the user gave it; empty: the local one
    QStringList engineCommand;  // what is started
    QStringList layoutCommand;
    QString samples;          // folder; may be empty
    QString recoveryFolder;   // empty: no autosave
    bool unattended = false;  // nobody is there to answer questions
};

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    explicit MainWindow(WindowSetup setup, QWidget* parent = nullptr);
    ~MainWindow() override;

    void start();                            // the engine, and the offer to recover what was lost
    void openFile(const RecentFile& entry);  // a model, or a session by its suffix
    void closeFile();                        // asks first where something would be lost
    void recover(const Orphan& orphan);
    void setThemeMode(style::Mode mode);
    // Writes one file; an empty string, or why not. `width`: pixels of a picture, 0: its natural size.
    QString exportTo(const ExportTarget& target, int width) const;

    [[nodiscard]] WindowSettings settings() const;  // as they are now
    [[nodiscard]] const style::Theme& theme() const { return m_theme; }
    [[nodiscard]] models::Document& document() { return m_document; }
    [[nodiscard]] models::Selection& selection() { return m_selection; }
    [[nodiscard]] jobs::EngineClient& engine() { return *m_engine; }
    [[nodiscard]] jobs::Workbench& workbench() { return *m_workbench; }
    [[nodiscard]] graphview::GraphPanel& graph() { return *m_graph; }
    [[nodiscard]] Docks& docks() { return *m_docks; }
    [[nodiscard]] const ActionBook& actionBook() const { return *m_actions; }
    [[nodiscard]] const Banner& banner() const { return *m_banner; }
    [[nodiscard]] SessionKeeper& keeper() { return *m_keeper; }
    [[nodiscard]] const QString& recoveryFolder() const { return m_setup.recoveryFolder; }

signals:
    void settingsChanged(const hopscope::window::WindowSettings& settings);  // worth saving

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    // main_window.cpp
    void setupCentre();
    void setupDocks();
    [[nodiscard]] panels::Context panelContext();
    void setupPerspectives();
    void setupKeeper();
    void connectWorkbench();
    void connectGraph();
    void connectDocument();
    void connectStartPage();
    void refresh();
    [[nodiscard]] QVector<BannerButton> suggestedFixes();
    void refreshActions();
    void applyTheme();
    [[nodiscard]] bool met(Needs needs) const;

    // main_window_actions.cpp
    void setupActions();
    void addFileActions();
    void addEditActions();
    void addViewActions();
    void addPlanActions();
    void addRunActions();
    void addHelpActions();
    void addThemeActions();
    void addPerspectiveActions();
    void applyIcons();
    void setupMenus();
    void fillMenu(const QString& group, const QString& title);
    void addRecentMenu(QMenu* menu);
    void showPalette();
    void showKeys();
    void showAbout();
    void focusNextPanel(int step);

    // main_window_files.cpp
    void askForModel(const RecentFile& suggestion);
    void askForSession();
    void askForExport(const QString& kind, const QString& filter);
    void saveSession(bool askName);
    void writeSession(const QString& file);
    void openSession(const QString& file);
    void openModel(const RecentFile& entry);
    void restore(const Session& session, const QString& sessionFile);
    void modelOpened();
    void remember(const RecentFile& entry);
    void watchFiles();
    void fileChanged(const QString& file);
    void offerRecovery();
    void sayNoData();
    void sayFailure(const QString& what, const QString& sentence, const QString& hint);
    bool mayClose();
    [[nodiscard]] std::optional<Session> currentSession(bool withView) const;
    [[nodiscard]] FileChooser engineFiles();
    void chooseLocal(QWidget* parent, const QString& title, const QString& filter, bool many,
                     const std::function<void(const QStringList&)>& chosen);
    void chooseSave(const QString& title, const QString& name, const QString& filter,
                    const std::function<void(const QString&)>& chosen);

    WindowSetup m_setup;
    style::Theme m_theme;
    models::Document m_document;
    models::Selection m_selection;
    std::unique_ptr<jobs::EngineClient> m_engine;
    std::unique_ptr<jobs::Workbench> m_workbench;
    ActionBook* m_actions = nullptr;
    Banner* m_banner = nullptr;
    QStackedWidget* m_centre = nullptr;
    StartPage* m_start = nullptr;
    graphview::GraphPanel* m_graph = nullptr;
    QVector<panels::Panel*> m_panels;
    QWidget* m_plots = nullptr;
    Docks* m_docks = nullptr;
    StatusLine* m_status = nullptr;
    SessionKeeper* m_keeper = nullptr;
    QFileSystemWatcher* m_watcher = nullptr;
    QActionGroup* m_perspectives = nullptr;
    QTimer m_refresh, m_reload;
    std::optional<Session> m_restoring;  // what is being opened belongs to this session
    QString m_openingSession;            // its file; empty: none
    bool m_another = false;              // something else is being opened, not the same again
    QByteArray m_view;                   // of the graph, for when the model is there
};

}  // namespace hopscope::window
