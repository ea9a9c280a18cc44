#include "file_dialogs.h"

#include <QFileDialog>

#include "remote_files.h"

namespace hopscope::window {

FileChooser FileDialogs::engineFiles()
{
    if (m_parts.setup.engine.isEmpty()) return {[this](auto&&... what) { openLocal(what...); }, true};
    return {[this](auto&&... what) { openRemote(what...); }, false};
}

void FileDialogs::openRemote(QWidget* parent, const QString& title, const QString& filter, Wanted wanted,
                             const std::function<void(const QStringList&)>& chosen)
{
    auto* dialog = new RemoteFiles(m_parts.engine, title, filter, wanted, parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, parent, [dialog, chosen] { chosen(dialog->chosen()); });
    dialog->open();
}

void FileDialogs::openLocal(QWidget* parent, const QString& title, const QString& filter, Wanted wanted,
                            const std::function<void(const QStringList&)>& chosen)
{
    const bool folder = wanted == Wanted::Folder;
    auto* dialog = new QFileDialog(parent, title, m_parts.setup.settings.folder,
                                   folder ? QString() : filter + tr(";;All files (*)"));
    dialog->setObjectName(QStringLiteral("fileDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(folder                    ? QFileDialog::Directory
                        : wanted == Wanted::Files ? QFileDialog::ExistingFiles
                                                  : QFileDialog::ExistingFile);
    dialog->setOption(QFileDialog::ShowDirsOnly, folder);
    connect(dialog, &QFileDialog::filesSelected, parent, [this, dialog, chosen](const QStringList& files) {
        m_parts.setup.settings.folder = dialog->directory().path();
        chosen(files);
    });
    dialog->open();
}

void FileDialogs::open(const QString& title, const QString& filter, const Chosen& chosen)
{
    openLocal(&m_parts.window, title, filter, Wanted::File,
              [chosen](const QStringList& files) { chosen(files.value(0)); });
}

void FileDialogs::save(const QString& title, const QString& name, const QString& filter, const Chosen& chosen)
{
    auto* dialog = new QFileDialog(&m_parts.window, title, m_parts.setup.settings.folder, filter);
    dialog->setObjectName(QStringLiteral("saveDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(filter.section(QStringLiteral("*."), 1, 1).section(u' ', 0, 0).remove(u')'));
    dialog->selectFile(name);
    connect(dialog, &QFileDialog::fileSelected, this, [this, dialog, chosen](const QString& file) {
        m_parts.setup.settings.folder = dialog->directory().path();
        chosen(file);
    });
    dialog->open();
}

}  // namespace hopscope::window
