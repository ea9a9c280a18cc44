#pragma once

// Exports the window's content: the graph, the plots, the animation, tables, the trace and the report of the last run.

#include "command_line.h"
#include "file_dialogs.h"
#include "notices.h"

namespace hopscope::window {

class Exporter : public QObject {
    Q_OBJECT
public:
    Exporter(const WindowParts& parts, FileDialogs& dialogs, Notices& notices);

    // Writes one file, or for an animation one per frame if the format requires it. Returns an empty string, or the reason of a
    // failure. `width`: pixels of a picture, 0: its natural size.
    [[nodiscard]] QString write(const ExportTarget& target, int width) const;
    // Asks for the file first. `kind`: as in ExportTarget, or "animation".
    void ask(const QString& kind, const QString& filter);

private:
    const WindowParts& m_parts;
    FileDialogs& m_dialogs;
    Notices& m_notices;
};

}  // namespace hopscope::window
