#pragma once

// Shows the record of an exported folder, and says whether it still holds for the files that are open.

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
    std::int64_t m_request = 0;  // under way; 0: none
};

}  // namespace hopscope::window
