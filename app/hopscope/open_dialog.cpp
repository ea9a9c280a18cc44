#include "open_dialog.h"

#include <QDialogButtonBox>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>

#include "dialog_size.h"
#include "graph/formats.h"
#include "samples.h"

namespace hopscope::window {

namespace {

QPushButton* button(const QString& text, const char* name, QWidget* parent)
{
    auto* result = new QPushButton(text, parent);
    result->setObjectName(QLatin1String(name));
    result->setAccessibleName(QString(text).remove(u'&').remove(u'…'));
    result->setAutoDefault(false);
    return result;
}

}  // namespace

QString modelFilter() { return OpenDialog::tr("Models (*.pt *.pt2 *.pth *.ts *.jit)"); }

QString adviceFor(const RecentFile& choice, bool local)
{
    if (choice.file.isEmpty())
        return OpenDialog::tr("Choose a model first: a file written by torch.jit.save or torch.export.save.");
    if (local && !QFileInfo(choice.file).isFile()) return OpenDialog::tr("File not found: %1").arg(choice.file);
    for (const QString& entry : choice.data) {
        const QString file = entry.section(u'=', -1);
        if (local && !QFileInfo::exists(file)) return OpenDialog::tr("File not found: %1").arg(file);
    }
    if (choice.data.isEmpty())
        return OpenDialog::tr("Without data the model can be inspected and cut, but sizes are unknown and it cannot be "
                              "run. The data are the arguments of forward by name (x, edge_index, …): %1.")
            .arg(QString::fromStdString(graph::dataForms()));
    return OpenDialog::tr("Ready.");
}

OpenDialog::OpenDialog(FileChooser chooser, const RecentFile& choice, QWidget* parent)
    : QDialog(parent),
      m_chooser(std::move(chooser))
{
    setObjectName(QStringLiteral("openDialog"));
    setWindowTitle(choice.file.isEmpty() ? tr("Open a model") : tr("Open %1").arg(QFileInfo(choice.file).fileName()));
    setupWidgets(choice);
    sizeDialog(*this, {640, 380});
    update();
}

void OpenDialog::setupWidgets(const RecentFile& choice)
{
    m_model = new QLineEdit(choice.file, this);
    m_model->setObjectName(QStringLiteral("openModel"));
    m_model->setAccessibleName(tr("Model file"));
    m_model->setPlaceholderText(tr("model.pt"));
    auto* browse = button(tr("&Browse…"), "openBrowse", this);
    auto* modelRow = new QHBoxLayout;
    modelRow->addWidget(m_model, 1);
    modelRow->addWidget(browse);
    m_data = new QListWidget(this);
    m_data->setObjectName(QStringLiteral("openData"));
    m_data->setAccessibleName(tr("Data files"));
    m_data->addItems(choice.data);
    m_roles = new QLineEdit(choice.roles.join(u' '), this);
    m_roles->setObjectName(QStringLiteral("openRoles"));
    m_roles->setAccessibleName(tr("Roles of arguments"));
    m_roles->setPlaceholderText(tr("only if they are not inferred correctly, e.g. x=node:user"));
    m_advice = new QLabel(this);
    m_advice->setObjectName(QStringLiteral("openAdvice"));
    m_advice->setWordWrap(true);
    m_advice->setProperty("muted", true);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_open = buttons->addButton(tr("&Open"), QDialogButtonBox::AcceptRole);
    m_open->setObjectName(QStringLiteral("openAccept"));
    m_open->setProperty("primary", true);
    m_open->setDefault(true);
    auto* form = new QFormLayout(this);
    auto* modelLabel = new QLabel(tr("&Model"), this);
    modelLabel->setBuddy(m_model);  // the form takes only single widgets for buddies
    form->addRow(modelLabel, modelRow);
    form->addRow(tr("&Data"), m_data);
    form->addRow(QString(), dataButtons());
    form->addRow(tr("&Roles"), m_roles);
    form->addRow(m_advice);
    form->addRow(buttons);
    connect(browse, &QPushButton::clicked, this, &OpenDialog::chooseModel);
    connect(m_model, &QLineEdit::textChanged, this, &OpenDialog::update);
    connect(m_model, &QLineEdit::editingFinished, this, &OpenDialog::suggestData);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

QWidget* OpenDialog::dataButtons()
{
    auto* box = new QWidget(this);
    auto* row = new QHBoxLayout(box);
    row->setContentsMargins(0, 0, 0, 0);
    auto* add = button(tr("&Add files…"), "openAddData", box);
    auto* addFolder = button(tr("Add a &folder…"), "openAddFolder", box);
    auto* remove = button(tr("Re&move"), "openRemoveData", box);
    connect(add, &QPushButton::clicked, this, [this] {
        addData(tr("Choose data"), tr("Data (%1)").arg(QString::fromStdString(graph::listSuffixes({}, " ", "*."))),
                Wanted::Files);
    });
    connect(addFolder, &QPushButton::clicked, this, [this] {
        addData(tr("Choose a folder of %1 files").arg(QString::fromStdString(graph::listSuffixes(graph::Holds::Array))),
                {}, Wanted::Folder);
    });
    connect(remove, &QPushButton::clicked, this, [this] {
        qDeleteAll(m_data->selectedItems());
        update();
    });
    row->addWidget(add);
    row->addWidget(addFolder);
    row->addWidget(remove);
    row->addStretch();
    if (!m_model->text().isEmpty()) add->setFocus();  // the model is already chosen
    return box;
}

void OpenDialog::chooseModel()
{
    m_chooser.choose(this, tr("Choose a model"), modelFilter(), Wanted::File, [this](const QStringList& chosen) {
        if (chosen.isEmpty()) return;
        m_model->setText(chosen.first());
        suggestData();
    });
}

void OpenDialog::addData(const QString& title, const QString& filter, Wanted wanted)
{
    m_chooser.choose(this, title, filter, wanted, [this](const QStringList& chosen) {
        for (const QString& file : chosen) {
            const QFileInfo info(file);
            // A file with one array is named after the argument unless the user says otherwise.
            const graph::Format* const format = graph::formatNamed(file.toStdString());
            const QString entry = format && format->holds == graph::Holds::Array
                                      ? QStringLiteral("%1=%2").arg(info.completeBaseName(), file)
                                      : file;
            if (m_data->findItems(entry, Qt::MatchExactly).isEmpty()) m_data->addItem(entry);
        }
        update();
    });
}

void OpenDialog::suggestData()
{
    if (m_data->count() > 0 || !m_chooser.local || m_model->text().isEmpty()) return;
    const QString beside = dataBeside(m_model->text());
    if (!beside.isEmpty()) m_data->addItem(beside);
    update();
}

void OpenDialog::update()
{
    const RecentFile now = choice();
    m_advice->setText(adviceFor(now, m_chooser.local));
    m_open->setEnabled(!now.file.isEmpty());
}

RecentFile OpenDialog::choice() const
{
    RecentFile result{
        .file = m_model->text().trimmed(), .data = {}, .roles = m_roles->text().split(u' ', Qt::SkipEmptyParts)};
    for (int i = 0; i < m_data->count(); ++i) result.data.append(m_data->item(i)->text());
    return result;
}

}  // namespace hopscope::window
