#include "export_record.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "dialog_size.h"
#include "export_sentences.h"

namespace hopscope::window {

ExportRecordDialog::ExportRecordDialog(const WindowParts& parts, const QString& folder)
    : QDialog(&parts.window),
      m_parts(parts),
      m_folder(folder)
{
    setObjectName(QStringLiteral("exportRecord"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Exported split"));
    m_rows = new QFormLayout;
    m_status = new QLabel(tr("Reading…"), this);
    m_status->setObjectName(QStringLiteral("exportHolds"));
    m_status->setWordWrap(true);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    auto* column = new QVBoxLayout(this);
    column->addLayout(m_rows);
    column->addWidget(m_status);
    column->addStretch();
    column->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    sizeDialog(*this, {620, 320});
    m_parts.workbench.queries().exportRecord(
        m_folder, this, [this](const base::Result<protocol::ExportRecord>& answer) { showRecord(answer); });
}

ExportRecordDialog::~ExportRecordDialog()
{
    if (m_request != 0) m_parts.workbench.queries().cancel(m_request);
}

void ExportRecordDialog::showRecord(const base::Result<protocol::ExportRecord>& answer)
{
    if (!answer) return m_status->setText(failureText(answer.error()));
    for (const auto& [name, text] : rowsOf(*answer)) {
        auto* label = new QLabel(text, this);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        label->setTextFormat(Qt::PlainText);
        label->setWordWrap(true);
        m_rows->addRow(name, label);
    }
    if (m_parts.document.model()) check();
    else m_status->setText(tr("Open its model to check whether it is still valid."));
}

void ExportRecordDialog::check()
{
    m_status->setText(tr("Checking whether it is still valid for the open model and data…"));
    m_request = m_parts.workbench.queries().exportCheck(m_folder, this,
                                                        [this](const base::Result<protocol::ExportVerdict>& answer) {
                                                            m_request = 0;
                                                            m_status->setText(heldText(answer));
                                                        });
}

}  // namespace hopscope::window
