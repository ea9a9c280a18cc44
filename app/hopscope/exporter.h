#pragma once

// Exports the contents of the window: the graph, the plots, the animation, tables, the trace and the report of the last
// run.

#include "command_line.h"
#include "file_dialogs.h"
#include "notices.h"

namespace hopscope::window {

class Exporter : public QObject {
    Q_OBJECT
public:
    Exporter(const WindowParts& parts, FileDialogs& dialogs, Notices& notices);

    // Writes one file, or one per frame for an animation if the format requires it. `width` is the width of a picture
    // in pixels; 0 means its natural size. Returns an empty string, or the reason for a failure.
    [[nodiscard]] QString write(const ExportTarget& target, int width) const;
    // Asks for the file first. `kind` is as in ExportTarget, or "animation".
    void ask(const QString& kind, const QString& filter);

private:
    const WindowParts& m_parts;
    FileDialogs& m_dialogs;
    Notices& m_notices;
};

}  // namespace hopscope::window
