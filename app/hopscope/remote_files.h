#pragma once

// Chooses files on the engine's machine, through fs/list.

#include <QDialog>
#include <functional>

#include "jobs/engine_client.h"
#include "open_dialog.h"

class QLabel;
class QLineEdit;
class QTreeWidget;

namespace hopscope::window {

class RemoteFiles : public QDialog {
    Q_OBJECT
public:
    // Shows all folders, and files with names that match `filter` ("Models (*.pt *.pth)"); if a folder is wanted, only
    // folders.
    RemoteFiles(jobs::EngineClient& engine, const QString& title, const QString& filter, Wanted wanted,
                QWidget* parent);

    [[nodiscard]] QStringList chosen() const;

private:
    void setupWidgets();
    void list(const QString& path);
    void fill(const protocol::FolderListing& listing);
    void activate();
    void acceptChoice();

    jobs::EngineClient& m_engine;
    Wanted m_wanted;
    QStringList m_patterns;
    QString m_folder, m_parent;
    QLineEdit* m_path = nullptr;
    QTreeWidget* m_entries = nullptr;
    QLabel* m_note = nullptr;
};

}  // namespace hopscope::window
