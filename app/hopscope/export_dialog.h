#pragma once

// Writes the plan that is shown as a folder of code (docs/guides/exporting.md): says where, shows what will be in it, and what became of
// it. What is under way is cancelled when the dialog is closed.

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
    void showPreview(const base::Result<json::Value>& answer);
    void showFile(int row);
    void write();
    void written(const base::Result<json::Value>& answer);
    void say(const QString& sentence);

    const WindowParts& m_parts;
    QLineEdit* m_folder = nullptr;
    QListWidget* m_files = nullptr;
    QPlainTextEdit* m_text = nullptr;
    QLabel* m_status = nullptr;
    QPushButton* m_write = nullptr;
    std::int64_t m_request = 0;  // under way; 0: none
};

}  // namespace hopscope::window
