#pragma once

// A session file, *.hopscope: the open files, the settings of plans and runs, and the state of the view; see
// docs/reference/format-session.md. Plain data; reading is strict.

#include <QByteArray>
#include <QString>
#include <QStringList>

#include "base/result.h"
#include "models/document.h"

namespace hopscope::window {

struct Session {
    QString model;
    QStringList data, roles;
    std::map<std::string, std::string> hashes;  // as the engine gave them when the session was saved
    models::Settings settings;                  // without breakpoints, which need a model
    std::vector<models::SavedBreakpoint> breakpoints;
    QByteArray view;      // of the graph
    QString perspective;  // "analyse", "run", "compare", "explain"
    QString origin;       // recovery files: the session file that it will be saved to; else empty
    struct Run {
        QString title, report;  // report: report.json
        bool operator==(const Run&) const = default;
    };
    std::vector<Run> runs;  // finished ones, the oldest first
    bool operator==(const Session&) const = default;
};

// Paths below `folder` are written relative to it, so that a folder can be moved; `folder` empty: as they are.
QByteArray writeSession(const Session& session, const QString& folder);
// Fails with Input and a JSON pointer. Relative paths become absolute by `folder`.
base::Result<Session> readSession(const QByteArray& text, const QString& file, const QString& folder);

base::Result<Session> loadSession(const QString& file);                 // at most 16 MiB
base::Status saveSession(const Session& session, const QString& file);  // whole or not at all

}  // namespace hopscope::window
