#include "remote_files.h"

#include <QDialogButtonBox>
#include <QDir>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "dialog_size.h"
#include "models/labels.h"
#include "json/reader.h"

namespace hopscope::window {

namespace {

constexpr int folderRole = Qt::UserRole, nameRole = Qt::UserRole + 1;

QString joined(const QString& folder, const QString& name)
{
    return folder.endsWith(u'/') ? folder + name : folder + u'/' + name;
}

}  // namespace

RemoteFiles::RemoteFiles(jobs::EngineClient& engine, const QString& title, const QString& filter, Wanted wanted,
                         QWidget* parent)
    : QDialog(parent),
      m_engine(engine),
      m_wanted(wanted),
      m_patterns(filter.section(u'(', 1).section(u')', 0, 0).split(u' ', Qt::SkipEmptyParts))
{
    setObjectName(QStringLiteral("remoteFiles"));
    setWindowTitle(tr("%1 (on the engine's machine)").arg(title));
    setupWidgets();
    sizeDialog(*this, {620, 460});
    list({});
}

void RemoteFiles::setupWidgets()
{
    m_path = new QLineEdit(this);
    m_path->setObjectName(QStringLiteral("remotePath"));
    m_path->setAccessibleName(tr("Folder"));
    m_entries = new QTreeWidget(this);
    m_entries->setObjectName(QStringLiteral("remoteEntries"));
    m_entries->setAccessibleName(tr("Files"));
    m_entries->setRootIsDecorated(false);
    m_entries->setHeaderLabels({tr("Name"), tr("Size")});
    m_entries->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_entries->header()->setStretchLastSection(false);
    m_entries->setSelectionMode(m_wanted == Wanted::Files ? QAbstractItemView::ExtendedSelection
                                                          : QAbstractItemView::SingleSelection);
    m_note = new QLabel(this);
    m_note->setObjectName(QStringLiteral("remoteNote"));
    m_note->setProperty("muted", true);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Open | QDialogButtonBox::Cancel, this);
    auto* column = new QVBoxLayout(this);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_path, m_entries, m_note, buttons})
        column->addWidget(widget);
    connect(m_path, &QLineEdit::returnPressed, this, [this] { list(m_path->text()); });
    connect(m_entries, &QTreeWidget::itemActivated, this, &RemoteFiles::activate);
    connect(buttons, &QDialogButtonBox::accepted, this, &RemoteFiles::acceptChoice);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    for (QAbstractButton* button : buttons->buttons()) static_cast<QPushButton*>(button)->setAutoDefault(false);
}

void RemoteFiles::list(const QString& path)
{
    m_note->setText(tr("Waiting for the engine…"));
    m_engine.ask(protocol::ListFolder{path.toStdString()}, this, [this](const base::Result<json::Value>& result) {
        const base::Result<protocol::FolderListing> listing =
            result ? protocol::readAnswer<protocol::FolderListing>(*result) : base::forward(result);
        if (listing) fill(*listing);
        else m_note->setText(models::text(listing.error().message));
    });
}

void RemoteFiles::fill(const protocol::FolderListing& listing)
{
    m_folder = models::text(listing.path);
    m_parent = models::text(listing.parent);
    m_path->setText(m_folder);
    m_entries->clear();
    if (!m_parent.isEmpty() && m_parent != m_folder) {
        auto* up = new QTreeWidgetItem(m_entries, {QStringLiteral(".."), QString()});
        up->setData(0, folderRole, true);
        up->setData(0, nameRole, m_parent);
    }
    for (const protocol::FolderEntry& entry : listing.entries) {
        const QString name = models::text(entry.name);
        const bool folder = entry.directory;
        if (!folder && m_wanted == Wanted::Folder) continue;
        if (!folder && !m_patterns.isEmpty() && !QDir::match(m_patterns, name)) continue;
        const QString size = folder ? QString() : models::formatBytes(static_cast<double>(entry.size));
        auto* item = new QTreeWidgetItem(m_entries, {folder ? name + u'/' : name, size});
        item->setData(0, folderRole, folder);
        item->setData(0, nameRole, joined(m_folder, name));
        item->setTextAlignment(1, Qt::AlignRight | Qt::AlignVCenter);
    }
    m_note->clear();
}

void RemoteFiles::activate()
{
    const QTreeWidgetItem* item = m_entries->currentItem();
    if (!item) return;
    if (item->data(0, folderRole).toBool()) list(item->data(0, nameRole).toString());
    else accept();
}

// The button accepts a folder if one is wanted; activating a folder opens it.
void RemoteFiles::acceptChoice()
{
    if (m_wanted == Wanted::Folder) accept();
    else activate();
}

QStringList RemoteFiles::chosen() const
{
    if (m_wanted == Wanted::Folder) {
        const QTreeWidgetItem* item = m_entries->currentItem();
        return {item && item->isSelected() ? item->data(0, nameRole).toString() : m_folder};
    }
    QStringList files;
    for (const QTreeWidgetItem* item : m_entries->selectedItems())
        if (!item->data(0, folderRole).toBool()) files.append(item->data(0, nameRole).toString());
    return files;
}

}  // namespace hopscope::window
