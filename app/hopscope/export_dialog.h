#pragma once

// Writes the current plan as a folder of code (docs/guides/exporting.md): asks for the folder, lists the files, and
// reports the result. Closing the dialog cancels the request in progress.

#include <QDialog>

#include "file_dialogs.h"

class QLabel;
class QLineEdit;
class QListWidget;
class QPlainTextEdit;
class QPushButton;

namespace hopscope::window {

class ExportDialog : public QDialog {
    Q_OBJECT
public:
    explicit ExportDialog(const WindowParts& parts);
    ~ExportDialog() override;

private:
    void setupWidgets();
    void askPreview();
    void showPreview(const base::Result<protocol::ExportPreview>& answer);
    void showFile(int row);
    void write();
    void written(const base::Result<protocol::ExportRecord>& answer);
    void say(const QString& sentence);

    const WindowParts& m_parts;
    QLineEdit* m_folder = nullptr;
    QListWidget* m_files = nullptr;
    QPlainTextEdit* m_text = nullptr;
    QLabel* m_status = nullptr;
    QPushButton* m_write = nullptr;
    std::int64_t m_request = 0;  // the pending request; 0: none
};

}  // namespace hopscope::window
