#pragma once

// Shows the record of an exported folder, and states whether it is still valid for the open files.

#include <QDialog>

#include "window_parts.h"

class QFormLayout;
class QLabel;

namespace hopscope::window {

class ExportRecordDialog : public QDialog {
    Q_OBJECT
public:
    ExportRecordDialog(const WindowParts& parts, const QString& folder);
    ~ExportRecordDialog() override;

private:
    void showRecord(const base::Result<protocol::ExportRecord>& answer);
    void check();

    const WindowParts& m_parts;
    QString m_folder;
    QFormLayout* m_rows = nullptr;
    QLabel* m_status = nullptr;
    std::int64_t m_request = 0;  // the pending request; 0: none
};

}  // namespace hopscope::window
