#pragma once

// A session file, *.hopscope, as plain data: the open files, the settings of plans and runs, and the state of the view;
// see docs/reference/format-session.md. Reading is strict.

#include <QByteArray>
#include <QString>
#include <QStringList>

#include "base/result.h"
#include "models/document.h"

namespace hopscope::window {

struct Session {
    QString model;
    QStringList data, roles;
    std::map<std::string, std::string> hashes;  // as reported by the engine when the session was saved
    models::Settings settings;                  // without breakpoints, which need a model
    std::vector<models::SavedBreakpoint> breakpoints;
    QByteArray view;      // of the graph
    QString perspective;  // "analyse", "run", "compare", "explain"
    QString origin;       // in recovery files: the session file to save to; otherwise empty
    struct Run {
        QString title, report;  // report: report.json
        bool operator==(const Run&) const = default;
    };
    std::vector<Run> runs;  // finished ones, oldest first
    bool operator==(const Session&) const = default;
};

// Writes paths below `folder` relative to it, so that a folder can be moved. With an empty `folder`, paths stay
// unchanged.
QByteArray writeSession(const Session& session, const QString& folder);
// Parses a session; `folder` makes relative paths absolute. Fails with Input and a JSON pointer.
base::Result<Session> readSession(const QByteArray& text, const QString& file, const QString& folder);

base::Result<Session> loadSession(const QString& file);                 // at most 16 MiB
base::Status saveSession(const Session& session, const QString& file);  // atomic

}  // namespace hopscope::window
