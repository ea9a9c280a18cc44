#pragma once

// The window: creates its parts and the controllers, and connects them. Their behaviour is implemented in the parts
// themselves.

#include <QTimer>
#include <memory>

#include "refusal_card.h"
#include "samples.h"
#include "start_page.h"
#include "tour.h"
#include "window_actions.h"
#include "window_parts.h"

class QStackedWidget;

namespace hopscope::panels {
class Panel;
}

namespace hopscope::window {

// Returns the rectangle of a window, moved and shrunk to fit into the room.
QRect fittedTo(QRect window, const QRect& room);

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    explicit MainWindow(WindowSetup setup, QWidget* parent = nullptr);
    ~MainWindow() override;

    void start();  // starts the engine, and offers to recover lost changes
    // SessionControl and Exporter document these functions.
    void openFile(const RecentFile& entry) { m_sessions->open(entry); }
    void closeFile() { m_sessions->close(); }
    void recover(const Orphan& orphan) { m_sessions->recover(orphan); }
    [[nodiscard]] QString exportTo(const ExportTarget& target, int width) const
    {
        return m_exporter->write(target, width);
    }
    void setThemeMode(style::Mode mode);

    [[nodiscard]] WindowSettings settings() const;  // the current ones
    [[nodiscard]] const style::Theme& theme() const { return m_theme; }
    [[nodiscard]] models::Document& document() { return m_document; }
    [[nodiscard]] models::Selection& selection() { return m_selection; }
    [[nodiscard]] jobs::EngineClient& engine() { return *m_engine; }
    [[nodiscard]] jobs::Workbench& workbench() { return *m_workbench; }
    [[nodiscard]] graphview::GraphPanel& graph() { return *m_graph; }
    [[nodiscard]] Docks& docks() { return *m_docks; }
    [[nodiscard]] const ActionBook& actionBook() const { return m_actions->book(); }
    [[nodiscard]] const Banner& banner() const { return *m_banner; }
    [[nodiscard]] SessionKeeper& keeper() { return m_sessions->keeper(); }
    [[nodiscard]] Tour& tour() { return *m_tour; }
    [[nodiscard]] Help& help() { return *m_help; }
    [[nodiscard]] const QString& recoveryFolder() const { return m_setup.recoveryFolder; }

signals:
    void settingsChanged(const hopscope::window::WindowSettings& settings);  // to be saved

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void setupCentre();
    void setupDocks();
    void setupTools();
    void setupPerspectives();
    void connectWorkbench();
    void connectGraph();
    void connectDocument();
    void connectStartPage();
    void connectTools();
    void refresh();
    void refreshLater();
    void showRefusedOperator();
    void applyTheme();
    void keepOnScreen();

    WindowSetup m_setup;
    style::Theme m_theme;
    models::Document m_document;
    models::Selection m_selection;
    std::unique_ptr<jobs::EngineClient> m_engine;
    std::unique_ptr<jobs::Workbench> m_workbench;
    Banner* m_banner = nullptr;
    RefusalCard* m_refusal = nullptr;
    QStackedWidget* m_centre = nullptr;
    StartPage* m_start = nullptr;
    study::LessonPane* m_lesson = nullptr;
    graphview::GraphPanel* m_graph = nullptr;
    QVector<panels::Panel*> m_panels;
    QWidget* m_plots = nullptr;
    Docks* m_docks = nullptr;
    StatusLine* m_status = nullptr;
    Help* m_help = nullptr;
    QTimer m_refresh;
    // These are created after all of the above; each may use those before it.
    std::unique_ptr<const WindowParts> m_parts;
    std::unique_ptr<FileDialogs> m_dialogs;
    std::unique_ptr<Notices> m_notices;
    std::unique_ptr<Exporter> m_exporter;
    std::unique_ptr<SessionControl> m_sessions;
    std::unique_ptr<WindowActions> m_actions;
    std::unique_ptr<Tour> m_tour;
};

}  // namespace hopscope::window
