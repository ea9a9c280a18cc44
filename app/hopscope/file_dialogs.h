#pragma once

// Dialogs for choosing files, here or where the engine is; they begin in the folder of the last choice.

#include "open_dialog.h"
#include "window_parts.h"

namespace hopscope::window {

class FileDialogs : public QObject {
    Q_OBJECT
public:
    using Chosen = std::function<void(const QString& file)>;

    explicit FileDialogs(const WindowParts& parts) : m_parts(parts) {}

    [[nodiscard]] FileChooser engineFiles();  // models and data are where the engine is
    // `filter`: "Plans (*.json)".
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
