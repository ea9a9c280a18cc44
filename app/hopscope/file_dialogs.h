#pragma once

// Shows dialogs for choosing files on this machine or on the engine's. They open in the folder of the last choice.

#include "open_dialog.h"
#include "window_parts.h"

namespace hopscope::window {

class FileDialogs : public QObject {
    Q_OBJECT
public:
    using Chosen = std::function<void(const QString& file)>;

    explicit FileDialogs(const WindowParts& parts) : m_parts(parts) {}

    [[nodiscard]] FileChooser engineFiles();  // for models and data, which are on the engine's machine
    // `filter` has the form "Plans (*.json)".
    void open(const QString& title, const QString& filter, const Chosen& chosen);
    void save(const QString& title, const QString& name, const QString& filter, const Chosen& chosen);

private:
    void openLocal(QWidget* parent, const QString& title, const QString& filter, Wanted wanted,
                   const std::function<void(const QStringList&)>& chosen);
    void openRemote(QWidget* parent, const QString& title, const QString& filter, Wanted wanted,
                    const std::function<void(const QStringList&)>& chosen);

    const WindowParts& m_parts;
};

}  // namespace hopscope::window
