#pragma once

// Parses the arguments of `hopscope` into plain data.

#include <QSize>
#include <QStringList>
#include <optional>

#include "base/result.h"
#include "style/theme.h"

namespace hopscope::window {

// A file to export. Its content is "graph", "plots", "ops", "checkpoints", "stages", "batches", "phases" or "trace".
struct ExportTarget {
    QString kind, file;
    bool operator==(const ExportTarget&) const = default;
};

struct CommandLine {
    QString file;  // a model or a session; empty: the start page
    QStringList data, roles;
    QString plan;
    QString engine;  // empty: the program in the same folder
    bool run = false;
    QString screenshot, perspective;
    QVector<ExportTarget> exports;
    std::optional<QSize> size;
    int width = 0;  // pixels of an exported PNG; 0: its natural size
    std::optional<style::Mode> theme;
    bool recover = false;
    bool help = false, version = false;

    // Returns true if files are written and the program exits without user interaction.
    [[nodiscard]] bool unattended() const { return !screenshot.isEmpty() || !exports.isEmpty(); }
};

// Parses the arguments; the first one is the name of the program. Fails with Usage.
base::Result<CommandLine> parseCommandLine(const QStringList& arguments);
QString usage();

// Parses "KIND=FILE" or FILE. The suffix of a FILE decides: svg, pdf and png export a picture of the graph, json the
// run's trace, and csv the table that the file is named after ("stages.csv"), otherwise the operators.
base::Result<ExportTarget> exportTarget(const QString& text);

// Splits a command as a shell would, with blanks, single and double quotes; backslashes are not special.
QStringList splitCommand(const QString& command);

}  // namespace hopscope::window
