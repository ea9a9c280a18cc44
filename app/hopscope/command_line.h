#pragma once

// The arguments of `hopscope`, as plain data.

#include <QSize>
#include <QStringList>
#include <optional>

#include "base/result.h"
#include "style/theme.h"

namespace hopscope::window {

// The content of an exported file: "graph", "plots", "ops", "checkpoints", "stages", "batches", "phases", "trace".
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

    // Writes files and exits without user interaction.
    [[nodiscard]] bool unattended() const { return !screenshot.isEmpty() || !exports.isEmpty(); }
};

// `arguments` with the program's name first. Fails with Usage.
base::Result<CommandLine> parseCommandLine(const QStringList& arguments);
QString usage();

// "KIND=FILE", or FILE: a picture of the graph by svg, pdf and png, the run's trace by json, and for csv the table that the
// file is named for ("stages.csv"), else the operators.
base::Result<ExportTarget> exportTarget(const QString& text);

// A command as one string, split as a shell would: blanks, single and double quotes; backslashes are not special.
QStringList splitCommand(const QString& command);

}  // namespace hopscope::window
