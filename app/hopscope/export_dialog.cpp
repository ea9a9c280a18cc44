#include "export_dialog.h"

#include <QDialogButtonBox>
#include <QFileInfo>
#include <QFontDatabase>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

#include "dialog_size.h"
#include "export_sentences.h"

namespace hopscope::window {

namespace {

// A folder next to the model: gcn.pt becomes gcn-split.
QString suggestion(const QString& model)
{
    const QFileInfo info(model);
    return info.path() + u'/' + info.completeBaseName() + QStringLiteral("-split");
}

}  // namespace

ExportDialog::ExportDialog(const WindowParts& parts) : QDialog(&parts.window), m_parts(parts)
{
    setObjectName(QStringLiteral("exportDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Export the split"));
    setupWidgets();
    sizeDialog(*this, {860, 560});
    connect(&m_parts.engine, &jobs::EngineClient::progressed, this,
            [this](std::int64_t request, const QString& what, std::int64_t, std::int64_t) {
                if (request == m_request) say(tr("Working: %1…").arg(what));
            });
    askPreview();
}

ExportDialog::~ExportDialog()
{
    if (m_request != 0) m_parts.workbench.queries().cancel(m_request);
}

void ExportDialog::setupWidgets()
{
    m_folder = new QLineEdit(suggestion(m_parts.document.modelPath()), this);
    m_folder->setObjectName(QStringLiteral("exportFolder"));
    m_folder->setAccessibleName(tr("Folder to write"));
    m_files = new QListWidget(this);
    m_files->setObjectName(QStringLiteral("exportFiles"));
    m_files->setAccessibleName(tr("Files of the folder"));
    m_text = new QPlainTextEdit(this);
    m_text->setObjectName(QStringLiteral("exportText"));
    m_text->setAccessibleName(tr("Contents of the file"));
    m_text->setReadOnly(true);
    m_text->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    auto* split = new QSplitter(this);
    split->addWidget(m_files);
    split->addWidget(m_text);
    split->setStretchFactor(1, 1);
    split->setSizes({200, 640});
    m_status = new QLabel(this);
    m_status->setObjectName(QStringLiteral("exportStatus"));
    m_status->setWordWrap(true);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    m_write = buttons->addButton(tr("&Export"), QDialogButtonBox::ActionRole);
    m_write->setObjectName(QStringLiteral("exportWrite"));
    m_write->setProperty("primary", true);
    m_write->setDefault(true);
    auto* form = new QFormLayout;
    form->addRow(tr("&Folder"), m_folder);
    auto* column = new QVBoxLayout(this);
    column->addLayout(form);
    column->addWidget(split, 1);
    column->addWidget(m_status);
    column->addWidget(buttons);
    connect(m_files, &QListWidget::currentRowChanged, this, &ExportDialog::showFile);
    connect(m_write, &QPushButton::clicked, this, &ExportDialog::write);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

void ExportDialog::askPreview()
{
    say(tr("Writes a new folder with code that needs only PyTorch and NumPy. Before that, the split is run and "
           "compared with the model's own forward."));
    m_parts.workbench.queries().exportPreview(
        this, [this](const base::Result<protocol::ExportPreview>& answer) { showPreview(answer); });
}

void ExportDialog::showPreview(const base::Result<protocol::ExportPreview>& answer)
{
    if (!answer) {
        m_write->setEnabled(false);
        return say(failureText(answer.error()));
    }
    int shown = 0;
    for (const protocol::ExportedText& file : answer->files) {
        auto* item = new QListWidgetItem(QString::fromStdString(file.name), m_files);
        item->setData(Qt::UserRole, QString::fromStdString(file.text));
        if (file.name == "stage_1.py") shown = m_files->count() - 1;
    }
    m_files->setCurrentRow(shown);
}

void ExportDialog::showFile(int row)
{
    const QListWidgetItem* item = m_files->item(row);
    if (item == nullptr) return;
    const QString text = item->data(Qt::UserRole).toString();
    m_text->setPlainText(text.isEmpty() ? tr("Available once the split is verified.") : text);
}

void ExportDialog::write()
{
    m_write->setEnabled(false);
    say(tr("Working…"));
    m_request = m_parts.workbench.queries().exportTo(
        m_folder->text().trimmed(), this,
        [this](const base::Result<protocol::ExportRecord>& answer) { written(answer); });
}

void ExportDialog::written(const base::Result<protocol::ExportRecord>& answer)
{
    m_request = 0;
    m_write->setEnabled(true);
    if (!answer) return say(failureText(answer.error()));
    say(tr("Written to %1: %2. Run it with: python %1/run.py --data D -o results")
            .arg(QString::fromStdString(answer->folder), verdictText(answer->verification)));
}

void ExportDialog::say(const QString& sentence) { m_status->setText(sentence); }

}  // namespace hopscope::window
